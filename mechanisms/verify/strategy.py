"""Whether a strategy that was searched for, or uploaded, has the sensitivity that its noise is for.

The search is not repeated: how a strategy was found has no part in what it promises.
"""

from __future__ import annotations

import io
from collections.abc import Mapping

import numpy as np
import scipy.sparse

from mechanisms.accounting import Neighbours
from mechanisms.arrays import Floats
from mechanisms.calibration import law_for
from mechanisms.matrix.answering import refined_estimate
from mechanisms.matrix.answers import standard_errors
from mechanisms.matrix.mechanism import QueryPlan, QueryResult
from mechanisms.matrix.reconstruction import RECONSTRUCTION, possible_cells
from mechanisms.matrix.strategy.joint import Uploaded
from mechanisms.matrix.strategy.product import Kronecker, Strategy
from mechanisms.matrix.strategy.weights import MatrixRows
from mechanisms.noise.sum_quantiles import half_widths
from mechanisms.postprocess import lattice_simplex
from mechanisms.sensitivity import Sensitivity, unit_sensitivity
from mechanisms.verify.bundle import Bundle
from mechanisms.verify.finding import Finding, State
from mechanisms.verify.products import of_factors, product_of

WHAT, STRATEGY = "strategy", "strategy.npz"
# What `scipy.sparse.save_npz` writes of each matrix.
KEYS = ("data", "indices", "indptr", "shape", "format")
# Cells up to which all pairs of them are compared.
MOST_CELLS = 4096
# No weight is as large; bits of one half of a difference of two.
LARGEST_WEIGHT, _HALF = 2.0**34, 17
# Cells, sums and queries up to which answers are worked out again: the time grows with their cube.
MOST_SOLVED = 2048


def check(bundle: Bundle, plan: QueryPlan) -> Finding:
    """From the matrix in the bundle: the largest norms of its columns, and distances of two, in integers."""
    if law_for(plan.loss, plan.sensitivity) != plan.noise:
        return Finding(WHAT, State.FAILED, "the noise is not what the loss asks for at this sensitivity")
    matrix = matrix_of(bundle)
    product = product_in(bundle, plan, matrix)
    if product is None and (matrix is None or matrix.shape[1] > MOST_CELLS):
        return Finding(
            WHAT,
            State.NOT_CHECKED,
            "the noise fits the sensitivity that is stated; the matrix is too large to show that this is right",
        )
    if matrix is not None and not _is_measurable(matrix):
        return Finding(WHAT, State.FAILED, "its weights are larger than any that are measured")
    if plan.counted != (plan.domain.names,):
        return Finding(WHAT, State.FAILED, "it counts other columns than those of the domain")
    sums = product or MatrixNorms(matrix)
    moved = unit_sensitivity(plan.loss.unit, sums.column, sums.replaced)
    fault = ""
    if (moved.l1 > plan.sensitivity.l1) or (moved.l2_squared > plan.sensitivity.l2_squared):
        fault = f"a person moves its sums by {moved.l1}, and the noise is for {plan.sensitivity.l1}"
    # Distances of rows may have been bounded from above, which costs more than it needs to.
    elif plan.loss.unit.neighbours is Neighbours.ADD_REMOVE and moved != plan.sensitivity:
        fault = "a person moves its sums by less than is stated"
    return Finding.of(WHAT, fault, f"a person moves its {sums.size:,} sums by no more than the noise is for")


def sets_of(bundle: Bundle) -> list[str]:
    """The names of the sets of columns that were measured, where a strategy is one of marginal tables."""
    if STRATEGY not in bundle.entries:
        return []
    with np.load(io.BytesIO(bundle.content(STRATEGY)), allow_pickle=False) as arrays:
        return list(map(str, arrays["columns"])) if "columns" in arrays.files else []


def matrix_of(bundle: Bundle) -> scipy.sparse.csc_array | None:
    """The strategy, where it is one matrix. Raises ValueError for weights that are not whole."""
    with np.load(io.BytesIO(bundle.content(STRATEGY)), allow_pickle=False) as arrays:
        return scipy.sparse.csc_array(_sparse(arrays)) if "indptr" in arrays.files else None


def product_in(bundle: Bundle, plan: QueryPlan, matrix: scipy.sparse.csc_array | None) -> Kronecker | None:
    """The strategy, where it is a product: a matrix that is one, or as many factors as there are columns.

    A union of products that is too large for one matrix is none.
    """
    shape = plan.workload.shape
    if matrix is not None:
        return product_of(matrix, shape)
    with np.load(io.BytesIO(bundle.content(STRATEGY)), allow_pickle=False) as arrays:
        prefixes = [f"part1_column{number}_" for number in range(1, len(shape) + 1)]
        if {f"{prefix}{key}" for prefix in prefixes for key in KEYS} != set(arrays.files):
            return None
        factors = [_sparse(arrays, prefix) for prefix in prefixes]
    if tuple(factor.shape[1] for factor in factors) != tuple(shape):
        raise ValueError("its factors are of other cells than the domain has")
    return of_factors(factors)


