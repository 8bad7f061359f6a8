"""Matrices of a strategy that a page draws: one for each column, where the whole one is their product."""

from __future__ import annotations

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
from mechanisms.verify.products import divisors

# Sets of columns whose shares are drawn.
MOST_SETS = 60


@dataclass
class StrategyFactors:
    """How many sums and cells each has, and its weights, line after line, where a chart shows each of them.

    shares: of the cost, of each set of columns, where these are measured instead; the largest of many.
    """

    sums: list[int] = field(default_factory=list)
    cells: list[int] = field(default_factory=list)
    weights: list[np.ndarray] = field(default_factory=list)
    shares: list[np.ndarray] = field(default_factory=list)


def factors(plan: QueryPlan, searched: Kronecker | None = None) -> StrategyFactors:
    """searched: a strategy that was searched for; None where it is the plan's own, or no product.

    Of one that is no product its sums are all that is known: they divide those of the whole.
    """
    own = StrategyFactors(cells=list(plan.domain.shape))
    mechanism = registry.query_mechanism(plan.mechanism)
    if isinstance(mechanism, MarginalMechanism):
        _names, information = measured_sets(plan, mechanism)
        cost = information * mechanism.closed(plan).rests
        own.shares.append((cost / cost.sum())[np.sort(np.argsort(-cost, kind="stable")[:MOST_SETS])])
        return own
    if mechanism.optimises or mechanism.is_uploaded:
        every = searched.factors if searched is not None else ()
        own.sums += [factor.rows for factor in every] or divisors(int(plan.details.get("sums", 0)))
    else:
        strategy = strategy_of(mechanism, plan) if isinstance(mechanism, MatrixMechanism) else None
        every = strategy.factors if isinstance(strategy, Kronecker) else ()
        own.sums += [factor.rows for factor in every]
    small = (factor for factor in every if factor.rows * factor.size <= MOST)
    own.weights += [
        scipy.sparse.coo_array(factor.matrix()).toarray().astype(float).ravel() for factor in small
    ]
    return own
