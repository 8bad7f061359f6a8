"""What a histogram is asked for, by purpose: every cell, many ranges, every running total."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Callable

import numpy as np

from mechanisms.arrays import Integers
from mechanisms.noise import repeatable

PURPOSES = ("cells", "ranges", "totals")
RANGES = 1000
TableShape = tuple[int, ...]
AnswersOf = Callable[[np.ndarray], np.ndarray]


def answers(purpose: str, shape: TableShape) -> AnswersOf:
    """A function from (cells,) estimates in C order to the answers that the purpose is about.

    "cells": the estimates; "ranges": 1,000 fixed random ranges, boxes for several columns; "totals": from the first
    cell to every cell, along every column. Raises ValueError for another purpose.
    """
    if purpose not in PURPOSES:
        raise ValueError(f"purpose must be one of {', '.join(PURPOSES)}, got {purpose!r}")
    if purpose == "cells":
        return lambda x: x
    ends = boxes(shape) if purpose == "ranges" else None

    def sums(x: np.ndarray) -> np.ndarray:
        table = x.reshape(shape)
        for axis in range(len(shape)):
            table = table.cumsum(axis)
        return table.ravel() if ends is None else _box_sums(np.pad(table, [(1, 0)] * len(shape)), *ends)

    return sums


def boxes(shape: TableShape) -> tuple[Integers, Integers]:
    """Ends of the fixed random ranges: (RANGES, d) first cell and one past the last."""
    generator = repeatable(hashlib.sha256(f"ranges {shape}".encode()).digest())
    ends = np.stack([np.sort(generator.integers(0, n, size=(RANGES, 2)), axis=1) for n in shape], axis=1)
    return ends[..., 0], ends[..., 1] + 1


def _box_sums(cumulative: np.ndarray, lower: np.ndarray, upper: np.ndarray) -> np.ndarray:
    """Sums over boxes by inclusion and exclusion on a padded cumulative table."""
    dimensions = lower.shape[1]
    total = np.zeros(len(lower))
    for corner in range(2**dimensions):
        low = np.array([corner >> axis & 1 for axis in range(dimensions)], dtype=bool)
        places = np.where(low, lower, upper)
        total += (-1.0) ** low.sum() * cumulative[tuple(places.T)]
    return total


def root_mean_square(errors: list[np.ndarray]) -> float:
    """The root mean square of all errors, (k,) each."""
    return math.sqrt(float(np.mean(np.square(errors))))
