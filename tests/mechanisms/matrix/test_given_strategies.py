"""Given strategies: their plans, their errors by many runs, and what they refuse."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from scipy import sparse

from mechanisms.accounting import Definition, Loss, Neighbours, PrivacyUnit
from mechanisms.domain import Boolean, Categorical, Domain, Integer
from mechanisms.matrix.answering import MatrixMechanism, strategy_of
from mechanisms.matrix.fixed_strategies import (
    CellsStrategy,
    HaarStrategy,
    HierarchyStrategy,
    UploadedStrategy,
    WorkloadStrategy,
)
from mechanisms.matrix.mechanism import Optimised, QueryPlan
from mechanisms.matrix.workload.factor import Explicit, Prefix
from mechanisms.matrix.workload.text import read_workload
from mechanisms.matrix.workload.union import Term, Workload
from mechanisms.protocol import OutdatedPlanError, PlanError
from mechanisms.sensitivity import Sensitivity
from tests.mechanisms.matrix.montecarlo import deviation, noise

LOSSES = [Loss(Definition.PURE, Fraction(1)), Loss(Definition.ZCDP, Fraction(1, 2))]
MECHANISMS: list[MatrixMechanism] = [CellsStrategy(), WorkloadStrategy(), HierarchyStrategy(), HaarStrategy()]
SMALL = Domain((Integer("age", lower=0, upper=5), Categorical("sex", values=("F", "Other"))))
QUERIES = read_workload('ranges("age") x identity("sex") + prefix("age")', SMALL)
each = pytest.mark.parametrize("mechanism", MECHANISMS, ids=lambda m: m.name)
# Of the upload below, as version f068308 planned it.
BEFORE = Sensitivity(1_317_227, 1_099_511_842_085)
own = Optimised({"strategy": np.random.default_rng(1).normal(size=(15, 12))})


def line(n: int) -> Domain:
    return Domain((Integer("x", lower=1, upper=n),))


def planned(mechanism: MatrixMechanism, loss: Loss) -> QueryPlan:
    return mechanism.plan(SMALL, QUERIES, loss, own if isinstance(mechanism, UploadedStrategy) else None)


@pytest.mark.slow
@pytest.mark.parametrize("loss", LOSSES, ids=lambda loss: loss.definition)
@pytest.mark.parametrize("mechanism", [*MECHANISMS, UploadedStrategy()], ids=lambda m: m.name)
def test_the_expected_error_is_what_many_runs_show(mechanism: MatrixMechanism, loss: Loss) -> None:
    plan = planned(mechanism, loss)
    # Far above 0, where nothing has to be made non-negative.
    counts = 1000 + np.arange(12, dtype=np.int64) * 7
    assert abs(deviation(mechanism, plan, counts, QUERIES.answers(counts))) < 3


@pytest.mark.parametrize("loss", LOSSES, ids=lambda loss: loss.definition)
@pytest.mark.parametrize("mechanism", [*MECHANISMS, UploadedStrategy()], ids=lambda m: m.name)
def test_no_strategy_goes_below_the_bound(mechanism: MatrixMechanism, loss: Loss) -> None:
    ratio = planned(mechanism, loss).ratio
    assert ratio is not None
    assert ratio >= 1


def test_of_a_number_that_was_known_before_no_distance_to_the_bound_is_told() -> None:
    """Nobody changes how many rows there are where one is replaced: the least error of all is next to 0."""
    loss = replace(LOSSES[1], unit=PrivacyUnit(Neighbours.REPLACE_ONE))
    plan = HaarStrategy().plan(SMALL, read_workload("total", SMALL), loss)
    assert plan.lower_bound is not None and plan.lower_bound < 1e-6 * plan.total_error
    assert plan.ratio is None


@each
def test_without_noise_the_answers_are_the_true_ones(mechanism: MatrixMechanism) -> None:
    plan = planned(mechanism, LOSSES[0])
    counts = np.random.default_rng(3).integers(0, 1000, 12)
    strategy = strategy_of(mechanism, plan)
    estimate = strategy.estimate(strategy.answers(counts))
    assert QUERIES.answers(estimate) == pytest.approx(QUERIES.answers(counts))


@each
def test_a_result_is_complete_and_repeatable(mechanism: MatrixMechanism) -> None:
    plan = planned(mechanism, LOSSES[0])
    measured = mechanism.measure(plan, np.arange(12, dtype=np.int64), noise("result"))
    first, second = mechanism.reconstruct(plan, measured), mechanism.reconstruct(plan, measured)
    assert first.estimate is not None
    assert first.cells is not None
    assert first.counts is not None
    assert (first.answers == second.answers).all()
    assert first.answers == pytest.approx(QUERIES.answers(first.estimate))
    assert (first.standard_errors**2).sum() == pytest.approx(plan.total_error)
    assert first.cells.min() >= 0
    assert first.counts.dtype == np.int64
    assert np.abs(first.counts - first.cells).max() <= 1


@each
def test_a_plan_is_read_back_from_its_json(mechanism: MatrixMechanism) -> None:
    plan = planned(mechanism, LOSSES[1])
    assert QueryPlan.from_json(plan.to_json(), QUERIES) == plan


def test_a_persons_rows_and_replacement_widen_the_noise() -> None:
    unit = PrivacyUnit(Neighbours.REPLACE_ONE, max_rows=3)
    plan = CellsStrategy().plan(SMALL, QUERIES, Loss(Definition.PURE, Fraction(1), unit))
    assert (plan.sensitivity.l1, plan.sensitivity.l2_squared) == (6, 18)


def test_weights_count_in_the_total_error_alone() -> None:
    plain = CellsStrategy().plan(SMALL, read_workload("total", SMALL), LOSSES[0])
    weighted = CellsStrategy().plan(SMALL, read_workload("3 * total", SMALL), LOSSES[0])
    assert weighted.total_error == pytest.approx(9 * plain.total_error)
    assert weighted.ratio == pytest.approx(plain.ratio)


def test_a_strategy_that_cannot_answer_is_refused_with_what_it_lacks() -> None:
    half = Optimised({"strategy": np.eye(12)[:7]})
    with pytest.raises(PlanError, match="answers only 7 of the 12 dimensions"):
        UploadedStrategy().plan(SMALL, read_workload('marginal("age", "sex")', SMALL), LOSSES[0], half)


@pytest.mark.parametrize(
    ("matrix", "words"),
    [
        (np.eye(3), "has 3 columns; the chosen columns have 12 cells"),
        (np.full((2, 12), np.nan), "finite numbers"),
        (np.zeros((2, 12)), "not all of them 0"),
        (np.zeros((0, 12)), "not all of them 0"),
    ],
)
def test_a_matrix_that_is_no_strategy_is_refused(matrix: np.ndarray, words: str) -> None:
    with pytest.raises(PlanError, match=words):
        UploadedStrategy().plan(SMALL, QUERIES, LOSSES[0], Optimised({"strategy": matrix}))


def test_an_uploaded_strategy_has_to_be_uploaded() -> None:
    with pytest.raises(PlanError, match="Upload one"):
        UploadedStrategy().plan(SMALL, QUERIES, LOSSES[0])


@pytest.mark.parametrize(
    ("mechanism", "domain", "text", "words"),
    [
        (CellsStrategy(), line(2**24 + 1), "total", "16,777,217 cells.*Choose fewer columns"),
        (CellsStrategy(), line(5000), 'ranges("x")', "12,502,500 queries; at most 10,000,000"),
        (WorkloadStrategy(), line(5000), 'prefix("x") + total', "all 5,000 cells together"),
    ],
)
def test_what_does_not_fit_memory_is_refused_before_it_is_built(
    mechanism: MatrixMechanism, domain: Domain, text: str, words: str
) -> None:
    with pytest.raises(PlanError, match=words):
        mechanism.plan(domain, read_workload(text, domain), LOSSES[0])


def test_many_uploaded_queries_over_many_cells_are_refused_before_they_are_tied() -> None:
    queries = Explicit(sparse.eye_array(5000, 10_000, format="csr"))
    workload = Workload((10_000,), (Term(1.0, {0: queries}),), "")
    with pytest.raises(PlanError, match="10,000 cells, and this strategy ties at most 8,192"):
        WorkloadStrategy().plan(line(10_000), workload, LOSSES[0])


def test_a_loss_too_small_for_the_sampler_is_refused() -> None:
    with pytest.raises(PlanError, match="too small"):
        HierarchyStrategy().plan(SMALL, QUERIES, Loss(Definition.PURE, Fraction(1, 10**14)))


def test_a_workload_of_another_domain_is_a_mistake() -> None:
    other = Domain((Boolean("a"),))
    with pytest.raises(ValueError, match="does not fit a domain"):
        CellsStrategy().plan(other, QUERIES, LOSSES[0])


def test_uploaded_queries_over_all_cells_are_answered() -> None:
    workload = Workload((12,), (Term(1.0, {0: Explicit(np.eye(12)[:3] + 0.5)}),), "")
    for mechanism in MECHANISMS:
        plan = mechanism.plan(SMALL, workload, LOSSES[1])
        assert plan.total_error > 0


@pytest.mark.slow
def test_a_column_that_nobody_asks_about_is_summed_over() -> None:
    domain = Domain((Integer("x", lower=1, upper=2**20), Boolean("b")))
    plan = HierarchyStrategy().plan(domain, read_workload('prefix("b")', domain), LOSSES[1])
    assert plan.details["sums"] <= 3
    single = Workload((2,), (Term(1.0, {0: Prefix(2)}),), "")
    assert plan.total_error == pytest.approx(
        HierarchyStrategy().plan(Domain((Boolean("b"),)), single, LOSSES[1]).total_error
    )


def test_noise_for_another_strategy_is_never_drawn() -> None:
    plan = planned(HierarchyStrategy(), LOSSES[0])
    tampered = replace(plan, sensitivity=Sensitivity(5, 5))
    with pytest.raises(OutdatedPlanError, match="planned anew"):
        HierarchyStrategy().measure(tampered, np.zeros(12, dtype=np.int64), noise("none"))


def test_a_plan_that_pays_for_more_than_a_replaced_row_moves_is_kept() -> None:
    loss = Loss(Definition.ZCDP, Fraction(1, 2), PrivacyUnit(Neighbours.REPLACE_ONE))
    plan = planned(HierarchyStrategy(), loss)
    more = replace(plan.sensitivity, l2_squared=plan.sensitivity.l2_squared + 1)
    less = replace(plan.sensitivity, l2_squared=plan.sensitivity.l2_squared - 1)
    assert HierarchyStrategy().measure(replace(plan, sensitivity=more), np.zeros(12, np.int64), noise("none"))
    with pytest.raises(OutdatedPlanError, match="planned anew"):
        HierarchyStrategy().measure(replace(plan, sensitivity=less), np.zeros(12, np.int64), noise("none"))


def test_few_uploaded_queries_over_many_cells_are_asked_themselves() -> None:
    domain = Domain((Integer("x", lower=1, upper=300), Integer("y", lower=1, upper=300)))
    halves = np.repeat(np.eye(3), 30_000, axis=1) + 0.5
    workload = read_workload('uploaded("ab")', domain, {"ab": Explicit(halves)})
    plan = WorkloadStrategy().plan(domain, workload, LOSSES[0])
    assert plan.details["sums"] == 3
    counts = np.arange(90_000) % 7
    result = WorkloadStrategy().reconstruct(plan, WorkloadStrategy().measure(plan, counts, noise("few")))
    assert result.standard_errors == pytest.approx(2.5 * 2**0.5, rel=1e-2)
    assert np.abs(result.answers - halves @ counts).max() < 12 * result.standard_errors.max()


@pytest.mark.parametrize("loss", LOSSES, ids=lambda loss: loss.definition)
@pytest.mark.parametrize("rank", [1, 6])
def test_uploaded_queries_weigh_no_more_in_a_union_than_they_ask(loss: Loss, rank: int) -> None:
    """The grid of an uploaded matrix is much finer than 1; beside it the other queries keep their weight."""
    rng = np.random.default_rng(5)
    matrix = rng.normal(size=(7, rank)) @ rng.normal(size=(rank, 6))
    text = '2 * prefix("age") x identity("sex") + uploaded("u", "age")'
    workload = read_workload(text, SMALL, {"u": Explicit(matrix)})
    A = np.vstack([2 * np.kron(np.tril(np.ones((6, 6))), np.eye(2)), np.kron(matrix, np.ones((1, 2)))])
    total = float(np.trace(A @ np.linalg.pinv(A.T @ A) @ A.T))
    pure = loss.definition is Definition.PURE
    variance = 2 * np.abs(A).sum(axis=0).max() ** 2 if pure else (A**2).sum(axis=0).max() / (2 * 0.5)
    assert WorkloadStrategy().plan(SMALL, workload, loss).total_error == pytest.approx(
        variance * total, rel=0.01
    )


@pytest.mark.parametrize("loss", LOSSES, ids=lambda loss: loss.definition)
def test_terms_of_very_uneven_weights_are_planned_all_the_same(loss: Loss) -> None:
    workload = read_workload('1000000 * identity("age") + 0.0000000001 * prefix("sex")', SMALL)
    plan = WorkloadStrategy().plan(SMALL, workload, loss)
    assert plan.total_error < 2 * CellsStrategy().plan(SMALL, workload, loss).total_error


@pytest.mark.parametrize("number", [1e-300, 1e-10, 1e10, 1e300])
def test_numbers_beyond_what_floats_can_square_are_refused(number: float) -> None:
    with pytest.raises(PlanError, match="other units"):
        read_workload('uploaded("u", "age")', SMALL, {"u": Explicit(np.full((1, 6), number))})
    with pytest.raises(PlanError, match="other units"):
        UploadedStrategy().plan(SMALL, QUERIES, LOSSES[0], Optimised({"strategy": np.eye(12) * number}))


@pytest.mark.parametrize("loss", LOSSES, ids=lambda loss: loss.definition)
@pytest.mark.parametrize("weight", ["0.000001", "1", "1000000"])
def test_the_sums_of_a_union_fit_64_bits(loss: Loss, weight: str) -> None:
    matrix = Explicit(np.random.default_rng(6).normal(size=(4, 6)))
    text = f'{weight} * uploaded("u", "age") x identity("sex") + uploaded("u", "age") + prefix("sex")'
    workload = read_workload(text, SMALL, {"u": matrix})
    mechanism = WorkloadStrategy()
    strategy = strategy_of(mechanism, mechanism.plan(SMALL, workload, loss))
    assert int(abs(strategy.matrix()).max()) * 10**9 < 2**63
