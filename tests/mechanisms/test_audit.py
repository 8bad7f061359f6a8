"""No mechanism of the registry leaks more than it states, and the audit notices one that does.

A right mechanism fails with probability below 1e-6 over all audits together. There are 100,000 runs on each input, at
night a million, for each kind of loss that a mechanism takes. One run is one `measure` of a whole table, as one lane of
a call that serves many (which is checked first); for randomised response it is one row's report. Mechanisms whose
steps follow their own noise have no lanes: their runs, on two cells, share calls as far as they drew the same
(`shared_runs`).
`python -m pytest -s` prints a table: the runs, the loss that is stated, the lower bound, and the lower bound for a
copy with half the noise.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np
import pytest

from mechanisms import registry
from mechanisms.accounting import Definition, Loss, Neighbours, PrivacyUnit
from mechanisms.domain import Domain, Integer
from mechanisms.moments.column import MeasuredColumn
from mechanisms.moments.mechanism import BernsteinSums, exact_sums
from mechanisms.noise import DiscreteLaplace, Noise, NoiseLaw
from mechanisms.protocol import Mechanism, Plan, PlanError
from mechanisms.response import Response
from mechanisms.selection import MostCommonValue, Selection
from mechanisms.summary.counts import split_values
from mechanisms.summary.mechanism import ColumnTables
from tests.mechanisms.audit import (
    MILLION,
    RUNS,
    Claim,
    Verdict,
    Weakened,
    audit,
    in_lanes,
    runs_in_lanes,
)
from tests.mechanisms.shared_runs import shared
from tests.mechanisms.summary.counting import counted

# Half of any method's noise is refuted in each gate.
pytestmark = pytest.mark.every_day

# STREAMS in tests/mechanisms/continual/test_stream_audit.py, QUERIES in tests/mechanisms/matrix/test_query_audit.py,
# MICRODATA, whose steps are audited, in tests/mechanisms/microdata/test_privacy.py.
AUDITED = {"HISTOGRAMS", "SELECTIONS", "RESPONSES", "MOMENTS", "SUMMARIES", "STREAMS", "QUERIES", "MICRODATA"}
AMOUNT = {Definition.PURE: Fraction(1), Definition.ZCDP: Fraction(1, 2)}
PAIR = Domain((Integer("x", lower=0, upper=1),))
LINE = Domain((Integer("x", lower=0, upper=3),))
THREE = Domain((Integer("x", lower=0, upper=2),))
PLANE = Domain((Integer("x", lower=0, upper=1), Integer("y", lower=0, upper=1)))
# Neighbouring tables, by relation and number of cells: a row more, or a row that moves.
TABLES = {
    (Neighbours.ADD_REMOVE, 4): ([9, 2, 0, 5], [9, 2, 1, 5]),
    (Neighbours.ADD_REMOVE, 2): ([0, 0], [1, 0]),
    (Neighbours.REPLACE_ONE, 4): ([9, 2, 0, 5], [9, 1, 0, 6]),
    (Neighbours.REPLACE_ONE, 2): ([1, 1], [0, 2]),
}
TWO_ROWS = PrivacyUnit(Neighbours.REPLACE_ONE, max_rows=2)
# Where a mechanism offers them: the least work, and more of the loss for the step that the others follow.
SMALLEST = {"rounds": 1, "clusters": 1, "partition_share": 40, "statistic_share": 50}
FEW = ("laplace-histogram", "hierarchical-histogram")
# Without lanes: more runs draw the same where there is less noise.
STEPWISE = {Definition.PURE: Fraction(3), Definition.ZCDP: Fraction(3)}


@dataclass(frozen=True)
class Case:
    """A mechanism's plan, two neighbouring tables for it, and whether its runs can share a call."""

    mechanism: Mechanism
    plan: Plan
    lanes: bool

    @property
    def tables(self) -> tuple[np.ndarray, np.ndarray]:
        before, after = TABLES[self.plan.loss.unit.neighbours, self.plan.domain.size]
        return np.array(before), np.array(after)

    def measure(self, counts: np.ndarray, noise: Noise) -> np.ndarray:
        return self.mechanism.measure(self.plan, counts, noise).values

    def __str__(self) -> str:
        return f"{self.mechanism.name}, {self.plan.loss.definition}"


