"""Feather files of the second version, which are Arrow IPC files."""

from __future__ import annotations

from dpportal.tables.facts import TableFacts
from dpportal.tables.formats.reader import Format, Reading


class Feather(Format):
    """Batches of typed columns as they lie in memory, perhaps compressed; their values mean what Parquet's mean."""

    name = "feather"
    titles = ("Feather",)
    endings = (".feather", ".arrow")
    beginning = b"ARROW1\0\0"

    def read(self, reading: Reading) -> TableFacts:
        from dpportal.tables.formats.feather_table import convert_feather

        return convert_feather(self, reading)
