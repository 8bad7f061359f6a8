"""Cells of a column as steps of equal width, so that the heights of their shares can be compared."""

from __future__ import annotations

import numpy as np

from mechanisms.arrays import Floats, Integers


def equal_steps(borders: Floats, blocks: Integers, most: int) -> tuple[Floats, Floats]:
    """At most so many steps of neighbouring blocks: their edges, (steps + 1,), and the cells of each, (steps, cells).

    borders: (cells + 1,) where each cell begins and the last one ends. blocks: (cells,) the block of each, from 0 on;
    blocks are equally wide but for the last one. So each cell is in one step, whatever its values are. The last step
    is as wide as the others, and may so end beyond the last cell.
    """
    number = int(blocks[-1]) + 1
    together = -(-number // most)
    step = blocks // together
    first = np.flatnonzero(np.diff(step, prepend=-1))
    begins = borders[first]
    last = borders[-1]
    if number % together and len(begins) > 1:
        last = max(last, begins[-1] + begins[1] - begins[0])
    parts: Floats = np.equal.outer(np.arange(len(begins)), step).astype(np.float64)
    return np.append(begins, last), parts
