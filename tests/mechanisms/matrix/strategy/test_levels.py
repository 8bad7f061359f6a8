"""Strategies that are solved in closed form, against their own matrices and dense inverses of those."""

from __future__ import annotations

import tracemalloc
from fractions import Fraction

import numpy as np
import pytest
from scipy import sparse

from mechanisms.accounting import Definition, Loss, Neighbours, PrivacyUnit
from mechanisms.domain import Domain, Integer
from mechanisms.linear.haar import Haar
from mechanisms.linear.tree import Tree
from mechanisms.matrix.answering import MatrixMechanism
from mechanisms.matrix.fixed_strategies import HaarStrategy, HierarchyStrategy, WorkloadStrategy
from mechanisms.matrix.strategy import pseudo_inverse
from mechanisms.matrix.strategy.hierarchy import best_haar_rows, best_tree_rows
from mechanisms.matrix.strategy.levels import HaarRows, TreeRows
from mechanisms.matrix.strategy.product import Kronecker
from mechanisms.matrix.strategy.ranges import AllRangeRows, RunningRows
from mechanisms.matrix.strategy.rows import Rows
from mechanisms.matrix.strategy.weights import MatrixRows
from mechanisms.matrix.workload.factor import AllRange, Explicit, Factor, Identity, Prefix, Total, Width
from mechanisms.matrix.workload.text import read_workload

SIZES = [1, 2, 3, 4, 5, 7, 8, 11, 16, 21, 37, 64, 91]
UNEVEN = [5, 8, 100]
MB = 2**20


def _scales(cells: int) -> int:
    return (cells - 1).bit_length()


def _tree(cells: int) -> TreeRows:
    random = np.random.default_rng(cells)
    weights = random.integers(0, 4, _scales(cells) + 1) * random.integers(1, 50)
    return TreeRows(Tree((int(weights[0]) + 1, *map(int, weights[1:]))), cells)


def _haar(cells: int) -> HaarRows:
    weights = np.random.default_rng(cells).integers(1, 60, _scales(cells) + 1)
    return HaarRows(Haar(tuple(map(int, weights))), cells)


def _running(cells: int) -> RunningRows:
    return RunningRows(Prefix(cells))


def _all_ranges(cells: int) -> AllRangeRows:
    return AllRangeRows(AllRange(cells))


def _written_out(rows: Rows) -> MatrixRows:
    return MatrixRows(sparse.csr_array(rows.matrix()).toarray())


def _asked(cells: int) -> list[Factor]:
    matrix = np.random.default_rng(cells).normal(size=(3, cells))
    width = Width(cells, min(3, cells))
    return [Identity(cells), Total(cells), Prefix(cells), AllRange(cells), width, Explicit(matrix)]


kinds = pytest.mark.parametrize("made", [_tree, _haar, _running, _all_ranges])
sizes = pytest.mark.parametrize("cells", SIZES)


@kinds
@sizes
class TestClosedForms:
    def test_products_are_those_of_the_matrix(self, made, cells: int) -> None:
        rows = made(cells)
        dense, draw = _written_out(rows), np.random.default_rng(1)
        assert (rows.rows, rows.size) == (dense.rows, dense.size)
        for shape in ((cells,), (cells, 3), (cells, 2, 3)):
            x, y = draw.integers(-9, 9, shape), draw.normal(size=(rows.rows, *shape[1:]))
            assert rows.times(x).dtype == np.int64 and np.array_equal(rows.times(x), dense.times(x))
            assert rows.transposed_times(y) == pytest.approx(dense.transposed_times(y))
            assert rows.gram_times(x) == pytest.approx(dense.gram_times(x))
        assert rows.gram() == pytest.approx(dense.gram())

    def test_least_squares_are_those_of_the_dense_inverse(self, made, cells: int) -> None:
        rows = made(cells)
        dense, draw = _written_out(rows), np.random.default_rng(2)
        assert rows.complete and dense.complete
        for shape in ((cells,), (cells, 3)):
            x = draw.normal(size=shape)
            assert rows.solve(x) == pytest.approx(dense.solve(x), rel=1e-8, abs=1e-12)

    def test_errors_are_those_of_the_dense_inverse(self, made, cells: int) -> None:
        rows = made(cells)
        dense = _written_out(rows)
        for factor in _asked(cells):
            assert rows.trace(factor) == pytest.approx(dense.trace(factor), rel=1e-8), factor
            assert rows.variances(factor) == pytest.approx(dense.variances(factor), rel=1e-8, abs=1e-14)
            assert rows.dimensions(factor) == dense.dimensions(factor)

    def test_what_one_person_moves_is_that_of_the_matrix(self, made, cells: int) -> None:
        rows = made(cells)
        dense = _written_out(rows)
        assert rows.column == dense.column and rows.replaced == dense.replaced
        for norms, wanted in zip(rows.column_sums, dense.column_sums, strict=True):
            assert np.array_equal(norms, wanted)
        beside = MatrixRows(np.array([[2, 1, 0], [-1, 2, 3]]))
        apart = [Kronecker([which, beside]).replaced.l2_squared for which in (rows, dense)]
        assert apart[0] == apart[1]


@pytest.mark.parametrize("cells", UNEVEN)
@pytest.mark.parametrize("definition", list(Definition))
@pytest.mark.parametrize("fitted", [best_tree_rows, best_haar_rows])
def test_weights_that_differ_by_many_orders_lose_nothing(fitted, definition, cells: int) -> None:
    rows = fitted([(1.0, Total(cells)), (1e-6, Prefix(cells))], definition)
    dense = _written_out(rows)
    assert rows.variances(Identity(cells)) == pytest.approx(dense.variances(Identity(cells)), rel=1e-6)
    x = np.random.default_rng(3).normal(size=cells)
    assert rows.gram_times(rows.solve(x)) == pytest.approx(x, abs=1e-6)


def test_levels_have_to_fit_the_cells() -> None:
    for rows, scales in ((TreeRows, Tree((1, 1))), (HaarRows, Haar((1, 1, 1)))):
        with pytest.raises(ValueError, match="do not fit 5 cells"):
            rows(scales, 5)


@pytest.mark.slow
@pytest.mark.parametrize("unit", [PrivacyUnit(), PrivacyUnit(Neighbours.REPLACE_ONE)], ids=str)
@pytest.mark.parametrize("cells", [2**20, 1_000_000])
@pytest.mark.parametrize(
    ("mechanism", "text"),
    [
        (HierarchyStrategy(), 'prefix("x")'),
        (HaarStrategy(), 'prefix("x")'),
        (WorkloadStrategy(), 'prefix("x")'),
        (WorkloadStrategy(), 'width(365, "x")'),
    ],
)
def test_a_million_cells_are_planned_in_little_memory(
    mechanism: MatrixMechanism, text: str, cells: int, unit: PrivacyUnit, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        pseudo_inverse.Inverse, "__init__", lambda *_: pytest.fail("an inverse was written out")
    )
    domain = Domain((Integer("x", lower=1, upper=cells),))
    tracemalloc.start()
    plan = mechanism.plan(domain, read_workload(text, domain), Loss(Definition.PURE, Fraction(1), unit))
    _now, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 200 * MB and plan.total_error > 0


def test_any_ranges_over_many_cells_are_planned_by_levels() -> None:
    domain = Domain((Integer("x", lower=1, upper=10_000),))
    plan = HierarchyStrategy().plan(
        domain, read_workload('width(5, "x")', domain), Loss(Definition.PURE, Fraction(1))
    )
    assert plan.total_error > 0