def _cases(mechanism: Mechanism) -> list[Case]:
    """A case for each definition of loss, in lanes; where there are no lanes, on two cells."""
    definitions = sorted(mechanism.definitions)
    for domain in (LINE, PLANE, PAIR):
        plans = [plan for d in definitions if (plan := _planned(mechanism, domain, d, AMOUNT[d]))]
        cases = [Case(mechanism, plan, lanes=True) for plan in plans]
        if cases and all(runs_in_lanes(case.measure, case.tables[0]) for case in cases):
            return cases
    stepwise = [plan for d in definitions if (plan := _planned(mechanism, PAIR, d, STEPWISE[d]))]
    return [Case(mechanism, plan, lanes=False) for plan in stepwise]


def _planned(mechanism: Mechanism, domain: Domain, definition: Definition, amount: Fraction) -> Plan | None:
    smallest = {p.name: SMALLEST[p.name] for p in mechanism.parameters if p.name in SMALLEST}
    for neighbours in Neighbours:
        total = sum(TABLES[neighbours, domain.size][0])
        for public in ({}, {"total": total}):
            try:
                loss = Loss(definition, amount, PrivacyUnit(neighbours))
                return _of_few(mechanism.plan(domain, {**smallest, **public}, loss))
            except PlanError:
                continue
    return None


def _of_few(plan: Plan) -> Plan:
    """Of a choice of method, with those candidates alone that draw all noise at once; each is audited by itself."""
    if "candidates" not in plan.details:
        return plan
    few = [c for c in plan.details["candidates"] if c["mechanism"] in FEW]
    return replace(plan, details={**plan.details, "candidates": few})


CASES = [case for m in registry.HISTOGRAMS for case in _cases(m)]


def _name(mechanism: Any) -> str:
    return str(mechanism.name)


def test_every_family_of_the_registry_is_audited() -> None:
    families = {name for name, value in vars(registry).items() if name.isupper() and isinstance(value, tuple)}
    assert families == AUDITED


def test_every_histogram_is_audited() -> None:
    assert {case.mechanism.name for case in CASES} == {m.name for m in registry.HISTOGRAMS}


def _report(name: str, loss: Loss, verdict: Verdict, broken: Verdict) -> None:
    print(
        f"\n{name:24} {loss.symbol} = {float(loss.amount):<4g} {verdict.runs:>9,} runs   "
        f"stated ε {verdict.stated:.3f} (δ {verdict.delta:g})   at least {verdict.bound:.3f}   "
        f"with half the noise, stated {broken.stated:.3f} (δ {broken.delta:g}), at least {broken.bound:.3f}"
    )


