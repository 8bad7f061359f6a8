"""Matrices of a strategy that a page draws: one for each column, where the whole one is their product."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np
import scipy.sparse

from mechanisms import registry
from mechanisms.matrix.answering import MatrixMechanism, strategy_of
from mechanisms.matrix.mechanism import QueryPlan
from mechanisms.matrix.strategy.product import Kronecker
from mechanisms.verify.chart_maps import MOST


@dataclass
class StrategyFactors:
    """How many sums and cells each has, and its weights, line after line, where a chart shows each of them."""

    sums: list[int] = field(default_factory=list)
    cells: list[int] = field(default_factory=list)
    weights: list[np.ndarray] = field(default_factory=list)


def factors(plan: QueryPlan, *, is_known: bool) -> StrategyFactors:
    """is_known: whether the strategy is that of the plan; one that was searched for stands in a bundle as a whole.

    Then each factor has as many cells as its column, and its sums divide those of the whole.
    """
    own = StrategyFactors(cells=list(plan.domain.shape))
    if not is_known:
        sums = int(plan.details.get("sums", 0))
        own.sums += [part for part in range(1, math.isqrt(sums) + 1) if sums % part == 0]
        own.sums += [sums // part for part in own.sums]
        return own
    mechanism = registry.query_mechanism(plan.mechanism)
    strategy = strategy_of(mechanism, plan) if isinstance(mechanism, MatrixMechanism) else None
    if isinstance(strategy, Kronecker):
        for factor in strategy.factors:
            own.sums.append(factor.rows)
            if factor.rows * factor.size <= MOST:
                own.weights.append(scipy.sparse.coo_array(factor.matrix()).toarray().astype(float).ravel())
    return own
