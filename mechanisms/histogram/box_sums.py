"""Sums of a released histogram's cells over a box, where a measurement tells them and how sure they are."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from mechanisms import box_queries
from mechanisms.arrays import Flags
from mechanisms.box_queries import CellSum, Picks
from mechanisms.noise.sum_quantiles import integer_half_widths
from mechanisms.protocol import Plan


def plain_sum(plan: Plan, values: np.ndarray, picks: Picks) -> CellSum:
    """Of cells that were counted each by itself: of whole numbers, so that whole people have a whole interval."""
    cells = box_queries.size(picks)
    reach = float(integer_half_widths(plan.noise, np.array([cells], dtype=np.int64))[0])
    return CellSum(box_queries.summed(values, plan.domain.shape, picks), reach, cells)


def plain_difference(plan: Plan, values: np.ndarray, first: Picks, second: Picks) -> CellSum:
    """The first box less the second, of cells that were counted each by itself.

    Cells of both cancel, with their noise. The other noises are independent and symmetric, so that their signs do not
    matter: those that are taken away reach as far as those that are added.
    """
    shared = box_queries.size_of_both(plan.domain.shape, first, second)
    cells = box_queries.size(first) + box_queries.size(second) - 2 * shared
    reach = float(integer_half_widths(plan.noise, np.array([cells], dtype=np.int64))[0])
    sums = [box_queries.summed(values, plan.domain.shape, picks) for picks in (first, second)]
    return CellSum(sums[0] - sums[1], reach, cells)


def half_width_apart(plan: Plan) -> int:
    """Of the difference of two counts, of cells that were counted each by itself."""
    return int(integer_half_widths(plan.noise, np.array([2], dtype=np.int64))[0])


def standard_error(inside: Flags, scales: int, eigenvalues: Sequence[float]) -> float:
    """Of the sum of a strategy's estimates over the cells that are inside, for noise of variance 1; exact, O(n).

    scales, eigenvalues: of the strategy. The squared length of the query in U_e is Σ over the blocks of 2^e cells of
    (cells inside)² / 2^e.
    """
    padded = np.zeros(2**scales, dtype=np.int32)
    padded[: inside.size] = inside
    lengths = [float(padded.sum())]
    for e in range(1, scales + 1):
        padded = padded.reshape(-1, 2).sum(axis=1, dtype=np.int32)
        lengths.append(float(np.square(padded, dtype=np.float64).sum()) / 2**e)
    energies = (fine - coarse for fine, coarse in zip(lengths, [*lengths[1:], 0.0], strict=True))
    pairs = zip(energies, eigenvalues, strict=True)
    return math.sqrt(sum(max(0.0, energy) / value for energy, value in pairs))
