"""The line ends within the fields of a text file, by which its lines and its rows are compared."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from dpportal.platform.sealed_files import FilePath
from dpportal.tables.formats.encoding import CHUNK, NEWLINE


@dataclass
class LineEnds:
    """fields: that hold line ends. longest: characters of the longest of these. all: line ends in them.

    blank: lines within them that hold nothing.
    """

    fields: int = 0
    longest: int = 0
    all: int = 0
    blank: int = 0

    def add(self, texts: pa.Array) -> None:
        """texts: further fields, an array of strings."""
        starts = np.frombuffer(texts.buffers()[1], np.int32)[texts.offset : texts.offset + len(texts) + 1]
        content = np.frombuffer(texts.buffers()[2] or b"", np.uint8)[starts[0] : starts[-1]]
        ends = np.flatnonzero(content == NEWLINE)
        if not len(ends):
            return
        of = np.searchsorted(starts, ends + starts[0], side="right") - 1
        is_same = of[1:] == of[:-1]
        broken = np.append(of[0], of[1:][~is_same])
        self.fields += len(broken)
        self.longest = max(self.longest, pc.max(pc.utf8_length(texts.take(pa.array(broken)))).as_py())
        self.all += len(ends)
        self.blank += int(np.count_nonzero(is_same & (np.diff(ends) == 1)))


def blank_lines(path: FilePath, skip: int) -> int:
    """How many lines of a plain text file after the first `skip` hold nothing, a quoted field's lines among them."""
    blank, after_end = 0, True
    with path.open("rb") as file:
        for _line in range(skip):
            file.readline()
        while piece := file.read(CHUNK):
            is_end = np.frombuffer(piece, np.uint8) == NEWLINE
            blank += int(np.count_nonzero(is_end[1:] & is_end[:-1])) + bool(after_end and is_end[0])
            after_end = bool(is_end[-1])
    return blank
