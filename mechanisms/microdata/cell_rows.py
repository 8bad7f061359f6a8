"""Rows of cells in few bytes: the smallest integers that hold them, one column after the other in memory.

A million rows of 250 columns of up to 256 cells take 250 MB so, an eighth of what 64-bit integers take.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from mechanisms.arrays import Integers

# Unsigned, of whatever width: sums and products of them need a wider type first.
CellRows = npt.NDArray[np.unsignedinteger[Any]]


def empty_rows(count: int, sizes: Sequence[int]) -> CellRows:
    """(count, d) rows to be filled in. sizes: of each column, above its largest cell."""
    return np.empty((count, len(sizes)), dtype=np.min_scalar_type(max(sizes) - 1), order="F")


def from_columns(columns: Iterable[np.ndarray], count: int, sizes: Sequence[int]) -> CellRows:
    """(count, d) rows from (count,) cells of each column, taken one by one: only one column is ever held twice."""
    rows = empty_rows(count, sizes)
    for place, column in enumerate(columns):
        rows[:, place] = column
    return rows


def reorder(rows: CellRows, order: Integers) -> None:
    """Put the rows into another order, in place: row i becomes what was row order[i]."""
    for column in rows.T:
        column[:] = column[order]
