"""The curator's quality report as a file by itself, which needs neither network nor programs."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from django.contrib.staticfiles import finders

from dpportal.charts.still import still_map

STYLES = "css/portal.css"


def context(comparison: Mapping[str, Any]) -> dict[str, Any]:
    """The portal's own styles to write into the file, and the maps as drawings that stand still."""
    styles = finders.find(STYLES)
    assert isinstance(styles, str)
    return {
        "styles": Path(styles).read_text(),
        "maps": [
            {"title": figure["title"], "caption": figure["caption"], **still_map(figure["json"])}
            for figure in comparison["figures"].values()
        ],
    }
