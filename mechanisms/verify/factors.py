"""Matrices of a strategy that a page draws: one for each column, where the whole one is their product."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
import scipy.sparse

from mechanisms import registry
from mechanisms.matrix.answering import MatrixMechanism, strategy_of
from mechanisms.matrix.marginals.answering import MarginalMechanism
from mechanisms.matrix.mechanism import QueryPlan
from mechanisms.matrix.strategy.product import Kronecker
from mechanisms.matrix.strategy_arrays import measured_sets
from mechanisms.verify.chart_maps import MOST

# Sets of columns whose shares are drawn.
MOST_SETS = 60
# Weights of a strategy, noughts among them, up to which its factors are found.
MOST_DIVIDED = 2**22


@dataclass
class StrategyFactors:
    """How many sums and cells each has, and its weights, line after line, where a chart shows each of them.

    shares: of the cost, of each set of columns, where these are measured instead; the largest of many.
    """

    sums: list[int] = field(default_factory=list)
    cells: list[int] = field(default_factory=list)
    weights: list[np.ndarray] = field(default_factory=list)
    shares: list[np.ndarray] = field(default_factory=list)


def factors(plan: QueryPlan, matrix: scipy.sparse.csc_array | None = None) -> StrategyFactors:
    """matrix: of a strategy that was searched for; None where it is the plan's own, or too large for one matrix.

    It is divided into one factor for each column. Where it is no product there are none, and its sums are all that is
    known of them: they divide those of the whole.
    """
    own = StrategyFactors(cells=list(plan.domain.shape))
    mechanism = registry.query_mechanism(plan.mechanism)
    if isinstance(mechanism, MarginalMechanism):
        _names, information = measured_sets(plan, mechanism)
        cost = information * mechanism.closed(plan).rests
        own.shares.append((cost / cost.sum())[np.sort(np.argsort(-cost, kind="stable")[:MOST_SETS])])
        return own
    if mechanism.optimises or mechanism.is_uploaded:
        found = (
            []
            if matrix is None or math.prod(matrix.shape) > MOST_DIVIDED
            else divided(matrix, plan.domain.shape)
        )
        own.sums += [len(factor) for factor in found] or _divisors(int(plan.details.get("sums", 0)))
    else:
        strategy = strategy_of(mechanism, plan) if isinstance(mechanism, MatrixMechanism) else None
        every = strategy.factors if isinstance(strategy, Kronecker) else ()
        own.sums += [factor.rows for factor in every]
        small = (factor for factor in every if factor.rows * factor.size <= MOST)
        found = [scipy.sparse.coo_array(factor.matrix()).toarray().astype(float) for factor in small]
    own.weights += [factor.ravel() for factor in found if factor.size <= MOST]
    return own


def divided(matrix: scipy.sparse.csc_array, shape: Sequence[int]) -> list[np.ndarray]:
    """Matrices whose Kronecker product it is, up to a factor: one with as many cells as each column; or none."""
    whole = matrix.toarray().astype(float)
    if whole.shape[1] != math.prod(shape) or not whole.any():
        return []
    return _divided(whole, list(shape)) or []


def _divided(whole: np.ndarray, shape: list[int]) -> list[np.ndarray] | None:
    if len(shape) < 2:
        return [whole]
    for sums in _divisors(len(whole)):
        parts = whole.reshape(sums, -1, shape[0], math.prod(shape[1:]))
        # Where the largest weight is, each factor has its own largest.
        first, second, third, fourth = np.unravel_index(int(parts.argmax()), parts.shape)
        own, rest = parts[:, second, :, fourth], parts[first, :, third, :]
        if np.allclose(
            own[:, None, :, None] * rest[None, :, None, :], parts * parts.max(), rtol=1e-9, atol=0.0
        ):
            further = _divided(rest, shape[1:])
            if further is not None:
                return [own, *further]
    return None


def _divisors(number: int) -> list[int]:
    small = [part for part in range(1, math.isqrt(number) + 1) if number % part == 0]
    return sorted({*small, *(number // part for part in small)})
