"""Feather files of the second version, which are Arrow IPC files."""

from __future__ import annotations

from typing import TYPE_CHECKING, BinaryIO

from dpportal.tables.formats.reader import Reading
from dpportal.tables.formats.typed_columns import TypedColumns

if TYPE_CHECKING:
    from dpportal.tables.formats.arrow_table import Batches


class Feather(TypedColumns):
    """Batches of typed columns as they lie in memory, perhaps compressed; their values mean what Parquet's mean."""

    name = "feather"
    titles = ("Feather",)
    endings = (".feather", ".arrow")
    beginning = b"ARROW1\0\0"
    closing = b"ARROW1"

    def batches(self, file: BinaryIO, reading: Reading) -> Batches:
        from dpportal.tables.formats.feather_table import open_feather

        return open_feather(file, reading)
