"""A histogram whose number of bins is chosen privately from a public list."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np

from mechanisms.counting import histogram_sensitivity
from mechanisms.histogram.block_tree import Asked, BlockTreeHistogram
from mechanisms.histogram.dyadic import PURPOSE
from mechanisms.histogram.partition import deviations
from mechanisms.histogram.request import WITHIN_BINS
from mechanisms.histogram.spending import count_law, laplace_law
from mechanisms.histogram.strategy import expected_errors, strategy_law
from mechanisms.mechanism import Parameter, Plan
from mechanisms.noise import DiscreteLaplace, Noise

# The public list of bin counts: the number of cells (a power of two) and its halves, down to this.
FEWEST_BINS = 16
# Mean absolute bias is charged double: it is uneven, and its mean square is what hurts.
BIAS_CHARGE = 2

SHARE = Parameter(
    name="choice_share",
    label="Share of the cost for choosing the number of bins, %",
    help="The rest counts people.",
    default=10,
    kind="integer",
    minimum=1,
    maximum=50,
)


class BinnedHistogram(BlockTreeHistogram):
    """Chooses how many bins of equal width to use, then counts them by a weighted hierarchy.

    The choice is permute-and-flip (McKenna and Sheldon 2020) over bins of 2^e cells, with score -(bias + noise): how
    wrong even spreading inside the bins makes the true answers, and the expected error of the counts, which is
    public. Single cells: bias = Σ |x_i - median of its bin|, sensitivity 1. Ranges and totals: twice the mean
    over the N running totals of how far even spreading moves them, in units of 1/N; one row in a bin of L cells moves
    N such means by Σ_r |[row before r] - r/L| <= (L-1)/2, which floors to at most L/2: sensitivity L for the widest L.
    """

    name: ClassVar[str] = "binned-histogram"
    title: ClassVar[str] = "Histogram with a private number of bins"
    summary: ClassVar[str] = (
        "Chooses privately how coarse the bins may be, so that little noise is spent on detail that it would drown; "
        "meant for one ordered column (of several, neighbours in cell order are grouped)."
    )
    parameters: ClassVar[tuple[Parameter, ...]] = (WITHIN_BINS, PURPOSE, SHARE)
    partition_name: ClassVar[str] = "choice"
    share: ClassVar[Parameter] = SHARE

    def _partition_law(self, asked: Asked) -> DiscreteLaplace:
        """Scale 1/rate: a candidate that trails by this much loses a factor e of its chances."""
        return laplace_law(asked.loss, 2 * asked.rows * _score_sensitivity(asked) / asked.partition_epsilon)

    def _facts(self, asked: Asked) -> dict[str, Any]:
        widths = range(_widest(asked) + 1)
        return {
            "bins": [-(-asked.cells // 2**e) for e in widths],
            "noise_scores": [_noise_score(asked, e) for e in widths],
        }

    def _partition(self, plan: Plan, law: DiscreteLaplace, padded: np.ndarray, noise: Noise) -> np.ndarray:
        public: Sequence[int] = plan.details["noise_scores"]
        biases = cell_biases(padded) if plan.parameters["purpose"] == "cells" else prefix_biases(padded)
        scores = [-(bias + public[e]) for e, bias in zip(range(len(public)), biases, strict=False)]
        exponent = _permute_and_flip(scores, 1 / law.scale, noise)
        return np.full(padded.size >> exponent, exponent, dtype=np.int64)

    def _how(self, asked: Asked) -> str:
        bins = ", ".join(f"{b:,}" for b in self._facts(asked)["bins"])
        return (
            f"{100 * asked.share} % of the cost (ε = {float(asked.partition_epsilon):.6g}) chooses the number of bins "
            f"from the public list {bins}, by permute-and-flip on the expected error."
        )


def cell_biases(counts: np.ndarray) -> list[int]:
    """For bins of 1, 2, 4, ... cells, Σ |x_i - median of its bin|, in rows; sensitivity 1."""
    return [int(deviation.sum()) for deviation in deviations(counts)]


def prefix_biases(counts: np.ndarray) -> list[int]:
    """For bins of L = 1, 2, 4, ... cells, twice Σ |running total - its value under even spreading|, in rows.

    counts: (N,) int64, N = 2^K. The sum runs over the N running totals and is rounded down, exactly. One row
    changes the result by at most L.
    """
    return [BIAS_CHARGE * _prefix_bias(counts, e) for e in range((counts.size - 1).bit_length() + 1)]


def _prefix_bias(counts: np.ndarray, e: int) -> int:
    bins = counts.reshape(-1, 2**e)
    inside = np.cumsum(bins, axis=1)
    # |L·(total of the first r cells) - r·(bin's count)|, over L.
    gaps = np.abs((inside << e) - np.arange(1, 2**e + 1) * inside[:, -1:])
    return int((gaps >> e).sum()) + (int((gaps & (2**e - 1)).sum()) >> e)


def _widest(asked: Asked) -> int:
    """Exponent of the widest bins on the list."""
    return max(0, asked.scales - (FEWEST_BINS - 1).bit_length())


def _score_sensitivity(asked: Asked) -> int:
    return 1 if asked.purpose == "cells" else BIAS_CHARGE * 2 ** _widest(asked) // 2


def _noise_score(asked: Asked, e: int) -> int:
    """Expected error of the counts of bins of 2^e cells, in the units of the bias."""
    bins = 2 ** (asked.scales - e)
    if asked.purpose == "cells":
        alone = count_law(asked.count_loss, histogram_sensitivity(asked.loss.unit))
        return math.ceil(bins * alone.mean_absolute)
    tree = asked.tree(bins)
    error = expected_errors(bins, strategy_law(asked.count_loss, tree), tree)[asked.purpose]
    # A range has two ends; its bias is about √2 times that of a running total, so its noise counts less.
    ends = 2 if asked.purpose == "ranges" else 1
    return math.ceil(error / math.sqrt(ends) * 2**asked.scales)


def _permute_and_flip(scores: Sequence[int], rate: Fraction, noise: Noise) -> int:
    """In random order, the first candidate whose coin of probability exp(-rate · gap to the best) falls heads."""
    order = noise.permutation(len(scores))
    gaps = np.array([min(max(scores) - score, 2**62) for score in scores], dtype=np.int64)
    return int(order[noise.bernoulli_exp(rate, gaps[order]).argmax()])
