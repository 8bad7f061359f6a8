"""Lines of a CSV file, made column by column: ten times as fast as field by field."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Sequence
from typing import BinaryIO

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

# Lines that are made together: their texts stay in the processor's cache, and long labels in memory.
LINES = 1 << 15
TEXT = pa.large_string()


def six_digits(number: float) -> str:
    """A number as files state it that is no whole one."""
    return f"{number:.6g}"


def field(text: str) -> str:
    """A text as one field of several: in quotation marks if it holds a comma, such a mark or a line end of any kind."""
    line = io.StringIO()
    # Before Python 3.13 the signs of its own line end are the only ones that the writer knows.
    csv.writer(line, lineterminator="\r\n").writerow([text, ""])
    return line.getvalue().removesuffix(",\r\n")


def fields(texts: Iterable[str]) -> pa.Array:
    """Texts as fields of a CSV file."""
    return pa.array([field(text) for text in texts], TEXT)


class Lines:
    """Writes a header, then lines."""

    def __init__(self, file: BinaryIO, header: Sequence[str]) -> None:
        self._file = file
        file.write((",".join(map(field, header)) + "\n").encode())

    def write(self, *columns: pa.Array | np.ndarray | str) -> None:
        """As many lines as the columns have entries.

        columns: two or more; texts made by `fields`, integers, floats (shown to six digits), or one text for all lines.
        """
        joined = pc.binary_join_element_wise(*map(_texts, columns), pa.scalar(",", TEXT))
        ended = pc.binary_join_element_wise(joined, pa.scalar("\n", TEXT), pa.scalar("", TEXT))
        self._file.write(_content(ended))


def _texts(column: pa.Array | np.ndarray | str) -> pa.Array | pa.Scalar:
    if isinstance(column, str):
        return pa.scalar(column, TEXT)
    if isinstance(column, pa.Array):
        return column
    if np.issubdtype(column.dtype, np.integer):
        return pa.array(column).cast(TEXT)
    return pa.array([six_digits(number) for number in column.tolist()], TEXT)


def _content(texts: pa.Array) -> memoryview:
    """The bytes of all texts, one after the other."""
    _, ends, content = texts.buffers()
    last = np.frombuffer(ends, np.int64)[len(texts)]
    return memoryview(content)[: int(last)]
