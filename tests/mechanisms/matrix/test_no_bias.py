"""Without noise every answer is the true one, whatever the strategy and however large the counts: nothing is biased."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from functools import reduce

import numpy as np
import pytest

from mechanisms import registry
from mechanisms.accounting import Definition, Loss
from mechanisms.deferred_search import taken_from
from mechanisms.domain import Domain, Integer
from mechanisms.matrix.fixed_strategies import UploadedStrategy
from mechanisms.matrix.mechanism import Optimised, QueryMechanism, QueryPlan
from mechanisms.matrix.workload.factor import Explicit
from mechanisms.matrix.workload.text import read_workload
from mechanisms.matrix.workload.union import Term, Workload
from mechanisms.noise import Noise, NoiseLaw
from mechanisms.protocol import PlanError

LOSSES = {
    Definition.PURE: Loss(Definition.PURE, Fraction(1)),
    Definition.ZCDP: Loss(Definition.ZCDP, Fraction(1, 2)),
}


class NoNoise(Noise):
    """Zeros for all noise."""

    def draw(self, law: NoiseLaw, size: int) -> np.ndarray:
        return np.zeros(size, dtype=np.int64)


def box(*widths: int) -> Domain:
    return Domain(tuple(Integer(f"x{i}", lower=1, upper=w) for i, w in enumerate(widths)))


def asked(matrix: np.ndarray) -> Workload:
    return Workload((matrix.shape[1],), (Term(1.0, {0: Explicit(matrix)}),), "queries of one's own")


def written_out(workload: Workload) -> np.ndarray:
    terms = [
        reduce(np.kron, [f.times(np.eye(f.size)) for f in term.all_factors(workload.shape)])
        for term in workload.terms
    ]
    return np.vstack(terms)


def planned(
    mechanism: QueryMechanism,
    domain: Domain,
    workload: Workload,
    definition: Definition,
    strategy: np.ndarray | None,
) -> QueryPlan | None:
    if mechanism.refusal(domain, workload, definition):
        return None
    found = None if strategy is None else Optimised({"strategy": strategy})
    if mechanism.optimises:
        found = mechanism.optimise(domain, workload, definition, lambda _done, _all: None)
    return mechanism.plan(domain, workload, LOSSES[definition], found)


def check_unbiased(mechanism: QueryMechanism, plan: QueryPlan, largest: int) -> None:
    """Answers to a table without noise are the truth, as far as floats can hold it: far inside any interval."""
    random = np.random.default_rng(5)
    queries = written_out(plan.workload)
    for _ in range(3):
        counts = random.integers(0, largest, size=plan.domain.size)
        given = np.concatenate(
            [
                counts.reshape(plan.domain.shape)
                .sum(axis=tuple(i for i, name in enumerate(plan.domain.names) if name not in kept))
                .ravel()
                for kept in plan.counted
            ]
        )
        result = mechanism.reconstruct(plan, mechanism.measure(plan, given, NoNoise()))
        off = np.abs(result.answers - queries @ counts)
        allowed = 1e-15 * counts.size * (np.abs(queries) @ counts)
        assert (off <= allowed + 1e-3 * result.half_widths).all(), (off / result.half_widths).max()


def random_matrix(seed: int) -> np.ndarray:
    """Rows of every kind: real numbers, few dimensions, nearly dependent, decimal fractions, of very uneven size."""
    random = np.random.default_rng(seed)
    p, n = (int(random.integers(1, 12)) for _ in range(2))
    matrix = random.normal(size=(p, n))
    kind = seed % 6
    if kind == 1:
        rank = max(1, min(p, n) // 2)
        matrix = random.normal(size=(p, rank)) @ random.normal(size=(rank, n))
    if kind == 2:
        matrix = np.round(matrix, 1) + np.eye(p, n)
    if kind == 3:
        matrix = matrix[:1] + 1e-6 * matrix
    if kind == 4:
        matrix *= 10.0 ** random.integers(-3, 4, size=(p, 1))
    if kind == 5:
        matrix = np.abs(matrix)
    return matrix


@pytest.mark.parametrize("definition", Definition)
@pytest.mark.parametrize("seed", range(60))
def test_an_uploaded_strategy_answers_its_own_sums_without_bias(seed: int, definition: Definition) -> None:
    matrix = random_matrix(seed)
    domain, mechanism = box(matrix.shape[1]), UploadedStrategy()
    plan = planned(mechanism, domain, asked(matrix), definition, matrix)
    assert plan is not None
    check_unbiased(mechanism, plan, 10**12)


class Untouched:
    """A store that nobody may ask."""

    def result(self, name: str, version: int, arguments: Sequence[object]) -> object:
        raise AssertionError(name)

    search_again = result


def test_no_worker_is_asked_for_a_matrix_that_nobody_uploaded() -> None:
    """It would fail there, and be among the last failures, though nobody did anything wrong."""
    domain = box(9, 8)
    with taken_from(Untouched()), pytest.raises(PlanError, match="No strategy matrix was uploaded"):
        UploadedStrategy().plan(domain, read_workload("marginals(<=2)", domain), LOSSES[Definition.PURE])


def test_the_six_sums_over_twenty_cells_of_a_billion_rows_each() -> None:
    """Such a strategy was 5,813 rows off, 244 half-widths."""
    matrix = np.random.default_rng(1).normal(size=(6, 20))
    plan = planned(UploadedStrategy(), box(20), asked(matrix), Definition.PURE, matrix)
    assert plan is not None
    check_unbiased(UploadedStrategy(), plan, 10**9)
    two = planned(
        UploadedStrategy(), box(4, 5), Workload((20,), asked(matrix).terms, ""), Definition.ZCDP, matrix
    )
    assert two is not None
    check_unbiased(UploadedStrategy(), two, 10**9)


@pytest.mark.parametrize("share", [1e-8, 3e-9, 2e-9, 1.01e-9])
@pytest.mark.parametrize("amount", ["1", "10", "50"])
def test_a_cell_that_no_sum_sees_is_refused_or_hardly_matters(share: float, amount: str) -> None:
    """At ε = 50 an answer with 3·10⁻⁹ of the third cell was six half-widths off at 10¹² rows."""
    matrix, queries = np.array([[4096.0, 4096, 0], [1, 0, 0]]), np.array([[1, -1, share]])
    mechanism, loss = UploadedStrategy(), Loss(Definition.PURE, Fraction(amount))
    try:
        plan = mechanism.plan(box(3), asked(queries), loss, Optimised({"strategy": matrix}))
    except PlanError as refused:
        assert "do not determine all answers" in str(refused)
        return
    result = mechanism.reconstruct(plan, mechanism.measure(plan, np.array([5, 3, 10**12]), NoNoise()))
    assert abs(result.answers[0] - (2 + share * 10**12)) < 0.1 * result.half_widths[0]


@pytest.mark.parametrize("definition", Definition)
@pytest.mark.parametrize("seed", range(30))
def test_every_strategy_answers_random_queries_without_bias(seed: int, definition: Definition) -> None:
    matrix = random_matrix(seed)
    for mechanism in registry.QUERIES:
        if mechanism.name != "uploaded-strategy":
            plan = planned(mechanism, box(matrix.shape[1]), asked(matrix), definition, None)
            if plan is not None:
                check_unbiased(mechanism, plan, 10**12)


@pytest.mark.slow
def test_a_query_over_two_cells_is_answered_without_bias() -> None:
    """One dimension, but as many rows as cells: the strategy was 46 rows off at a half-width of 0.4."""
    for weights in ([1.0, 0.7310585], [1.0, 1 / 3], [0.2718281828, 0.1]):
        for mechanism in registry.QUERIES:
            for definition in Definition:
                if mechanism.name != "uploaded-strategy":
                    plan = planned(mechanism, box(2), asked(np.array([weights])), definition, None)
                    if plan is not None:
                        check_unbiased(mechanism, plan, 10**9)


TEXTS = [
    (box(9), 'width(4, "x0")'),
    (box(64), 'prefix("x0")'),
    (box(30), 'ranges("x0")'),
    (box(4, 5), 'prefix("x0") x ranges("x1")'),
    (box(4, 5), "marginals(<=1)"),
    (box(3, 4, 2), "marginals(<=2)"),
    (box(6, 3), '3 * prefix("x0") + identity("x1") + total'),
]


@pytest.mark.slow
@pytest.mark.parametrize(("domain", "text"), TEXTS, ids=[t for _, t in TEXTS])
def test_every_strategy_answers_written_workloads_without_bias(domain: Domain, text: str) -> None:
    workload = read_workload(text, domain)
    for mechanism in registry.QUERIES:
        for definition in Definition:
            if mechanism.name != "uploaded-strategy":
                plan = planned(mechanism, domain, workload, definition, None)
                if plan is not None:
                    # 64 bits hold sums of 10^12 rows over one column, and of 10^9 over several.
                    rows = 10**12 if len(domain.shape) == 1 else 10**9
                    check_unbiased(mechanism, plan, rows // domain.size)


@pytest.mark.parametrize("definition", Definition)
@pytest.mark.parametrize("weight", ["0.000001", "0.001", "1", "1000000"])
def test_a_union_of_parts_that_hardly_weigh_is_answered_without_bias(
    weight: str, definition: Definition
) -> None:
    """Ties of a part with a small share were so small beside the other parts that floats lost them."""
    domain = box(6, 2)
    matrix = Explicit(np.random.default_rng(6).normal(size=(4, 6)))
    text = f'{weight} * uploaded("u", "x0") x identity("x1") + uploaded("u", "x0") + prefix("x1")'
    workload = read_workload(text, domain, {"u": matrix})
    for name in ("workload-strategy", "split-union"):
        mechanism = registry.query_mechanism(name)
        plan = planned(mechanism, domain, workload, definition, None)
        assert plan is not None
        check_unbiased(mechanism, plan, 10**8)


@pytest.mark.parametrize("off", [1e-2, 1e-4, 1e-7, 1e-10])
def test_a_strategy_that_answers_a_query_only_nearly_is_refused(off: float) -> None:
    for strategy in ([[1.0, 1.0]], [[1.0, 1.0], [2.0, 2.0]]):
        for shape in ((2,), (2, 1)):
            workload = Workload((2,), (Term(1.0, {0: Explicit(np.array([[1.0, 1.0 + off]]))}),), "")
            with pytest.raises(PlanError, match=r"answers only|do not determine"):
                planned(UploadedStrategy(), box(*shape), workload, Definition.PURE, np.array(strategy))


def test_a_strategy_that_cannot_answer_is_refused_though_its_weights_do_not_fit_the_grid() -> None:
    strategy = np.random.default_rng(2).normal(size=(3, 8))
    for shape in ((8,), (4, 2)):
        workload = read_workload('identity("x0")', box(*shape))
        with pytest.raises(PlanError, match="answers only"):
            planned(UploadedStrategy(), box(*shape), workload, Definition.PURE, strategy)
