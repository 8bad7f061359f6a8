"""What formats of typed columns share: the way of their batches into a stored table."""

from __future__ import annotations

from abc import abstractmethod
from typing import TYPE_CHECKING, BinaryIO

from dpportal.tables.facts import TableFacts
from dpportal.tables.formats.reader import Format, Reading

if TYPE_CHECKING:
    from dpportal.tables.formats.arrow_table import Batches


class TypedColumns(Format):
    """A format of typed columns. What a value means is the same in all of them."""

    @abstractmethod
    def batches(self, file: BinaryIO, reading: Reading) -> Batches:
        """The columns of a file, and its rows a batch at a time. May raise whatever Arrow raises for a damaged file.

        file: is open as long as the batches are read.
        """

    def read(self, reading: Reading) -> TableFacts:
        """Store the flat columns. Raises UploadFault as `convert_batches`."""
        from dpportal.tables.formats.arrow_table import convert_batches

        with reading.source.open("rb") as file:
            return convert_batches(self, reading, lambda: self.batches(file, reading))
