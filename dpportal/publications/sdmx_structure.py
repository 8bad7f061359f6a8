"""The structure of a table of observations beside it, as an SDMX-JSON message."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path

from dpportal.publications.archive import BundleFile, write_json
from mechanisms.tabular.sdmx_structure import Structure, message


def structure_file(structure: Structure, path: Path, prepared: datetime) -> BundleFile:
    """Write the message. prepared: a time that does not change where the same is written again."""
    return write_json(path, _about_file(path), dict(message(structure, prepared.isoformat())))


def _about_file(path: Path) -> str:
    table = path.name.removesuffix(".json") + ".csv"
    return f"What the columns and codes of {table} are, for statistical offices (SDMX-JSON)"
