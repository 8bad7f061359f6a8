"""Products and unions of strategies against their matrices, written out."""

from __future__ import annotations

import itertools
from functools import reduce

import numpy as np
import pytest
from scipy import sparse

from mechanisms.accounting import Definition
from mechanisms.matrix.strategy.product import FewSums, Kronecker, Stacked, Strategy
from mechanisms.matrix.strategy.rows import IdentityRows, RangeRows, TotalRows
from mechanisms.matrix.strategy.weights import MatrixRows
from mechanisms.matrix.workload.factor import AllRange, Explicit, Identity, Prefix
from mechanisms.matrix.workload.union import Term
from mechanisms.protocol import PlanError
from mechanisms.sensitivity import Sensitivity

A3 = np.array([[2, 0, 1], [0, 3, -1], [1, 1, 1], [0, 0, 2]])
A4 = np.array([[1, 1, 1, 1], [2, 0, 0, 0], [0, 2, 0, 0], [0, 0, 2, 0], [0, 0, 0, 2]])
ONES = np.ones((1, 3), dtype=np.int64)
PRODUCT = Kronecker([MatrixRows(A3), IdentityRows(2), MatrixRows(sparse.csr_array(A4))])
FLAT = Kronecker([MatrixRows(ONES), IdentityRows(2), MatrixRows(A4)])
STRATEGIES: list[Strategy] = [
    Kronecker([MatrixRows(A3)]),
    PRODUCT,
    FLAT,
    Stacked([PRODUCT, FLAT], [3, 2]),
    FewSums([PRODUCT, FLAT], [3, 2]),
    Stacked([FLAT, Kronecker([MatrixRows(A3), MatrixRows(np.array([[1, 1]])), IdentityRows(4)])], [1, 5]),
    FewSums([FLAT, Kronecker([MatrixRows(A3), TotalRows(2), IdentityRows(4)])], [1, 5]),
    FewSums([FLAT, Kronecker([TotalRows(3), TotalRows(2), IdentityRows(4)])], [2, 3]),
]
each = pytest.mark.parametrize("strategy", STRATEGIES, ids=lambda s: f"{type(s).__name__} {s.shape}")
COUNTED = Explicit(np.array([[1.0, 2, 0], [0, -1, 0.5]]))


def matrix(strategy: Strategy) -> np.ndarray:
    """(p, n) integers."""
    cells = int(np.prod(strategy.shape))
    return np.stack([strategy.answers(cell) for cell in list(np.eye(cells, dtype=np.int64))], axis=1)


def terms(strategy: Strategy) -> list[Term]:
    if len(strategy.shape) == 1:
        return [Term(1, {0: AllRange(3)}), Term(1, {0: COUNTED}), Term(1, {})]
    return [
        Term(1, {0: COUNTED, 1: Prefix(2), 2: AllRange(4)}),
        Term(1, {0: Identity(3), 2: Prefix(4)}),
        Term(1, {1: Identity(2), 2: Identity(4)}),
        Term(1, {}),
    ]


def workload(term: Term, shape: tuple[int, ...]) -> np.ndarray:
    return reduce(np.kron, [f.times(np.eye(f.size)) for f in term.all_factors(shape)])


@pytest.mark.parametrize("product", [PRODUCT, FLAT], ids=["product", "flat"])
def test_a_product_measures_the_kronecker_product(product: Kronecker) -> None:
    parts = [f.times(np.eye(f.size, dtype=np.int64)) for f in product.factors]
    assert (matrix(product) == reduce(np.kron, parts)).all()


def test_a_union_measures_its_parts_times_their_multiples() -> None:
    wanted = np.concatenate([3 * matrix(PRODUCT), 2 * matrix(FLAT)])
    assert (matrix(STRATEGIES[3]) == wanted).all()


@each
def test_a_row_moves_the_answers_by_the_columns_norms(strategy: Strategy) -> None:
    columns = matrix(strategy).T
    largest = Sensitivity(int(np.abs(columns).sum(axis=1).max()), int((columns**2).sum(axis=1).max()))
    if isinstance(strategy, FewSums):
        assert strategy.column.l1 >= largest.l1
        assert strategy.column.l2_squared >= largest.l2_squared
    else:
        assert strategy.column == largest
    gaps = [a - b for a, b in itertools.combinations(columns, 2)]
    assert max(int(np.abs(g).sum()) for g in gaps) <= strategy.replaced.l1
    assert max(int((g**2).sum()) for g in gaps) <= strategy.replaced.l2_squared


def test_the_l1_distance_of_columns_is_exact_for_one_column() -> None:
    gaps = [a - b for a, b in itertools.combinations(A3.T, 2)]
    assert STRATEGIES[0].replaced.l1 == max(int(np.abs(g).sum()) for g in gaps)


