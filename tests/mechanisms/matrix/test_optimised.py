"""Searched strategies as mechanisms: their errors by many runs, the grid's price, and what they refuse."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from mechanisms.accounting import Definition, Loss
from mechanisms.domain import Categorical, Domain, Integer
from mechanisms.matrix.answering import MatrixMechanism, strategy_of
from mechanisms.matrix.fixed_strategies import CellsStrategy
from mechanisms.matrix.mechanism import Optimised, QueryPlan
from mechanisms.matrix.optimised import GaussianOptimumStrategy, PIdentityStrategy, merged
from mechanisms.matrix.workload.factor import AllRange, Explicit, Factor, Prefix
from mechanisms.matrix.workload.text import read_workload
from mechanisms.matrix.workload.union import Term, Workload
from mechanisms.protocol import PlanError
from tests.mechanisms.matrix.montecarlo import deviation

SMALL = Domain((Integer("age", lower=0, upper=7), Categorical("sex", values=("F", "Other"))))
LOSSES = {
    Definition.PURE: Loss(Definition.PURE, Fraction(1)),
    Definition.ZCDP: Loss(Definition.ZCDP, Fraction(1, 2)),
}
SEARCHES: list[MatrixMechanism] = [PIdentityStrategy(), GaussianOptimumStrategy()]
TEXTS = [
    'ranges("age") x identity("sex")',
    'prefix("age")',
    'prefix("age") x ranges("sex")',
    'ranges("age") x identity("sex") + prefix("age") x identity("sex")',
    'width(3, "age")',
    'ranges("age") x identity("sex") + prefix("age")',
]
each = pytest.mark.parametrize("mechanism", SEARCHES, ids=lambda m: m.name)


def silent(done: int, total: int | None) -> None:
    """Nobody watches."""


def line(n: int) -> Domain:
    return Domain((Integer("x", lower=1, upper=n),))


def searched(mechanism: MatrixMechanism, domain: Domain, workload: Workload) -> QueryPlan:
    (definition,) = mechanism.definitions
    found = mechanism.optimise(domain, workload, definition, silent)
    return mechanism.plan(domain, workload, LOSSES[definition], found)


@pytest.mark.slow
@each
@pytest.mark.parametrize("text", TEXTS)
def test_the_expected_error_is_what_many_runs_show(mechanism: MatrixMechanism, text: str) -> None:
    workload = read_workload(text, SMALL)
    plan = searched(mechanism, SMALL, workload)
    counts = 1000 + np.arange(16, dtype=np.int64) * 7
    assert abs(deviation(mechanism, plan, counts, workload.answers(counts))) < 3


@each
@pytest.mark.parametrize("text", TEXTS)
def test_without_noise_the_answers_are_exact(mechanism: MatrixMechanism, text: str) -> None:
    workload = read_workload(text, SMALL)
    strategy = strategy_of(mechanism, searched(mechanism, SMALL, workload))
    counts = np.random.default_rng(3).integers(0, 10**8, 16)
    estimate = strategy.estimate(strategy.answers(counts))
    assert workload.answers(estimate) == pytest.approx(workload.answers(counts), rel=1e-9)


@each
@pytest.mark.parametrize("text", TEXTS)
def test_no_strategy_goes_below_the_bound_nor_above_single_cells(
    mechanism: MatrixMechanism, text: str
) -> None:
    workload = read_workload(text, SMALL)
    plan = searched(mechanism, SMALL, workload)
    assert plan.ratio is not None
    assert plan.ratio >= 1
    assert plan.total_error <= CellsStrategy().plan(SMALL, workload, plan.loss).total_error * 1.001


@pytest.mark.parametrize("text", TEXTS[:5])
def test_the_gaussian_optimum_is_within_its_certificate_and_the_grids_price(text: str) -> None:
    workload = read_workload(text, SMALL)
    plan = searched(GaussianOptimumStrategy(), SMALL, workload)
    assert plan.optimised is not None
    assert plan.optimised.facts["gap"] <= 3e-4
    assert plan.ratio is not None
    assert plan.ratio**2 <= (1 + plan.optimised.facts["gap"]) * 1.001


def test_a_union_over_several_columns_has_no_certificate() -> None:
    plan = searched(GaussianOptimumStrategy(), SMALL, read_workload(TEXTS[5], SMALL))
    assert plan.optimised is not None
    assert "gap" not in plan.optimised.facts


@pytest.mark.slow
@pytest.mark.parametrize("factor", [Prefix(200), AllRange(130)], ids=repr)
@each
def test_the_grid_costs_less_than_a_thousandth(mechanism: MatrixMechanism, factor: Factor) -> None:
    n = factor.size
    plan = searched(mechanism, line(n), Workload((n,), (Term(1.0, {0: factor}),), f"{factor}"))
    assert plan.optimised is not None
    loss, noise = plan.optimised.facts["columns"][0]["loss"], LOSSES[plan.loss.definition]
    continuous = 2.0 if noise.definition is Definition.PURE else 1.0
    assert plan.total_error == pytest.approx(continuous * loss, rel=1e-3)


def test_queries_of_low_rank_are_answered_exactly_on_the_grid() -> None:
    matrix = np.random.default_rng(5).normal(size=(3, 16))
    workload = Workload((16,), (Term(1.0, {0: Explicit(matrix)}),), "low rank")
    plan = searched(GaussianOptimumStrategy(), line(16), workload)
    strategy = strategy_of(GaussianOptimumStrategy(), plan)
    counts = np.random.default_rng(6).integers(0, 10**8, 16)
    assert matrix @ strategy.estimate(strategy.answers(counts)) == pytest.approx(matrix @ counts, rel=1e-9)
    assert plan.ratio is not None
    assert plan.ratio**2 <= 1.001


def test_merged_queries_have_the_weighted_sum_of_the_gram_matrices() -> None:
    multiple, factor = merged([(2.0, Prefix(9)), (6.0, AllRange(9))])
    assert multiple * factor.gram() == pytest.approx(Prefix(9).gram() + 3 * AllRange(9).gram())
    assert merged([(2.0, Prefix(9)), (6.0, Prefix(9))]) == (4.0, Prefix(9))


@each
def test_a_strategy_must_be_searched_before_it_is_planned(mechanism: MatrixMechanism) -> None:
    (definition,) = mechanism.definitions
    with pytest.raises(PlanError, match="Start the search first"):
        mechanism.plan(SMALL, read_workload('prefix("age")', SMALL), LOSSES[definition])


@pytest.mark.parametrize(
    ("mechanism", "domain", "workload", "words"),
    [
        (PIdentityStrategy(), line(9), Workload((9,), (Term(1.0, {}),), ""), "nothing to search for"),
        (
            PIdentityStrategy(),
            line(10_000),
            Workload((10_000,), (Term(1.0, {0: Prefix(10_000)}),), ""),
            "at most 8,192",
        ),
        (
            GaussianOptimumStrategy(),
            line(3000),
            Workload((3000,), (Term(1.0, {0: Explicit(np.ones((2, 3000)))}),), ""),
            "up to 2,048 cells.*one has 3,000",
        ),
    ],
)
def test_what_cannot_be_searched_is_refused(
    mechanism: MatrixMechanism, domain: Domain, workload: Workload, words: str
) -> None:
    (definition,) = mechanism.definitions
    with pytest.raises(PlanError, match=words):
        mechanism.optimise(domain, workload, definition, silent)


@each
def test_another_kind_of_budget_is_refused(mechanism: MatrixMechanism) -> None:
    (other,) = set(Definition) - mechanism.definitions
    with pytest.raises(PlanError, match="another kind of budget"):
        mechanism.plan(SMALL, read_workload('prefix("age")', SMALL), LOSSES[other], Optimised({}))
