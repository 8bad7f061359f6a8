"""What a strategy's sums do not see: whether every answer is determined by them, as exactly as floats can tell."""

from __future__ import annotations

import math
from functools import reduce
from hashlib import sha256

import numpy as np

from mechanisms.matrix.strategy.product import Strategy
from mechanisms.matrix.workload.union import Workload
from mechanisms.noise import NoiseLaw, repeatable
from mechanisms.protocol import PlanError

# Of a query's length, what rounding in floats may move; how often least squares is repeated to get there.
_ROUNDING, _ROUNDS = 1e-13, 2
# Up to so many rows what the sums do not see may move an answer by at most this share of its noise.
_MOST_ROWS, _UNNOTICED = 10**12, 0.05


def check_blindness(blind: float, law: NoiseLaw) -> None:
    """Raises PlanError if what `blindness` found would be noticed beside that noise."""
    if blind * _MOST_ROWS > _UNNOTICED * law.standard_error:
        raise _only_nearly()


def blindness(strategy: Strategy, workload: Workload) -> float:
    """How far a row that the sums do not see moves an answer, as a share of its standard error for unit noise.

    A table that the sums know nothing of, made from random numbers, must not move an answer by more than rounding
    does: relative to the query's length, which counts as 0, or to how far the noise of the sums goes into the answer.
    Raises PlanError if the sums do not determine every answer, as exactly as floats can tell.
    """
    if strategy.complete:
        return 0.0
    check_dimensions(strategy, workload)
    unseen, blind = _unseen(strategy), 0.0
    largest = math.sqrt(strategy.column.l2_squared * workload.cells)
    for term in workload.terms:
        moved = np.abs(term.answers(unseen.reshape(workload.shape)))
        lengths = reduce(np.multiply.outer, [f.row_squares() for f in term.all_factors(workload.shape)])
        beyond = moved > _ROUNDING * np.sqrt(np.ravel(lengths))
        if not beyond.any():
            continue
        spread = np.sqrt(strategy.variances(term))
        if (moved > _ROUNDING * largest * spread).any():
            raise _only_nearly()
        blind = max(blind, float((moved[beyond] / spread[beyond]).max()))
    return blind


def _only_nearly() -> PlanError:
    return PlanError(
        "The strategy's sums do not determine all answers that the workload asks for; some they give only nearly. "
        "Choose another method, or add rows that hold the missing queries exactly."
    )


def _unseen(strategy: Strategy) -> np.ndarray:
    """A random table of cells, (n,) floats, that no sum of the strategy tells from none."""
    cells = repeatable(sha256(b"unseen by a strategy").digest()).normal(size=math.prod(strategy.shape))
    for _ in range(_ROUNDS):
        cells = cells - strategy.estimate(strategy.answers(cells))
    return cells


def check_dimensions(strategy: Strategy, workload: Workload) -> None:
    """Raises PlanError if some dimensions of the workload are clearly outside of what the strategy's sums span."""
    for term in workload.terms:
        answered, requested = strategy.dimensions(term)
        if answered < requested:
            raise PlanError(
                "The strategy answers only {answered:,} of the {requested:,} dimensions that the workload "
                "asks for. Choose another method, or add rows that tell the missing cells apart.",
                answered=answered,
                requested=requested,
            )
