"""Estimates of single columns: the number of rows, smooth counts of ordered columns, counts that are not negative."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from mechanisms.arrays import Floats, Integers
from mechanisms.domain import Attribute
from mechanisms.microdata.smoothing import smoothed

# Beyond so many cells a column is not smoothed: that would take seconds.
MAX_SMOOTHED = 4_096


@dataclass(frozen=True)
class Margins:
    """What is known of single columns, all from noisy counts.

    total: rows. counts: of each column (c,) floats >= 0 that sum to `total`. noisy: what they are estimated from, (c,)
    counts with noise of these variances.
    """

    total: float
    counts: tuple[Floats, ...]
    variances: tuple[float, ...]
    noisy: tuple[Floats, ...]

    def of_columns(self, places: Sequence[int]) -> Margins:
        """Those of some columns."""
        return Margins(
            self.total,
            tuple(self.counts[place] for place in places),
            tuple(self.variances[place] for place in places),
            tuple(self.noisy[place] for place in places),
        )

    def shares(self, column: int) -> Floats:
        return self.counts[column] / self.total


def estimate(
    attributes: Sequence[Attribute],
    noisy: Sequence[Integers | Floats],
    variances: Sequence[float],
    total: int | None,
) -> Margins:
    """Margins from noisy counts of each column; total: where it is public."""
    rows, measured = number_of_rows(noisy, variances, total), tuple(y.astype(float) for y in noisy)
    counts = tuple(
        to_simplex(_smoothed(attribute, y, variance), rows)
        for attribute, y, variance in zip(attributes, measured, variances, strict=True)
    )
    return Margins(rows, counts, tuple(variances), measured)


def joined(
    attributes: Sequence[Attribute],
    margins: Margins,
    noisy: Sequence[Integers],
    variances: Sequence[float],
    total: int | None,
) -> Margins:
    """Margins from another measurement of each column, too: each cell's mean, weighted by precision."""
    both = [1 / (1 / one + 1 / other) for one, other in zip(margins.variances, variances, strict=True)]
    means = [
        together * (before / one + again / other)
        for together, before, one, again, other in zip(
            both, margins.noisy, margins.variances, noisy, variances, strict=True
        )
    ]
    return estimate(attributes, means, both, total)


def number_of_rows(
    noisy: Sequence[Integers | Floats], variances: Sequence[float], total: int | None
) -> float:
    """The mean of the columns' sums, each weighted by its precision, at least 1; or the public number."""
    if total is not None:
        return max(1.0, float(total))
    weights = np.array([1 / (y.size * v) for y, v in zip(noisy, variances, strict=True)])
    sums = np.array([float(y.sum()) for y in noisy])
    return max(1.0, float(weights @ sums / weights.sum()))


def _smoothed(attribute: Attribute, noisy: Floats, variance: float) -> Floats:
    """An ordered column's cells by those beside them; the cell for missing values is left alone."""
    cells = attribute.regular_size
    if not attribute.ordered or not 3 <= cells <= MAX_SMOOTHED:
        return noisy
    return np.concatenate([smoothed(noisy[:cells], variance), noisy[cells:]])


def to_simplex(values: Floats, total: float) -> Floats:
    """The nearest vector, in squared distance, that is not negative and sums to `total` > 0 (Duchi et al. 2008)."""
    falling = np.sort(values)[::-1]
    surplus = (np.cumsum(falling) - total) / np.arange(1, values.size + 1)
    last = int(np.flatnonzero(falling > surplus)[-1])
    nearest: Floats = np.maximum(values - surplus[last], 0)
    return nearest
