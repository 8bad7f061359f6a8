"""Blocks found by cutting the line of cells again and again, near the middle unless people bend its running total."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from itertools import pairwise
from typing import ClassVar

import numpy as np

from mechanisms.arrays import Integers
from mechanisms.histogram.partitioned import Blocks, PartitionedHistogram, PartitionInputs
from mechanisms.histogram.spending import (
    Stage,
    laplace_law,
    permute_and_flip,
    pure_epsilon,
    share_of,
)
from mechanisms.noise import DiscreteLaplace, Noise
from mechanisms.protocol import CellCost, Parameter, Plan
from mechanisms.validation import WITHIN_BINS, check_cells

MAX_CELLS = 2**21
CUTS_SHARE = Fraction(3, 20)
# In a block of at most so many cells a cut may lie anywhere.
_SMALL = 64
# In a longer one at this many even steps, and at every power of two from either end.
_STEPS = 32
# A cut away from the middle must be better by this times ln(candidates) times the scale of the choice.
_CAUTION = 2

_MEANING = "Every level cuts every block in two, so k levels make at most 2^k blocks."
LEVELS = Parameter.integer("levels", "Levels of cuts", _MEANING, default=4, minimum=1, maximum=12)


class BisectedHistogram(PartitionedHistogram):
    """Cuts every block in two, level after level, each cut chosen privately; then counts the blocks.

    Measurement: level by level, for each block of more than one cell from left to right, the first cell after
    its cut; then the noisy counts of the blocks from left to right.
    Permute-and-flip (McKenna and Sheldon 2020) chooses a block's cut, with minus the larger `unevenness` of its
    two parts as score: how far a running total may be off. Every cut but the middle one has a public handicap, so
    that without clear evidence blocks are halved. Bisection by a private choice, with deviations from the mean
    as score: Ács, Castelluccia, Chen 2012 (P-HPartition).

    ε-DP of the cuts. The candidates and handicaps of a block follow from its ends. A row is in one part of
    every cut of its block and in no other block, so it moves the scores of one block a level, each by at most 1
    (see `unevenness`; the larger of two moves no more than they do). Permute-and-flip at rate r then changes the
    probability of that block's cut by at most e^(2r), and of all cuts of the level, which are drawn independently, by
    the same. D rows, of one person, change it by at most e^(2rD) = e^(ε'), with r = ε'/(2D). A level is chosen
    given the cuts of the levels before, and the number k of levels is public: sequential composition, kε'. Under
    zCDP each level has ε'²/2 at most its share of ρ. The blocks' counts are one more stage, on the partition that
    the cuts make.
    """

    name: ClassVar[str] = "bisection-histogram"
    title: ClassVar[str] = "Histogram by private cuts"
    summary: ClassVar[str] = (
        "Cuts the line of cells in two again and again, setting crowded places apart; made for tables where a few "
        "cells hold nearly everyone, and never advised for others (of several columns, neighbours in cell order are "
        "grouped)."
    )
    cost_per_cell: ClassVar[CellCost] = CellCost(5.0, 80)
    # Good only where nearly everybody is in a few cells.
    may_be_advised: ClassVar[bool] = False
    parameters: ClassVar[tuple[Parameter, ...]] = (WITHIN_BINS, LEVELS)

    def _stages(self, inputs: PartitionInputs) -> list[Stage]:
        check_cells(inputs.domain, MAX_CELLS)
        levels = int(inputs.parameters[LEVELS.name])
        share = CUTS_SHARE / levels
        epsilon = pure_epsilon(share_of(inputs.loss, share))
        law = laplace_law(inputs.loss, 2 * inputs.sensitivity.l1 / epsilon)
        return [Stage("cuts", share, law, levels), inputs.count_stage("blocks", 1 - CUTS_SHARE)]

    def _facts(self, inputs: PartitionInputs) -> dict[str, object]:
        return {}

    def _how(self, inputs: PartitionInputs) -> str:
        levels, law = int(inputs.parameters[LEVELS.name]), self._stages(inputs)[0].law
        assert isinstance(law, DiscreteLaplace)
        return (
            f"{levels} times every block is cut in two, at its middle unless another cut makes running totals clearly "
            f"better: {float(law.scale):.6g} rows are worth a factor e of its chances. That takes "
            f"{float(100 * CUTS_SHARE):g} % of the cost; the rest counts the blocks, at most "
            f"{min(inputs.domain.size, 2**levels):,}."
        )

    def _measured(self, plan: Plan, counts: np.ndarray, noise: Noise) -> list[np.ndarray]:
        laws = plan.stage_laws
        law = laws["cuts"]
        assert isinstance(law, DiscreteLaplace)
        running = np.concatenate([[0], np.cumsum(counts)])

        def cut(first: int, last: int) -> int:
            return first + private_cut(running[first : last + 1] - running[first], law.scale, noise)

        edges, cuts = _bisected(plan, cut)
        sums = np.diff(running[edges])
        return [cuts, sums + noise.draw(laws["blocks"], sums.size)]

    def _blocks(self, plan: Plan, values: np.ndarray) -> Blocks:
        stored = iter(values.tolist())
        edges, cuts = _bisected(plan, lambda first, last: next(stored))
        sizes = np.diff(edges)
        return Blocks(values[cuts.size :], np.repeat(np.arange(sizes.size), sizes), np.arange(sizes.size))


def unevenness(running: np.ndarray) -> int:
    """⌊max over r of |p_r - (r/L) p_L|⌋: how far even spreading moves a running total, in whole rows.

    running: (L + 1,) int64, p_r the number of rows in the first r of L cells, with L·p_L < 2^63. A row in cell i adds
    [i < r] - r/L to the r-th difference, less than 1 in size; so the largest moves by less than 1, and rounded
    down by at most 1.
    """
    cells = running.size - 1
    return int(np.abs(cells * running - np.arange(cells + 1) * running[-1]).max()) // cells


def candidates(cells: int) -> np.ndarray:
    """Where a block of so many cells, at least 2, may be cut: sizes of the left part, rising; public."""
    if cells <= _SMALL:
        return np.arange(1, cells)
    powers = 2 ** np.arange((cells - 1).bit_length() - 1)
    steps = np.arange(1, _STEPS) * cells // _STEPS
    return np.unique(np.concatenate([powers, cells - powers, steps, [cells // 2]]))


def cut_scores(running: Integers, scale: Fraction) -> Integers:
    """The score of each of the `candidates`, (m,) int64; one row moves each by at most 1.

    running: as for `unevenness`. scale: the rows by which a cut must trail to lose a factor e of its chances.
    """
    cells = running.size - 1
    cuts = candidates(cells)
    handicap = math.ceil(_CAUTION * math.log(cuts.size) * scale)
    worse = [max(unevenness(running[: c + 1]), unevenness(running[c:] - running[c])) for c in cuts.tolist()]
    scores: Integers = -np.array(worse, dtype=np.int64) - handicap * (cuts != cells // 2)
    return scores


def private_cut(running: np.ndarray, scale: Fraction, noise: Noise) -> int:
    """The size of the left part, chosen by permute-and-flip at rate 1/scale."""
    scores = cut_scores(running, scale)
    return int(candidates(running.size - 1)[permute_and_flip(scores.max() - scores, 1 / scale, noise)])


def _bisected(plan: Plan, cut: Callable[[int, int], int]) -> tuple[np.ndarray, np.ndarray]:
    """Edges of the blocks from 0 to n, and all cuts in the order of the measurement, that `cut` decides."""
    edges, cuts = [0, plan.domain.size], []
    for _ in range(int(plan.parameters[LEVELS.name])):
        chosen = [cut(first, last) for first, last in pairwise(edges) if last - first > 1]
        edges = sorted(edges + chosen)
        cuts += chosen
    return np.array(edges), np.array(cuts, dtype=np.int64)
