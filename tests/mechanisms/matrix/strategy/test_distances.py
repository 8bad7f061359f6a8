"""How far apart two columns of a strategy are, against all pairs of the matrix written out."""

from __future__ import annotations

import math
from fractions import Fraction
from functools import reduce

import numpy as np
import pytest
from scipy import sparse

from mechanisms.accounting import Definition, Loss, Neighbours, PrivacyUnit
from mechanisms.domain import Domain, Integer
from mechanisms.matrix.answering import MatrixMechanism, strategy_of
from mechanisms.matrix.fixed_strategies import HaarStrategy
from mechanisms.matrix.joint_strategies import SplitUnionStrategy
from mechanisms.matrix.mechanism import QueryPlan
from mechanisms.matrix.optimised import GaussianOptimumStrategy
from mechanisms.matrix.strategy.product import FewSums, Kronecker, Stacked
from mechanisms.matrix.strategy.rows import IdentityRows, RangeRows, Rows, TotalRows
from mechanisms.matrix.strategy.weights import MatrixRows
from mechanisms.matrix.workload.factor import AllRange, Prefix, Width
from mechanisms.matrix.workload.text import read_workload

REPLACED = PrivacyUnit(Neighbours.REPLACE_ONE)


def farthest(matrix: np.ndarray) -> int:
    """The largest squared distance of two columns of (p, n) integers, in Python's integers; of one column, its norm."""
    columns = matrix.astype(object).T
    gram = columns @ columns.T
    own = np.diag(gram)
    return int((own[:, None] + own - 2 * gram).max()) or int(own.max())


def dense(rows: Rows) -> np.ndarray:
    matrix = rows.matrix()
    return matrix if isinstance(matrix, np.ndarray) else matrix.toarray()


def product_of(factors: list[Rows]) -> np.ndarray:
    return reduce(np.kron, [dense(f) for f in factors])


def a_factor(random: np.random.Generator) -> Rows:
    """One of every kind of strategy over 1 to 5 cells: with weights of either sign, of norms alike or all different."""
    n = int(random.integers(1, 6))
    kinds = [IdentityRows, TotalRows, lambda n: RangeRows(Prefix(n)), lambda n: RangeRows(AllRange(n))]
    kind = int(random.integers(8))
    if kind < len(kinds):
        made: Rows = kinds[kind](n)
        return made
    matrix = random.integers(-4, 5, size=(int(random.integers(1, 6)), n))
    if kind == 6:
        matrix = np.abs(matrix)
    if kind == 7:
        return MatrixRows(sparse.csr_array(matrix))
    return MatrixRows(matrix)


@pytest.mark.sampled
@pytest.mark.parametrize("seed", range(200))
def test_the_farthest_columns_of_a_product_are_found(seed: int) -> None:
    random = np.random.default_rng(seed)
    factors = [a_factor(random) for _ in range(int(random.integers(1, 4)))]
    assert Kronecker(factors).replaced.l2_squared == farthest(product_of(factors))


@pytest.mark.parametrize("seed", range(100))
def test_the_farthest_columns_of_a_union_are_found(seed: int) -> None:
    random = np.random.default_rng(seed)
    shape = random.integers(1, 5, size=2)
    parts = [
        [MatrixRows(random.integers(-3, 4, size=(int(random.integers(1, 5)), n))) for n in shape]
        for _ in range(int(random.integers(1, 4)))
    ]
    multiples = [int(m) for m in random.integers(1, 2**30, size=len(parts))]
    union = Stacked([Kronecker(part) for part in parts], multiples)
    whole = np.vstack([m * product_of(part).astype(object) for m, part in zip(multiples, parts, strict=True)])
    assert union.replaced.l2_squared == farthest(whole)
    few = FewSums([Kronecker(part) for part in parts], multiples)
    assert few.replaced.l2_squared >= farthest(whole)


