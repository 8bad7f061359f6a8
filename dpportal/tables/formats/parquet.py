"""Parquet files."""

from __future__ import annotations

from os import SEEK_END
from typing import TYPE_CHECKING, BinaryIO

from dpportal.platform.sealed_files import FilePath
from dpportal.tables.formats.reader import Reading
from dpportal.tables.formats.typed_columns import TypedColumns

if TYPE_CHECKING:
    from dpportal.tables.formats.arrow_table import Batches

# As Thrift writes the first field, a number, of the header of each page.
PAGE = b"\x15"


class Parquet(TypedColumns):
    """Columns of typed values, packed, with a footer that says where they lie."""

    name = "parquet"
    titles = ("Parquet",)
    endings = (".parquet",)
    beginning = closing = b"PAR1"

    def recognises(self, head: bytes, source: FilePath) -> bool:
        """Whether it also ends so, or is cut short behind a page's first byte: a text may begin with these letters."""
        if not super().recognises(head, source):
            return False
        with source.open("rb") as file:
            file.seek(-len(self.beginning), SEEK_END)
            return head.startswith(self.beginning + PAGE) or file.read() == self.beginning

    def batches(self, file: BinaryIO, reading: Reading) -> Batches:
        from dpportal.tables.formats.parquet_table import open_parquet

        return open_parquet(file, reading)
