"""Increments no larger than a declared bound: what keeps a true count from deciding whether a period is published."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np


def clipped(increments: Sequence[int], largest: int) -> tuple[np.ndarray, np.ndarray]:
    """A period's increments, none above `largest`, as (k,) int64; and which of them were, (k,) bool.

    increments: whole numbers of any size. largest: declared before any data, at least 0.

    What a stream's noise was planned for still holds. Between neighbours each increment f changes by at most the
    stream's sensitivity, and in the direction in which rows enter or leave. The map f -> min(f, largest) is monotone
    and 1-Lipschitz, |min(f, c) - min(g, c)| <= |f - g|, and each increment is clipped by itself: every change stays or
    becomes smaller, none turns around, and where nothing changed nothing does. It sees counts and sums alone, so no
    order of rows matters, and it is the last step before noise: no increment is refused for its size. (The share of
    one row is bounded before, by the declared bounds of the column that is added up.)
    """
    bounded = np.array([min(increment, largest) for increment in increments], dtype=np.int64)
    return bounded, np.array([increment > largest for increment in increments], dtype=bool)
