"""What a format is: how a file of it is recognised and read."""

from __future__ import annotations

import struct
from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import ClassVar

from dpportal.platform.sealed_files import FilePath, size_of
from dpportal.tables.facts import FileLook, TableFacts
from dpportal.tables.formats.progress import Report
from dpportal.tables.meaning.parse_options import Limits, ReadOptions


@dataclass(frozen=True)
class Reading:
    """A file that is to become a stored table.

    target: of the stored table, with room for scratch files beside it. file_name: as the curator's. key: of the sketch.
    further_columns, further_format: of the table that this is a further file of, 0 for an upload.
    """

    source: FilePath
    target: FilePath
    file_name: str
    options: ReadOptions
    limits: Limits
    report: Report
    key: bytes | None = None
    further_columns: int = 0
    further_format: str = ""

    @property
    def is_further(self) -> bool:
        """Whether this is a further file, in which a row that cannot be read decides on no other."""
        return bool(self.further_columns)

    @property
    def most_text_bytes(self) -> int:
        """Bytes of text to which a packed file of this size may unfold."""
        return self.limits.unfolded_from(size_of(self.source))


class Format(ABC):
    """A format of uploads. Its reader is loaded when a file is read, so that the portal starts without it."""

    # As it is stored with a dataset, and as people call it.
    name: ClassVar[str]
    titles: ClassVar[tuple[str, ...]]
    # Of files' names, the usual one first.
    endings: ClassVar[tuple[str, ...]]
    # Bytes with which every file of the format begins; none where nothing tells.
    beginning: ClassVar[bytes] = b""
    # Bytes with which every file ends, behind four that say how long the description of its table before them is.
    closing: ClassVar[bytes] = b""
    # Whether a file can hold several tables, of which one has to be chosen.
    has_sheets: ClassVar[bool] = False
    # Whether other lines can stand around a table: titles, several lines of names, notes.
    has_lines: ClassVar[bool] = False
    # Whether a row without any value is no row.
    skips_empty_rows: ClassVar[bool] = False
    # Whether a value of a further file can hold line ends.
    holds_line_ends: ClassVar[bool] = True

    def recognises(self, head: bytes, source: FilePath) -> bool:
        """Whether a file is of this format. Raises UploadFault if it is, and is damaged.

        head: its first bytes, 16 of them or all that there are.
        """
        return bool(self.beginning) and head.startswith(self.beginning)

    def fills(self, head: bytes, tail: bytes, size: int) -> bool:
        """Whether a file is of this format from its first byte to its last, which no row of a text can make it.

        head, tail: its first and last bytes. size: how many there are.
        """
        begin, end = self.beginning, self.closing
        if not (end and head.startswith(begin) and tail.endswith(end) and size > len(begin + end) + 4):
            return False
        # Four letters of a text would be far too long.
        (length,) = struct.unpack("<i", tail[-len(end) - 4 : -len(end)])
        return bool(0 < length < size)

    def look(self, reading: Reading) -> FileLook:
        """The lines with which a file begins and ends, for its curator; of a format without lines none.

        Raises as `read`.
        """
        del reading
        return FileLook()

    @abstractmethod
    def read(self, reading: Reading) -> TableFacts:
        """Store the table of a file; without rows, the facts say 0.

        Raises UploadFault, or whatever a library raises when memory or disk ends.
        """
