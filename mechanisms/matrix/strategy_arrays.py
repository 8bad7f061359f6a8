"""A strategy as arrays: what the files of a bundle have, and what a verifier makes again."""

from __future__ import annotations

import math

import numpy as np
import scipy.sparse

from mechanisms.matrix.answering import MatrixMechanism, strategy_of
from mechanisms.matrix.marginals.answering import MarginalMechanism
from mechanisms.matrix.mechanism import QueryMechanism, QueryPlan
from mechanisms.matrix.strategy.joint import Uploaded
from mechanisms.matrix.strategy.product import Kronecker, Stacked, Strategy
from mechanisms.matrix.workload.union import EVERYTHING

# Weights up to which a product is written out as one matrix.
MAX_WEIGHTS = 2**21


def strategy_arrays(mechanism: QueryMechanism, plan: QueryPlan) -> dict[str, np.ndarray]:
    """What was measured: one sparse matrix, or one for each column, or the information about each set of columns."""
    if isinstance(mechanism, MarginalMechanism):
        names, information = measured_sets(plan, mechanism)
        return {"columns": np.array(names), "information": information}
    assert isinstance(mechanism, MatrixMechanism)
    strategy = strategy_of(mechanism, plan)
    if isinstance(strategy, Uploaded) or nonzero_weights(strategy) <= MAX_WEIGHTS:
        return _sparse(strategy.matrix())
    return {
        f"part{i}_column{j}_{key}": array
        for i, part in enumerate(_products(strategy), start=1)
        for j, factor in enumerate(part.factors, start=1)
        for key, array in _sparse(factor.matrix()).items()
    }


def measured_sets(plan: QueryPlan, mechanism: MarginalMechanism) -> tuple[list[str], np.ndarray]:
    """The sets of columns that are measured, and the information that is bought about each."""
    closed = mechanism.closed(plan)
    names = [" × ".join(plan.domain.names[axis] for axis in axes) or EVERYTHING for axes in closed.sets]
    return names, mechanism.information(plan, closed)


def nonzero_weights(strategy: Strategy) -> int:
    """Weights other than 0 of the whole matrix, at most."""
    if isinstance(strategy, Uploaded):
        return int(strategy.matrix().nnz)
    return sum(
        math.prod(int(scipy.sparse.csr_array(f.matrix()).nnz) for f in part.factors)
        for part in _products(strategy)
    )


def _products(strategy: Strategy) -> tuple[Kronecker, ...]:
    """The products that a strategy is made of."""
    if isinstance(strategy, Stacked):
        return strategy.parts
    assert isinstance(strategy, Kronecker)
    return (strategy,)


def _sparse(matrix: np.ndarray | scipy.sparse.csr_array) -> dict[str, np.ndarray]:
    """A matrix as scipy.sparse.load_npz reads it."""
    rows = scipy.sparse.csr_array(matrix)
    parts = {"data": rows.data, "indices": rows.indices, "indptr": rows.indptr, "shape": np.array(rows.shape)}
    return {**parts, "format": np.array(b"csr")}