@pytest.mark.slow
@pytest.mark.parametrize("case", CASES, ids=str)
def test_a_histogram_keeps_its_promise_and_half_its_noise_does_not(case: Case) -> None:
    sample = in_lanes(case.measure) if case.lanes else shared(case.measure)
    claim = Claim.of(case.plan.loss)
    # A choice of method parts into many points, and few runs share a call.
    choice = "candidates" in case.plan.details
    runs, runs_broken = (MILLION // 10, MILLION // 20) if choice else (RUNS, MILLION // 10)
    verdict = audit(sample, case.tables, claim, runs, Noise())
    broken = audit(sample, case.tables, claim, runs_broken, Weakened())
    _report(case.mechanism.name, case.plan.loss, verdict, broken)
    assert not verdict.refuted
    assert broken.refuted


@pytest.mark.slow
def test_a_person_with_two_rows_who_is_replaced_by_one_without_stays_hidden() -> None:
    """The total is not public then; Privelet's noise was once for two rows that change their cell: 1.355 times ε."""
    mechanism, loss = registry.mechanism("privelet-histogram"), Loss(Definition.PURE, Fraction(1), TWO_ROWS)
    plan = mechanism.plan(PAIR, {"purpose": "totals"}, loss)
    sample = in_lanes(lambda counts, noise: mechanism.measure(plan, counts, noise).values)
    tables = np.array([3, 1]), np.array([1, 1])
    verdict, broken = (audit(sample, tables, Claim.of(loss), MILLION // 10, n) for n in (Noise(), Weakened()))
    _report(f"{mechanism.name}, gone", loss, verdict, broken)
    assert not verdict.refuted
    assert broken.refuted


# Picks, ε, relation, and neighbours in which a candidate that trails comes nearer to the best.
SELECTION_CASES = [
    (1, 1, Neighbours.ADD_REMOVE, ([3, 0, 0], [3, 1, 0])),
    (1, 1, Neighbours.REPLACE_ONE, ([4, 0, 1], [3, 1, 1])),
    (2, 3, Neighbours.REPLACE_ONE, ([3, 1, 0], [2, 1, 1])),
]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("picks", "epsilon", "neighbours", "tables"),
    SELECTION_CASES,
    ids=["add-remove", "replace-one", "two picks"],
)
@pytest.mark.parametrize("mechanism", registry.SELECTIONS, ids=_name)
def test_a_selection_keeps_its_promise_and_half_its_noise_does_not(
    mechanism: Selection,
    picks: int,
    epsilon: int,
    neighbours: Neighbours,
    tables: tuple[list[int], list[int]],
) -> None:
    loss = Loss(Definition.PURE, Fraction(epsilon), PrivacyUnit(neighbours))
    score = MostCommonValue(("a", "b", "c"))
    inputs = (score.scores(np.array(tables[0])), score.scores(np.array(tables[1])))
    sample = partial(mechanism.sample, mechanism.plan(score, loss, picks))
    verdict = audit(sample, inputs, Claim.of(loss), RUNS, Noise())
    # Two picks at ε = 3 that cost 6 are refuted by no fewer.
    broken = audit(sample, inputs, Claim.of(loss), MILLION, Weakened())
    _report(f"{mechanism.name}, {picks}", loss, verdict, broken)
    assert not verdict.refuted
    assert broken.refuted


@pytest.mark.slow
@pytest.mark.parametrize("mechanism", registry.RESPONSES, ids=_name)
def test_a_response_keeps_its_promise_and_a_doubled_loss_does_not(mechanism: Response) -> None:
    loss = Loss(Definition.PURE, Fraction(1), PrivacyUnit(Neighbours.REPLACE_ONE))
    verdict, broken = (_response_verdict(mechanism, loss, spent) for spent in (1, 2))
    _report(mechanism.name, loss, verdict, broken)
    assert not verdict.refuted
    assert broken.refuted


def _response_verdict(mechanism: Response, loss: Loss, spent: int) -> Verdict:
    """The verdict on the stated loss of a row's report that really spends `spent` times as much."""
    plan = mechanism.plan(THREE, Loss(loss.definition, spent * loss.amount, loss.unit))

    def sample(value: np.ndarray, runs: int, noise: Noise) -> np.ndarray:
        return mechanism.measure(plan, np.repeat(value, runs), noise).values.reshape(runs, -1)

    return audit(sample, (np.array([0]), np.array([1])), Claim.of(loss), RUNS, Noise())


@pytest.mark.slow
@pytest.mark.parametrize("definition", [Definition.PURE, Definition.ZCDP])
def test_means_keep_their_promise_and_half_their_noise_does_not(definition: Definition) -> None:
    """One row more, at the lower bound: it moves two sums. Outcomes are rounded to a quarter of a person."""
    loss = Loss(definition, AMOUNT[definition])
    plan = BernsteinSums().plan(Domain(()), [MeasuredColumn.of(LINE.attributes[0])], 2, loss, 10)

    def sample(powers: np.ndarray, runs: int, noise: Noise) -> np.ndarray:
        # Groups are measured independently of each other, so each is a run.
        many = replace(plan, groups=Domain((Integer("run", lower=1, upper=runs),)))
        sums = np.repeat(exact_sums(plan, powers), runs, axis=1)
        measured = BernsteinSums().measure(many, sums, noise).values[0]
        return measured[:, [0, 4]] // (plan.columns[0].unit // 4)

    tables = [np.array([[row]], dtype=object) for row in ([2, 3, 5, 1, 0, 0], [3, 3, 5, 1, 1, 0])]
    verdict, broken = (
        audit(sample, (tables[0], tables[1]), Claim.of(loss), RUNS, n) for n in (Noise(), Weakened())
    )
    _report(BernsteinSums.name, loss, verdict, broken)
    assert not verdict.refuted
    assert broken.refuted


@pytest.mark.slow
@pytest.mark.parametrize("definition", [Definition.PURE, Definition.ZCDP])
def test_a_summary_keeps_its_promise_and_half_its_noise_does_not(definition: Definition) -> None:
    """One row more, at the lower bound, where it moves all tables. Outcomes are quarters of how much likelier it is.

    By the most telling event of them all, the likelihood ratio, all shares of the loss are seen at once.
    """
    loss = Loss(definition, AMOUNT[definition])
    one = ColumnTables().plan(Domain(()), LINE.attributes, (), loss, 10)
    exact = [counted(one, np.zeros(n, dtype=np.int64), {"x": np.array([3, 1, 0])[:n]}) for n in (2, 3)]
    before, after = (split_values(one, own) for own in exact)

    def sample(values: np.ndarray, runs: int, noise: Noise) -> np.ndarray:
        # Groups are measured independently of each other, so each is a run.
        many = replace(one, groups=Domain((Integer("run", lower=1, upper=runs),)))
        repeated = np.concatenate([np.tile(part, (runs, 1)).ravel() for part in split_values(one, values)])
        told = split_values(many, ColumnTables().measure(many, repeated, noise).values)
        tables = zip(one.tables, told, before, after, strict=True)
        ratio = sum(_likelihood_ratio(table.noise, *own) for table, *own in tables)
        return np.floor(4 * np.asarray(ratio)).astype(np.int64)[:, None]

    verdict, broken = (
        audit(sample, (exact[0], exact[1]), Claim.of(loss), RUNS, n) for n in (Noise(), Weakened())
    )
    _report(ColumnTables.name, loss, verdict, broken)
    assert not verdict.refuted
    assert broken.refuted


def _likelihood_ratio(law: NoiseLaw, told: np.ndarray, before: np.ndarray, after: np.ndarray) -> np.ndarray:
    """The logarithm of how much likelier what is told is after than before, (runs,)."""
    if isinstance(law, DiscreteLaplace):
        ratio: np.ndarray = (np.abs(told - before) - np.abs(told - after)).sum(axis=1) / float(law.scale)
    else:
        squares = (told - before).astype(float) ** 2 - (told - after).astype(float) ** 2
        ratio = squares.sum(axis=1) / (2 * float(law.variance_parameter))
    return ratio


def test_lanes_of_a_measurement_that_adds_noise_are_runs() -> None:
    assert runs_in_lanes(lambda x, noise: x + noise.draw(DiscreteLaplace(Fraction(2)), 4), np.arange(4))


def test_a_measurement_that_mixes_its_draws_has_no_lanes() -> None:
    def mixed(x: np.ndarray, noise: Noise) -> np.ndarray:
        return x + noise.draw(DiscreteLaplace(Fraction(2)), 4).sum()

    assert not runs_in_lanes(mixed, np.arange(4))


def test_a_measurement_that_chooses_has_no_lanes() -> None:
    def chooses(x: np.ndarray, noise: Noise) -> np.ndarray:
        return x + noise.draw(DiscreteLaplace(Fraction(2)), 4) + noise.bernoulli_exp(Fraction(1), 0 * x)

    assert not runs_in_lanes(chooses, np.arange(4))


def test_a_measurement_that_decides_by_its_draws_has_no_lanes() -> None:
    def decides(x: np.ndarray, noise: Noise) -> np.ndarray:
        drawn = noise.draw(DiscreteLaplace(Fraction(2)), 4)
        return x + drawn if drawn[0] > 0 else x - drawn

    assert not runs_in_lanes(decides, np.arange(4))


@pytest.mark.slow
def test_the_exact_bound_of_a_known_leak_is_approached() -> None:
    # One count with noise of scale 1 leaks exactly ε = 1.
    law = DiscreteLaplace(Fraction(1))
    sample = in_lanes(lambda x, noise: x + noise.draw(law, 1))
    claim = Claim(((1.0, 0.0),))
    verdict = audit(sample, (np.array([0]), np.array([1])), claim, MILLION, Noise())
    assert 0.95 < verdict.bound <= 1
