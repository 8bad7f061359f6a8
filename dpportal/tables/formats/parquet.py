"""Parquet files."""

from __future__ import annotations

from dpportal.tables.facts import TableFacts
from dpportal.tables.formats.reader import Format, Reading


class Parquet(Format):
    """Columns of typed values, packed, with a footer that says where they lie."""

    name = "parquet"
    titles = ("Parquet",)
    endings = (".parquet",)
    beginning = b"PAR1"

    def read(self, reading: Reading) -> TableFacts:
        from dpportal.tables.formats.parquet_table import convert_parquet

        return convert_parquet(self, reading)
