"""The strategy of a plan as pictures for the pages."""

from __future__ import annotations

import numpy as np
import scipy.sparse

from dpportal.charts.queries import matrix_figure, shares_figure
from dpportal.charts.style import Figure
from dpportal.releases.products.queries.words import label_text
from mechanisms import registry
from mechanisms.matrix.answering import MatrixMechanism, strategy_of
from mechanisms.matrix.marginals.answering import MarginalMechanism
from mechanisms.matrix.mechanism import QueryPlan
from mechanisms.matrix.strategy.product import Kronecker
from mechanisms.matrix.strategy_arrays import MAX_WEIGHTS, measured_sets, nonzero_weights

MAX_PICTURES = 4


def strategy_figures(plan: QueryPlan) -> list[Figure]:
    """The strategy drawn: a matrix for each column, or the whole one of a union, or the cost of each set of columns."""
    mechanism = registry.query_mechanism(plan.mechanism)
    if isinstance(mechanism, MarginalMechanism):
        names, information = measured_sets(plan, mechanism)
        cost = information * mechanism.closed(plan).rests
        return [shares_figure([*map(label_text, names)], cost / cost.sum())]
    assert isinstance(mechanism, MatrixMechanism)
    strategy = strategy_of(mechanism, plan)
    if isinstance(strategy, Kronecker):
        # Queries that were uploaded over all cells have a single axis.
        names = list(plan.domain.for_readers.names) if plan.workload.shape == plan.domain.shape else [""]
        factors = zip(names, strategy.factors, strict=True)
        wide = [(name, factor.matrix()) for name, factor in factors if factor.rows > 1 or factor.size > 1]
        return [_matrix_picture(matrix, name) for name, matrix in wide[:MAX_PICTURES]]
    return [_matrix_picture(strategy.matrix(), "")] if nonzero_weights(strategy) <= MAX_WEIGHTS else []


def _matrix_picture(matrix: np.ndarray | scipy.sparse.csr_array, column: str) -> Figure:
    return matrix_figure(scipy.sparse.coo_array(matrix), column)
