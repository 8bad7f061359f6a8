"""Reports as files by themselves, which need neither network nor programs: the curator's, and everyone's."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from django.contrib.staticfiles import finders

from dpportal.charts.still import still_map

STYLES = "css/portal.css"


def context(comparison: Mapping[str, Any]) -> dict[str, Any]:
    """For the curator: the portal's own styles to write into the file, and the maps as drawings that stand still."""
    return {"styles": _styles(), "maps": [_still(figure) for figure in comparison["figures"].values()]}


def public_context(shown: Mapping[str, Any]) -> dict[str, Any]:
    """For everyone, from what the public page shows."""
    return {"styles": _styles(), "shown": shown, "map": _still(shown["figure"])}


def _styles() -> str:
    styles = finders.find(STYLES)
    assert isinstance(styles, str)
    return Path(styles).read_text()


def _still(figure: Mapping[str, Any]) -> dict[str, Any]:
    return {"title": figure["title"], "caption": figure["caption"], **still_map(figure["json"])}
