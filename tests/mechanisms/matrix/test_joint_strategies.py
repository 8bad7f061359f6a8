"""Split unions and low rank as mechanisms: their errors by many runs, exactness on the grid, and what they refuse."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest

from mechanisms.accounting import Definition, Loss
from mechanisms.domain import Categorical, Domain, Integer
from mechanisms.matrix.answering import MatrixMechanism, strategy_of
from mechanisms.matrix.fixed_strategies import CellsStrategy, WorkloadStrategy
from mechanisms.matrix.joint_strategies import LowRankStrategy, SplitUnionStrategy
from mechanisms.matrix.mechanism import Optimised, QueryPlan
from mechanisms.matrix.optimised import PIdentityStrategy
from mechanisms.matrix.workload.factor import Explicit
from mechanisms.matrix.workload.text import read_workload
from mechanisms.matrix.workload.union import Term, Workload
from mechanisms.protocol import PlanError
from tests.benchmarks.workloads import CASES as PUBLISHED, Case
from tests.mechanisms.matrix.montecarlo import deviation

PAIR = Domain((Integer("age", lower=0, upper=7), Categorical("sex", values=("F", "Other"))))
UNION = read_workload('ranges("age") + identity("sex") + prefix("age") x identity("sex")', PAIR)
RANDOM = np.random.default_rng(8)
FEW = Workload((8, 2), (Term(1.0, {0: Explicit(RANDOM.normal(size=(3, 8)))}),), "three")
LOSSES = {
    Definition.PURE: Loss(Definition.PURE, Fraction(1)),
    Definition.ZCDP: Loss(Definition.ZCDP, Fraction(1, 2)),
}
CASES: list[tuple[MatrixMechanism, Workload, Definition]] = [
    (SplitUnionStrategy(), UNION, Definition.PURE),
    (SplitUnionStrategy(), UNION, Definition.ZCDP),
    (LowRankStrategy(), FEW, Definition.PURE),
]
each = pytest.mark.parametrize(
    ("mechanism", "workload", "definition"), CASES, ids=lambda case: getattr(case, "name", "")
)


def silent(done: int, total: int | None) -> None:
    """Nobody watches."""


def searched(
    mechanism: MatrixMechanism, domain: Domain, workload: Workload, definition: Definition
) -> QueryPlan:
    found = mechanism.optimise(domain, workload, definition, silent)
    return mechanism.plan(domain, workload, LOSSES[definition], found)


@pytest.mark.slow
@each
def test_the_expected_error_is_what_many_runs_show(
    mechanism: MatrixMechanism, workload: Workload, definition: Definition
) -> None:
    plan = searched(mechanism, PAIR, workload, definition)
    counts = 1000 + np.arange(16, dtype=np.int64) * 7
    assert abs(deviation(mechanism, plan, counts, workload.answers(counts))) < 3


@each
def test_without_noise_the_answers_are_exact(
    mechanism: MatrixMechanism, workload: Workload, definition: Definition
) -> None:
    strategy = strategy_of(mechanism, searched(mechanism, PAIR, workload, definition))
    counts = np.random.default_rng(3).integers(0, 10**8, 16)
    estimate = strategy.estimate(strategy.answers(counts))
    assert workload.answers(estimate) == pytest.approx(workload.answers(counts), rel=1e-8)


@each
def test_no_strategy_goes_below_the_bound(
    mechanism: MatrixMechanism, workload: Workload, definition: Definition
) -> None:
    ratio = searched(mechanism, PAIR, workload, definition).ratio
    assert ratio is not None
    assert ratio >= 1


def test_a_split_union_does_better_than_the_queries_themselves() -> None:
    plan = searched(SplitUnionStrategy(), PAIR, UNION, Definition.PURE)
    assert plan.total_error < WorkloadStrategy().plan(PAIR, UNION, plan.loss).total_error


# Least root mean squared errors that HDMM's program finds (see `tests.benchmarks.workloads`).
UNIONS = [case for case in PUBLISHED if " + " in case.text and math.prod(case.shape) <= 400]


@pytest.mark.slow
@pytest.mark.parametrize("case", UNIONS, ids=lambda case: case.name)
def test_the_best_strategy_for_a_union_errs_no_more_than_the_published_program(case: Case) -> None:
    domain = Domain(tuple(Integer(c, upper=n - 1) for c, n in zip("abc", case.shape, strict=False)))
    workload = read_workload(case.text, domain)
    plans = [
        searched(m, domain, workload, Definition.PURE) for m in (PIdentityStrategy(), SplitUnionStrategy())
    ]
    best = min(plans, key=lambda plan: plan.total_error)
    error = math.sqrt(best.total_error / best.noise.variance / workload.queries) * best.sensitivity.l1
    # Some of both are single cells, and published to five decimals.
    assert error <= case.hdmm * (1 + 2e-4)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("shape", "text", "least"),
    [
        ((7, 7, 7), 'marginals(=2) + prefix("a")', 0.92),
        ((12, 8, 5), 'ranges("a") x identity("c") + prefix("b") + marginal("a", "b")', 0.98),
    ],
)
def test_shares_are_those_that_suit_reconciled_sums(shape: tuple[int, ...], text: str, least: float) -> None:
    """Root mean squared errors as shares of those by the parts' own errors, as found in earlier days."""
    domain = Domain(tuple(Integer(c, upper=n - 1) for c, n in zip("abc", shape, strict=True)))
    workload = read_workload(text, domain)
    plan = searched(SplitUnionStrategy(), domain, workload, Definition.PURE)
    assert plan.optimised is not None
    own = {name: array for name, array in plan.optimised.arrays.items() if name != "shares"}
    before = SplitUnionStrategy().plan(domain, workload, plan.loss, Optimised(own, plan.optimised.facts))
    assert plan.root_mean_error <= least * before.root_mean_error