def _sparse(arrays: Mapping[str, np.ndarray], prefix: str = "") -> scipy.sparse.csr_array:
    data = arrays[f"{prefix}data"]
    integers = data.astype(np.int64)
    if not np.array_equal(integers, data):
        raise ValueError("a weight is not whole")
    parts = (integers, arrays[f"{prefix}indices"], arrays[f"{prefix}indptr"])
    return scipy.sparse.csr_array(parts, shape=tuple(arrays[f"{prefix}shape"]))


def result(bundle: Bundle, plan: QueryPlan) -> QueryResult | None:
    """Answers, errors, intervals and cells by least squares from the bundle's own matrix; None where it is too large.

    Of small ones answers come by dense linear algebra in floats, apart from the code that released them.
    """
    matrix = matrix_of(bundle)
    if matrix is None or max(matrix.shape) > MOST_SOLVED or plan.workload.queries > MOST_SOLVED:
        product = product_in(bundle, plan, matrix)
        return None if product is None else _of_product(bundle, plan, product)
    inverse = np.linalg.pinv(matrix.toarray().astype(float))
    combined = np.stack([plan.workload.answers(column) for column in inverse.T], axis=1)
    errors = np.sqrt(plan.noise.variance) * np.linalg.norm(combined, axis=1)
    own = Uploaded(MatrixRows(scipy.sparse.csr_array(matrix)), plan.domain.shape)
    estimate = refined_estimate(own, bundle.measurement)
    return _with_cells(bundle, plan, own, combined @ bundle.measurement, errors, estimate)


def _of_product(bundle: Bundle, plan: QueryPlan, product: Kronecker) -> QueryResult:
    """Factor by factor."""
    estimate = refined_estimate(product, bundle.measurement)
    errors = standard_errors(plan.noise, product, plan.workload)
    return _with_cells(bundle, plan, product, plan.workload.answers(estimate), errors, estimate)


def _with_cells(
    bundle: Bundle, plan: QueryPlan, own: Strategy, answers: Floats, errors: Floats, estimate: Floats
) -> QueryResult:
    cells, way = possible_cells(plan.details[RECONSTRUCTION.name], own, bundle.measurement, estimate)
    return QueryResult(
        answers=answers,
        standard_errors=errors,
        half_widths=half_widths(plan.noise, errors),
        estimate=estimate,
        cells=cells,
        counts=lattice_simplex(cells, max(0, round(float(cells.sum())))),
        reconstruction=way,
    )


def _is_measurable(matrix: scipy.sparse.csc_array) -> bool:
    """Whether its weights are so small that sums of a billion rows fit 64 bits."""
    return bool(np.abs(matrix.data.astype(float)).max(initial=0.0) < LARGEST_WEIGHT)


class MatrixNorms:
    """A matrix as it is, of which all pairs of cells are compared."""

    def __init__(self, matrix: scipy.sparse.csc_array | None) -> None:
        assert matrix is not None
        self.size = matrix.shape[0]
        self.column, self.replaced = _columns(matrix), _distances(matrix)


def _columns(matrix: scipy.sparse.csc_array) -> Sensitivity:
    """The largest norms of a column."""
    columns = np.split(matrix.data[:, None], matrix.indptr[1:-1])
    l1 = max(int(np.abs(column).sum()) for column in columns)
    return Sensitivity(l1, max(map(_largest_squared, columns)))


def _distances(matrix: scipy.sparse.csc_array) -> Sensitivity:
    """The largest distances of two columns."""
    dense = matrix.toarray()
    l1 = l2_squared = 0
    for cell in range(dense.shape[1] - 1):
        apart = np.abs(dense[:, cell + 1 :] - dense[:, [cell]])
        l1 = max(l1, int(apart.sum(axis=0).max()))
        l2_squared = max(l2_squared, _largest_squared(apart))
    return Sensitivity(l1, l2_squared)


def _largest_squared(columns: np.ndarray) -> int:
    """The largest sum of squares of a column, exactly, though it need not fit 64 bits.

    columns: (p, n) int64, no number beyond 2^35, of which each is high · 2^17 + low.
    """
    high, low = np.divmod(np.abs(columns), 1 << _HALF)
    sums = [(one * other).sum(axis=0).tolist() for one, other in ((high, high), (high, low), (low, low))]
    return max(
        ((hh << 2 * _HALF) + (hl << _HALF + 1) + ll for hh, hl, ll in zip(*sums, strict=True)), default=0
    )
