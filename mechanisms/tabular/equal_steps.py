"""Cells of a column as steps of equal width, so that the heights of their shares can be compared."""

from __future__ import annotations

import numpy as np

from mechanisms.arrays import Floats, Integers


def equal_steps(borders: Floats, blocks: Integers, most: int) -> tuple[Floats, Floats]:
    """At most so many steps of neighbouring blocks: their edges, (steps + 1,), and the cells of each, (steps, cells).

    borders: (cells + 1,) where each cell begins and the last one ends. blocks: (cells,) the block of each, from 0 on;
    blocks are equally wide but for the first and the last. So each cell is in one step, whatever its values are. The
    first step and the last are as wide as the others, and may so reach beyond the cells.
    """
    number = int(blocks[-1]) + 1
    together = -(-number // most)
    step = blocks // together
    begins = borders[np.flatnonzero(np.diff(step, prepend=-1))]
    first, last = borders[0], borders[-1]
    if len(begins) > 2:
        width = np.median(np.diff(begins))
        first, last = min(first, begins[1] - width), max(last, begins[-1] + width)
    parts: Floats = np.equal.outer(np.arange(len(begins)), step).astype(np.float64)
    return np.array([first, *begins[1:], last]), parts
