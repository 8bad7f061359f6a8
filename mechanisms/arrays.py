"""What the numbers of an array are, for signatures: integers meet noise, floats come of it. And long arrays, in runs.

A bare `np.ndarray` in a signature takes either, as workloads do: integers stay integers there.
"""

from __future__ import annotations

import mmap
from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

Integers = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]
Flags = npt.NDArray[np.bool_]

# Entries of a run: 8 MB of numbers.
RUN = 1 << 20


def runs(size: int, length: int = 0) -> Iterator[slice]:
    """Neighbouring places 0..size-1, a run at a time, so that what is made of a long array is small.

    length: of a run, where much is made of each number; 0: RUN.
    """
    for start in range(0, size, length or RUN):
        yield slice(start, min(start + (length or RUN), size))


def let_go(*arrays: np.ndarray) -> None:
    """Free the memory of arrays that are mapped from files, for reading: they are read again where needed.

    Without this, pages that were read once count as the process's memory until it ends.
    """
    for array in arrays:
        owner = array
        while isinstance(owner.base, np.ndarray):
            owner = owner.base
        if isinstance(owner.base, mmap.mmap) and not owner.flags.writeable:
            owner.base.madvise(mmap.MADV_DONTNEED)


def runs_of(*arrays: np.ndarray) -> Iterator[tuple[np.ndarray, ...]]:
    """The same run of each array, one run after the other; mapped ones are let go of behind it."""
    for run in runs(len(arrays[0])):
        yield tuple(array[run] for array in arrays)
        let_go(*arrays)


def summed(integers: np.ndarray) -> int:
    """Their sum."""
    return sum(int(run.sum()) for (run,) in runs_of(integers))