@each
def test_the_estimate_is_the_least_squares_one(strategy: Strategy) -> None:
    A = matrix(strategy)
    values = np.random.default_rng(1).integers(-50, 50, size=strategy.size)
    assert strategy.estimate(values) == pytest.approx(np.linalg.pinv(A) @ values, abs=1e-8)
    assert strategy.gram_times(np.arange(A.shape[1])) == pytest.approx(A.T @ A @ np.arange(A.shape[1]))


@each
def test_variances_are_those_of_least_squares(strategy: Strategy) -> None:
    A = matrix(strategy)
    inverse = np.linalg.pinv(A.T @ A)
    for term in terms(strategy):
        W = workload(term, strategy.shape)
        if strategy.dimensions(term)[0] == strategy.dimensions(term)[1]:
            wanted = np.diag(W @ inverse @ W.T)
            assert strategy.variances(term) == pytest.approx(wanted, abs=1e-9)
            assert strategy.trace(term) == pytest.approx(wanted.sum())


@each
def test_dimensions_are_those_of_the_row_spaces(strategy: Strategy) -> None:
    A = matrix(strategy)
    rank = np.linalg.matrix_rank
    for term in terms(strategy):
        W = workload(term, strategy.shape)
        answered, asked = strategy.dimensions(term)
        lacking = rank(np.concatenate([A, W])) - rank(A)
        assert asked == rank(W)
        assert (asked - answered == 0) == (lacking == 0)
        assert answered == rank(A) + rank(W) - rank(np.concatenate([A, W]))


def test_parts_get_their_shares_of_the_norm() -> None:
    union = Stacked.of([PRODUCT, FLAT], [0.7, 0.3], Definition.PURE)
    first = union.multiples[0] * PRODUCT.column.l1
    assert first / (first + union.multiples[1] * FLAT.column.l1) == pytest.approx(0.7, abs=1e-3)
    union = Stacked.of([PRODUCT, FLAT], [0.8, 0.6], Definition.ZCDP)
    squares = [m**2 * p.column.l2_squared for m, p in zip(union.multiples, union.parts, strict=True)]
    assert squares[0] / sum(squares) == pytest.approx(0.64, abs=2e-3)


def test_norms_beyond_64_bits_are_exact() -> None:
    wide = MatrixRows(np.array([[2**18, 1], [0, 2**18]]))
    part = Kronecker([wide, wide])
    union = Stacked([part, part], [2**3, 1])
    assert part.column.l2_squared == (2**36 + 1) ** 2
    assert union.column == Sensitivity((2**3 + 1) * (2**18 + 1) ** 2, (2**6 + 1) * (2**36 + 1) ** 2)


def test_a_union_over_many_cells_is_refused() -> None:
    part = Kronecker([IdentityRows(5000)])
    with pytest.raises(PlanError, match="all 5,000 cells together"):
        Stacked([part, part], [1, 2])
    with pytest.raises(PlanError, match="A union of 10,000 sums over 5,000 cells"):
        Stacked.of([part, part], [1, 1], Definition.PURE)


def test_few_sums_of_many_cells_are_reconciled() -> None:
    """Running totals over each of two columns: both lists end with the number of rows, and now agree on it."""
    over = [
        Kronecker([RangeRows(Prefix(300)), TotalRows(400)]),
        Kronecker([TotalRows(300), RangeRows(Prefix(400))]),
    ]
    union = Stacked.of(over, [0.5, 0.5], Definition.PURE)
    assert isinstance(union, FewSums)
    counts = np.random.default_rng(1).integers(0, 9, 120_000)
    exact = union.answers(counts)
    noisy = exact + np.random.default_rng(2).integers(-(10**6), 10**6, union.size)
    asked = [Term(1, {0: Prefix(300)}), Term(1, {1: Prefix(400)})]
    one, other = (t.answers(union.estimate(noisy).reshape(300, 400)) for t in asked)
    assert one[-1] == pytest.approx(other[-1])
    assert asked[0].answers(union.estimate(exact).reshape(300, 400)) == pytest.approx(
        asked[0].answers(counts.reshape(300, 400))
    )
    # The number of rows is better known than from either list alone.
    alone = [m**-2 for m in union.multiples]
    assert union.variances(asked[0])[-1] == pytest.approx(1 / (1 / alone[0] + 1 / alone[1]))
    assert union.dimensions(asked[0]) == (300, 300)
    assert union.dimensions(Term(1, {0: Identity(300), 1: Prefix(2 * 200)})) == (120_000 - 1, 120_000)