@pytest.mark.slow
def test_a_column_of_thousands_of_cells_alone_pays_for_its_farthest_pair_and_no_more() -> None:
    """Two columns of all running totals of n cells are n - 1 apart at most; above 2,048 cells twice that was paid."""
    for cells in (2048, 2049, 3000):
        assert Kronecker([RangeRows(Prefix(cells))]).replaced.l2_squared == cells - 1
        assert Kronecker([TotalRows(3), RangeRows(Prefix(cells))]).replaced.l2_squared == cells - 1
    uneven = np.random.default_rng(3).integers(0, 4, size=(3, 2100))
    gram = uneven.T @ uneven
    apart = (np.diag(gram)[:, None] + np.diag(gram) - 2 * gram).max()
    assert Kronecker([MatrixRows(uneven)]).replaced.l2_squared == apart


@pytest.mark.slow
@pytest.mark.parametrize("factor", [Prefix(700), AllRange(90), Width(2100, 30)], ids=str)
def test_the_farthest_columns_of_many_ranges_are_found(factor: Prefix | AllRange | Width) -> None:
    rows, few = RangeRows(factor), MatrixRows(np.array([[2, 1, 0], [-1, 2, 3]]))
    gram, other = (np.rint(r.gram()).astype(np.int64) for r in (rows, few))
    own = np.diag(gram)
    assert rows.replaced.l2_squared == (own[:, None] + own - 2 * gram).max()
    best = max(
        int((other[a, a] * own[:, None] + other[b, b] * own - 2 * other[a, b] * gram).max())
        for a in range(3)
        for b in range(3)
    )
    found = Kronecker([rows, few]).replaced.l2_squared
    if factor.cells <= 2048:
        assert found == best
    # Columns that are too many for all pairs have a bound that is exact where they are equally long.
    assert best <= found <= best * 1.1


def test_columns_too_many_for_all_pairs_are_bounded() -> None:
    rows = RangeRows(Prefix(2**14))
    assert rows.replaced.l2_squared >= 2**14 - 1
    assert Kronecker([rows, IdentityRows(3)]).replaced.l2_squared >= 2 * 2**14


def planned(mechanism: MatrixMechanism, text: str, domain: Domain, unit: PrivacyUnit) -> QueryPlan:
    workload, loss = read_workload(text, domain), Loss(Definition.ZCDP, Fraction(1, 2), unit)
    found = (
        mechanism.optimise(domain, workload, Definition.ZCDP, lambda _done, _all: None)
        if mechanism.optimises
        else None
    )
    return mechanism.plan(domain, workload, loss, found)


LONG = Domain((Integer("x", lower=1, upper=500),))
WIDE = Domain((Integer("x", lower=1, upper=20), Integer("y", lower=1, upper=30)))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("mechanism", "text", "domain"),
    [
        (GaussianOptimumStrategy(), 'prefix("x")', LONG),
        (GaussianOptimumStrategy(), 'prefix("x") x prefix("y")', WIDE),
        (GaussianOptimumStrategy(), 'ranges("x") x ranges("y")', WIDE),
        (HaarStrategy(), 'prefix("x")', LONG),
        (SplitUnionStrategy(), 'prefix("x") + ranges("y")', WIDE),
    ],
    ids=lambda v: getattr(v, "name", v if isinstance(v, str) else ""),
)
def test_replacing_a_row_costs_no_more_than_twice_the_square_of_adding_one(
    mechanism: MatrixMechanism, text: str, domain: Domain
) -> None:
    """Two columns that point nowhere near away from each other are √2 apart, whatever the signs of their entries."""
    added, moved = planned(mechanism, text, domain, PrivacyUnit()), planned(mechanism, text, domain, REPLACED)
    assert moved.sensitivity.l2_squared <= 2 * added.sensitivity.l2_squared
    strategy = strategy_of(mechanism, moved)
    columns = strategy.matrix().toarray().astype(np.float64)
    gram = columns.T @ columns
    gaps = np.diag(gram)[:, None] + np.diag(gram) - 2 * gram
    # Sums of squares up to 2^53 are exact in floats.
    assert moved.sensitivity.l2_squared == pytest.approx(gaps.max(), rel=1e-12)
    assert math.sqrt(moved.noise.variance / added.noise.variance) == pytest.approx(
        math.sqrt(gaps.max() / np.diag(gram).max()), rel=1e-6
    )
