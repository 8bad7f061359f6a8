"""The matrices that a page draws of a strategy are those of the plan, and as large as a searched one's may be."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
import scipy.sparse

from mechanisms import registry
from mechanisms.accounting import Definition, Loss
from mechanisms.domain import Domain, Integer
from mechanisms.matrix.workload.text import read_workload
from mechanisms.verify.factors import factors
from mechanisms.verify.products import product_of

DOMAIN = Domain((Integer("age", lower=0, upper=3), Integer("year", lower=1, upper=2)))


@pytest.fixture
def plan():
    mechanism = registry.query_mechanism("identity-strategy")
    workload = read_workload('identity("age") x identity("year")', DOMAIN)
    return mechanism.plan(DOMAIN, workload, Loss(Definition.PURE, Fraction(1)))


def test_each_column_has_a_matrix(plan) -> None:
    known = factors(plan)
    assert known.cells == [4, 2]
    assert [weights.size for weights in known.weights] == [
        sums * cells for sums, cells in zip(known.sums, known.cells, strict=True)
    ]


def test_a_strategy_that_was_searched_for_is_divided_into_one_factor_for_each_column(plan) -> None:
    first, second = np.array([[3, 0, 0, 1], [0, 2, 2, 0], [1, 1, 1, 1]]), np.array([[5, 0], [1, 4]])
    searched = replace(plan, mechanism="p-identity")
    found = factors(searched, product_of(scipy.sparse.csc_array(np.kron(first, second)), DOMAIN.shape))
    assert found.sums == [3, 2] and found.cells == [4, 2]
    for own, true in zip(found.weights, (first, second), strict=True):
        assert np.array_equal(own / own.max(), true.ravel() / true.max())


def test_what_is_no_product_has_no_factors_and_its_sums_divide_all(plan) -> None:
    whole = np.kron(np.eye(4, dtype=np.int64), np.eye(2, dtype=np.int64))
    whole[0, 0] = 7
    searched = replace(plan, mechanism="p-identity")
    for matrix in (None, scipy.sparse.csc_array(whole)):
        found = factors(searched, None if matrix is None else product_of(matrix, DOMAIN.shape))
        assert {1, 8} <= set(found.sums) and all(8 % each == 0 for each in found.sums)
        assert found.weights == []


def test_sets_of_columns_have_their_shares_of_the_cost() -> None:
    """Of two tables that are measured alike one costs as much as the other; the number of rows is told by both."""
    workload = read_workload("marginals(=1)", DOMAIN)
    loss = Loss(Definition.ZCDP, Fraction(1))
    plan = registry.query_mechanism("residual-planner").plan(DOMAIN, workload, loss)
    [shares] = factors(plan).shares
    assert len(shares) == 3 and shares.sum() == pytest.approx(1)
    assert shares[1] != shares[2]
