"""The columns of a table in a file each, so that they can be written one after the other and read side by side."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from typing import Self

import pyarrow as pa
import pyarrow.ipc

from dpportal.platform.sealed_files import FilePath


class ColumnFiles:
    """Files beside a target, sealed like it, which end with the block."""

    def __init__(self, target: FilePath, columns: int) -> None:
        self._paths = [target.with_name(f"column-{place}.arrow") for place in range(columns)]
        # Of pieces of each column.
        self._number = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        for path in self._paths:
            path.unlink(missing_ok=True)

    def write(self, place: int, pieces: Iterator[pa.Array]) -> None:
        """Write a column, piece by piece; all of one type, and as long as those of the others."""
        with ExitStack() as stack:
            writer = None
            for number, piece in enumerate(pieces, 1):
                batch = pa.record_batch([piece], names=["values"])
                if writer is None:
                    file = stack.enter_context(self._paths[place].open("wb"))
                    writer = stack.enter_context(pa.ipc.new_stream(file, batch.schema))
                writer.write_batch(batch)
                self._number = number

    def pieces(self) -> Iterator[tuple[float, list[pa.Array]]]:
        """The columns' pieces side by side, each with the share of them that is read once it is."""
        with ExitStack() as stack:
            files = [stack.enter_context(path.open("rb")) for path in self._paths if self._number]
            readers = [stack.enter_context(pa.ipc.open_stream(file)) for file in files]
            for number, batches in enumerate(zip(*readers, strict=True), 1):
                yield number / self._number, [batch.column(0) for batch in batches]


def cut(arrays: Iterator[pa.Array], rows: int) -> Iterator[pa.Array]:
    """A column's arrays as pieces of so many rows each, the last of fewer, however a reader cut them."""
    waiting: list[pa.Array] = []
    for array in arrays:
        while len(array):
            missing = rows - sum(map(len, waiting))
            waiting.append(array[:missing])
            array = array[missing:]
            if sum(map(len, waiting)) == rows:
                yield _joined(waiting)
                waiting = []
    if waiting:
        yield _joined(waiting)


def _joined(arrays: list[pa.Array]) -> pa.Array:
    return arrays[0] if len(arrays) == 1 else pa.concat_arrays(arrays)
