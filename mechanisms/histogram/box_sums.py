"""Sums of a released histogram's cells over a box, with intervals where the plan tells how sure they are."""

from __future__ import annotations

import math

import numpy as np

from mechanisms import boxes
from mechanisms.arrays import Flags
from mechanisms.boxes import CellSum, Picks
from mechanisms.histogram.noisy import NoisyHistogram
from mechanisms.histogram.strategy import Strategy, StrategyHistogram, counts_cells_alone
from mechanisms.noise.sums import half_widths, whole_half_widths
from mechanisms.protocol import Mechanism, Plan


def is_linear(mechanism: Mechanism) -> bool:
    """Whether its estimates are fixed sums of independent noises, so that a measurement tells a sum and its error."""
    return isinstance(mechanism, NoisyHistogram | StrategyHistogram)


def cell_sum(mechanism: Mechanism, plan: Plan, values: np.ndarray, picks: Picks) -> CellSum:
    """The unbiased estimates of the box's cells added up.

    values: the measurement of a mechanism that `is_linear`; of any other (n,) the estimates themselves.
    Independent noises: the least interval of their plain sum. A strategy: Var = σ² Σ_e energy_e / λ_e (see `dyadic`);
    of one cell the plan's own interval, which is published with it.
    """
    cells, shape = boxes.size(picks), plan.domain.shape
    if isinstance(mechanism, NoisyHistogram):
        return _plain_sum(plan, values, picks)
    if isinstance(mechanism, StrategyHistogram):
        strategy = mechanism.strategy(plan)
        if counts_cells_alone(strategy):
            return _plain_sum(plan, values[: plan.domain.size], picks)
        estimates = strategy.estimate(values)[: plan.domain.size]
        error = np.array(standard_error(strategy, boxes.flags(shape, picks))) * plan.noise.standard_error
        reach = (
            plan.half_width if cells == 1 and plan.half_width is not None else half_widths(plan.noise, error)
        )
        return CellSum(boxes.summed(estimates, shape, picks), float(reach), cells)
    return CellSum(boxes.summed(values, shape, picks), None, cells)


def _plain_sum(plan: Plan, values: np.ndarray, picks: Picks) -> CellSum:
    """Of whole numbers, so that whole people have a whole interval."""
    cells = boxes.size(picks)
    reach = float(whole_half_widths(plan.noise, np.array([cells], dtype=np.int64))[0])
    return CellSum(boxes.summed(values, plan.domain.shape, picks), reach, cells)


def standard_error(strategy: Strategy, inside: Flags) -> float:
    """Of the sum of the least-squares estimates over the cells that are inside, for noise of variance 1; exact, O(n).

    The squared length of the query in U_e is Σ over the blocks of 2^e cells of (cells inside)² / 2^e.
    """
    padded = np.zeros(2**strategy.scales, dtype=np.int32)
    padded[: inside.size] = inside
    lengths = [float(padded.sum())]
    for e in range(1, strategy.scales + 1):
        padded = padded.reshape(-1, 2).sum(axis=1, dtype=np.int32)
        lengths.append(float(np.square(padded, dtype=np.float64).sum()) / 2**e)
    energies = (fine - coarse for fine, coarse in zip(lengths, [*lengths[1:], 0.0], strict=True))
    pairs = zip(energies, strategy.eigenvalues, strict=True)
    return math.sqrt(sum(max(0.0, energy) / value for energy, value in pairs))
