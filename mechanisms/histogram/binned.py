"""A histogram whose number of bins is chosen privately from a public list."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import ClassVar

import numpy as np

from mechanisms.calibration import count_law
from mechanisms.histogram.block_tree import BlockTreeHistogram, BlockTreeInputs, partition_share
from mechanisms.histogram.partition import deviations
from mechanisms.histogram.spending import laplace_law, permute_and_flip
from mechanisms.histogram.strategy import expected_errors, strategy_law
from mechanisms.histogram.unevenness import sum_of_squares
from mechanisms.noise import DiscreteLaplace, Noise
from mechanisms.protocol import CellCost, Parameter, Plan
from mechanisms.sensitivity import histogram_sensitivity

# The public list of bin counts: the number of cells (a power of two) and its halves, down to this.
FEWEST_BINS = 32
# Scores of ranges and totals are in units of 2^-20 rows.
_UNIT = 2**20

SHARE = partition_share("choice_share", "choosing the number of bins", default=10, minimum=1, maximum=50)


class BinnedHistogram(BlockTreeHistogram):
    """Chooses how many bins of equal width to use, then counts them by a weighted hierarchy.

    The choice is permute-and-flip (McKenna and Sheldon 2020) over bins of L = 2^e cells, with minus the expected error
    as score. Single cells: Σ |x_i - median of its bin| + expected noise, sensitivity 1. Ranges and totals:
    √(mean square over the N running totals of how far even spreading moves them + variance of the noise), which
    moves by no more than the length of the change: one row in a bin's cell i changes the r-th running total of that
    bin by [i < r] - r/L, a length of at most √(Σ_{r<L} (r/L)²) (the first or the last cell is worst), over √N.
    """

    name: ClassVar[str] = "binned-histogram"
    title: ClassVar[str] = "Histogram with a private number of bins"
    summary: ClassVar[str] = (
        "Chooses privately how coarse the bins may be, so that little noise is spent on detail that it would drown; "
        "meant for one ordered column (of several, neighbours in cell order are grouped)."
    )
    cost_per_cell: ClassVar[CellCost] = CellCost(4.4, 95)
    parameters: ClassVar[tuple[Parameter, ...]] = (*BlockTreeHistogram.parameters, SHARE)
    partition_name: ClassVar[str] = "choice"
    share: ClassVar[Parameter] = SHARE

    def _partition_law(self, inputs: BlockTreeInputs) -> DiscreteLaplace:
        """Scale 1/rate: a candidate that trails by this much loses a factor e of its chances."""
        scale = 2 * inputs.rows * _score_sensitivity(inputs) / inputs.partition_epsilon
        return laplace_law(inputs.loss, scale)

    def _facts(self, inputs: BlockTreeInputs) -> dict[str, object]:
        widths = range(_widest(inputs) + 1)
        return {
            "bins": _bins(inputs),
            "noise_scores": [_noise_score(inputs, e) for e in widths],
        }

    def _partition(self, plan: Plan, law: DiscreteLaplace, padded: np.ndarray, noise: Noise) -> np.ndarray:
        public: Sequence[int] = plan.details["noise_scores"]
        errors = cell_errors if plan.parameters["purpose"] == "cells" else total_errors
        scores = [-error for error in errors(padded, public)]
        gaps = np.array([min(max(scores) - score, 2**62) for score in scores], dtype=np.int64)
        exponent = permute_and_flip(gaps, 1 / law.scale, noise)
        return np.full(padded.size >> exponent, exponent, dtype=np.int64)

    def _how(self, inputs: BlockTreeInputs) -> str:
        bins = ", ".join(f"{b:,}" for b in _bins(inputs))
        return (
            f"{100 * inputs.share} % of the cost (ε = {float(inputs.partition_epsilon):.6g}) chooses the number of "
            f"bins from the public list {bins}, by permute-and-flip on the expected error."
        )


def cell_errors(counts: np.ndarray, noise: Sequence[int]) -> list[int]:
    """For bins of 1, 2, 4, ... cells, Σ |x_i - median of its bin| + noise, in rows; sensitivity 1."""
    biases = (int(deviation.sum()) for deviation in deviations(counts))
    return [bias + n for bias, n in zip(biases, noise, strict=False)]


def total_errors(counts: np.ndarray, noise: Sequence[int]) -> list[int]:
    """For bins of L = 1, 2, 4, ... cells, ⌊√(mean squared bias of the running totals + noise²)⌋, exactly.

    counts: (N,) int64, N = 2^K <= 2^21, with N·Σ counts < 2^63. noise, results: in units of 2^-20 rows. One row
    changes a result by at most `total_sensitivity(N, e)`.
    """
    bins = range(len(noise))
    squares = (_prefix_gaps(counts, e) * _UNIT**2 // (4**e * counts.size) for e in bins)
    return [math.isqrt(square + n * n) for square, n in zip(squares, noise, strict=True)]


def total_sensitivity(cells: int, e: int) -> int:
    """The least integer that is surely at least 2^20 √(Σ_{r<L} r² / (L² N)), L = 2^e, and 1 for rounding.

    Rounded down, values that differ by at most s differ by at most ⌈s⌉.
    """
    squares = (2**e - 1) * 2**e * (2 * 2**e - 1) // 6
    return math.isqrt(squares * _UNIT**2 // (4**e * cells)) + 1


def _prefix_gaps(counts: np.ndarray, e: int) -> int:
    """Σ d², d = L·(running total inside a bin) - r·(the bin's count) at the r-th of its L = 2^e cells; exact."""
    bins = counts.reshape(-1, 2**e)
    inside = np.cumsum(bins, axis=1)
    gaps = ((inside << e) - np.arange(1, 2**e + 1) * inside[:, -1:]).ravel()
    return sum_of_squares(gaps)


def _bins(inputs: BlockTreeInputs) -> list[int]:
    """The public list: how many bins there are of 1, 2, 4, ... cells."""
    return [-(-inputs.cells // 2**e) for e in range(_widest(inputs) + 1)]


def _widest(inputs: BlockTreeInputs) -> int:
    """Exponent of the widest bins on the list."""
    return max(0, inputs.scales - (FEWEST_BINS - 1).bit_length())


def _score_sensitivity(inputs: BlockTreeInputs) -> int:
    return 1 if inputs.purpose == "cells" else total_sensitivity(2**inputs.scales, _widest(inputs))


def _noise_score(inputs: BlockTreeInputs, e: int) -> int:
    """Expected error of the counts of bins of 2^e cells, in the units of the score."""
    bins = 1 << (inputs.scales - e)
    if inputs.purpose == "cells":
        alone = count_law(inputs.count_loss, histogram_sensitivity(inputs.loss.unit))
        return math.ceil(bins * alone.mean_absolute)
    tree = inputs.tree(bins)
    error = expected_errors(bins, strategy_law(inputs.count_loss, tree), tree)[inputs.purpose]
    # A range has two ends; its bias is about √2 times that of a running total, so its noise counts less.
    ends = 2 if inputs.purpose == "ranges" else 1
    return math.ceil(error / math.sqrt(ends) * _UNIT)
