"""Observed error of a release against the true counts: for the curator's eyes only."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from mechanisms.arrays import runs_of


@dataclass(frozen=True)
class ObservedError:
    """How far released counts are from true counts.

    total_variation: half the L1 distance over the true number of rows n; for counts that sum to n this is the
        total variation of the two distributions, and raw noisy counts, which may be negative, use the same
        formula. NaN for an empty table.
    l1, largest: in rows. l2: square root of the summed squares, in rows.
    inside: share of cells whose released count lies within ± half_width of the true count.
    """

    total_variation: float
    l1: int
    l2: float
    largest: int
    inside: float


def observed_error(true: np.ndarray, released: np.ndarray, half_width: int) -> ObservedError:
    """Compare counts cell by cell.

    true: (k,) integers >= 0. released: (k,) integers. half_width: in rows, >= 0.
    Raises ValueError if the shapes differ or are empty.
    """
    if true.shape != released.shape or true.ndim != 1 or true.size == 0:
        raise ValueError(f"counts must share one shape (k,), k >= 1, got {true.shape} and {released.shape}")
    people = l1 = largest = inside = 0
    lengths = []
    for truth, noisy in runs_of(true, released):
        error = np.abs(noisy - truth)
        people, l1 = people + int(truth.sum()), l1 + int(error.sum())
        largest, inside = max(largest, int(error.max())), inside + int((error <= half_width).sum())
        lengths.append(float(np.linalg.norm(error.astype(np.float64))))
    return ObservedError(
        total_variation=l1 / (2 * people) if people else float("nan"),
        l1=l1,
        l2=math.hypot(*lengths),
        largest=largest,
        inside=inside / true.size,
    )