def test_low_rank_measures_no_sum_of_nothing() -> None:
    """Where one sum answers all, a second one would measure noise alone."""
    line = Domain((Integer("x", lower=1, upper=6),))
    plan = searched(LowRankStrategy(), line, read_workload("total", line), Definition.PURE)
    assert plan.optimised is not None
    assert np.abs(plan.optimised.arrays["strategy"]).max(axis=1).min() > 0.5
    assert plan.optimised.facts["sums"] == 1


def test_low_rank_does_better_than_cells_for_queries_of_few_dimensions() -> None:
    line = Domain((Integer("x", lower=1, upper=64),))
    matrix = RANDOM.normal(size=(30, 5)) @ RANDOM.normal(size=(5, 64))
    workload = Workload((64,), (Term(1.0, {0: Explicit(matrix[:20])}),), "few")
    plan = searched(LowRankStrategy(), line, workload, Definition.PURE)
    assert plan.total_error < 0.7 * CellsStrategy().plan(line, workload, plan.loss).total_error
    assert plan.optimised is not None
    assert plan.optimised.facts["residual"] < 1e-12
    assert plan.total_error == pytest.approx(2 * plan.optimised.facts["loss"], rel=1e-3)


@pytest.mark.parametrize(
    ("mechanism", "text", "words"),
    [
        (SplitUnionStrategy(), 'prefix("age")', "2 to 64 parts; this one has 1"),
        (LowRankStrategy(), 'prefix("age") x identity("sex")', "16 over 16 cells"),
    ],
)
def test_what_does_not_suit_is_refused(mechanism: MatrixMechanism, text: str, words: str) -> None:
    with pytest.raises(PlanError, match=words):
        mechanism.optimise(PAIR, read_workload(text, PAIR), Definition.PURE, silent)


@each
def test_a_strategy_must_be_searched_before_it_is_planned(
    mechanism: MatrixMechanism, workload: Workload, definition: Definition
) -> None:
    with pytest.raises(PlanError, match="Start the search first"):
        mechanism.plan(PAIR, workload, LOSSES[definition])
