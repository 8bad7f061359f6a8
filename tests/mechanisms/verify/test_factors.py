"""The matrices that a page draws of a strategy are those of the plan, and as large as a searched one's may be."""

from __future__ import annotations

from fractions import Fraction

import pytest

from mechanisms import registry
from mechanisms.accounting import Definition, Loss
from mechanisms.domain import Domain, Integer
from mechanisms.matrix.workload.text import read_workload
from mechanisms.verify.factors import factors

DOMAIN = Domain((Integer("age", lower=0, upper=3), Integer("year", lower=1, upper=2)))


@pytest.fixture
def plan():
    mechanism = registry.query_mechanism("identity-strategy")
    workload = read_workload('identity("age") x identity("year")', DOMAIN)
    return mechanism.plan(DOMAIN, workload, Loss(Definition.PURE, Fraction(1)))


def test_each_column_has_a_matrix(plan) -> None:
    known = factors(plan, is_known=True)
    assert known.cells == [4, 2]
    assert [weights.size for weights in known.weights] == [
        sums * cells for sums, cells in zip(known.sums, known.cells, strict=True)
    ]


def test_of_a_strategy_that_was_searched_for_sums_divide_all(plan) -> None:
    searched = factors(plan, is_known=False)
    sums = plan.details["sums"]
    assert {1, sums} <= set(searched.sums) and all(sums % each == 0 for each in searched.sums)
    assert searched.weights == [] and searched.cells == [4, 2]
