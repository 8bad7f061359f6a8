"""No mechanism of the registry leaks more than it states, and the audit notices one that does.

A right mechanism fails with probability below 1e-6 over all audits together. One run is one call of `measure` on a
whole table, alone or as one lane of a call that serves many (which is checked first); for randomised response
it is one row's report. There are a million runs on each input, or as many as half a second allows where decisions
follow the noise. `python -m pytest -s` prints a table: the runs, the loss that is stated, the lower bound, and the
lower bound for a copy with half the noise.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np
import pytest

from mechanisms import registry
from mechanisms.accounting import Definition, Loss, Neighbours, PrivacyUnit
from mechanisms.domain import Domain, Integer
from mechanisms.mechanism import Mechanism, Plan, PlanError
from mechanisms.noise import DiscreteLaplace, Noise
from mechanisms.response import Response
from mechanisms.selection import MostCommonValue, Selection
from tests.mechanisms.audit import (
    MILLION,
    Claim,
    Verdict,
    Weakened,
    affordable_runs,
    audit,
    in_lanes,
    one_by_one,
    runs_in_lanes,
)

AUDITED = {"HISTOGRAMS", "SELECTIONS", "RESPONSES"}
AMOUNT = {Definition.PURE: Fraction(1), Definition.ZCDP: Fraction(1, 2)}
SECONDS = 0.5
LINE = Domain((Integer("x", lower=0, upper=3),))
PLANE = Domain((Integer("x", lower=0, upper=1), Integer("y", lower=0, upper=1)))
# Neighbours on four cells, by relation: a row more in an empty table and in a filled one; a row that moves.
TABLES = {
    Neighbours.ADD_REMOVE: [([0, 0, 0, 0], [1, 0, 0, 0]), ([9, 2, 0, 5], [9, 2, 1, 5])],
    Neighbours.REPLACE_ONE: [([1, 0, 0, 3], [0, 0, 1, 3]), ([9, 2, 0, 5], [9, 1, 0, 6])],
}
PUBLIC_TOTAL: list[dict[str, Any]] = [{}, {"total": 4}, {"total": 16}]


def test_every_family_of_the_registry_is_audited() -> None:
    families = {name for name, value in vars(registry).items() if name.isupper() and isinstance(value, tuple)}
    assert families == AUDITED


def _losses(mechanism: Any, unit: PrivacyUnit) -> Iterator[Loss]:
    return (Loss(d, AMOUNT[d], unit) for d in sorted(mechanism.definitions))


def _plans(mechanism: Mechanism) -> list[Plan]:
    """One plan for each loss the mechanism accepts, with the first relation and domain that it takes."""
    plans: dict[Definition, Plan] = {}
    for neighbours in Neighbours:
        for domain in (LINE, PLANE):
            for loss in _losses(mechanism, PrivacyUnit(neighbours)):
                if loss.definition not in plans and (plan := _planned(mechanism, domain, loss)):
                    plans[loss.definition] = plan
    return list(plans.values())


def _planned(mechanism: Mechanism, domain: Domain, loss: Loss) -> Plan | None:
    for parameters in PUBLIC_TOTAL:
        try:
            return mechanism.plan(domain, parameters, loss)
        except PlanError:
            continue
    return None


HISTOGRAM_PLANS = [(m, plan) for m in registry.HISTOGRAMS for plan in _plans(m)]


def _label(value: object) -> str:
    return value.loss.definition.value if isinstance(value, Plan) else str(getattr(value, "name", value))


@pytest.mark.parametrize("mechanism", registry.HISTOGRAMS, ids=_label)
def test_every_histogram_has_a_plan_to_audit(mechanism: Mechanism) -> None:
    assert {m.name for m, _ in HISTOGRAM_PLANS} >= {mechanism.name}


def _report(name: str, loss: Loss, verdict: Verdict, broken: Verdict) -> None:
    print(
        f"\n{name:24} {loss.symbol} = {float(loss.amount):<4g} {verdict.runs:>9,} runs   "
        f"stated ε {verdict.stated:.3f} (δ {verdict.delta:g})   at least {verdict.bound:.3f}   "
        f"with half the noise, stated {broken.stated:.3f} (δ {broken.delta:g}), at least {broken.bound:.3f}"
    )


@pytest.mark.parametrize(("mechanism", "plan"), HISTOGRAM_PLANS, ids=_label)
def test_a_histogram_keeps_its_promise_and_half_its_noise_does_not(mechanism: Mechanism, plan: Plan) -> None:
    def measure(counts: np.ndarray, noise: Noise) -> np.ndarray:
        return mechanism.measure(plan, counts, noise).values

    tables = [tuple(map(np.array, pair)) for pair in TABLES[plan.loss.unit.neighbours]]
    together = runs_in_lanes(measure, tables[1][0])
    sample = in_lanes(measure) if together else one_by_one(measure)
    runs = MILLION if together else affordable_runs(sample, tables[1][0], SECONDS)
    claim = Claim.of(plan.loss)
    verdicts, broken = (
        [audit(sample, pair, claim, size, noise) for pair in tables]
        for size, noise in ((runs, Noise()), (min(runs, MILLION // 5), Weakened()))
    )
    worst, caught = (max(v, key=lambda v: v.bound - v.stated) for v in (verdicts, broken))
    _report(mechanism.name, plan.loss, worst, caught)
    assert not worst.refuted
    assert caught.refuted


# Picks, relation, and neighbours in which a candidate that trails by several rows comes nearer to the best.
SELECTION_CASES = [
    (1, Neighbours.ADD_REMOVE, ([4, 0, 1], [4, 1, 1])),
    (1, Neighbours.REPLACE_ONE, ([4, 0, 1], [3, 1, 1])),
    (2, Neighbours.REPLACE_ONE, ([6, 0, 0], [5, 1, 0])),
]


@pytest.mark.parametrize(
    ("picks", "neighbours", "tables"),
    SELECTION_CASES,
    ids=["1, add-remove", "1, replace-one", "2, replace-one"],
)
@pytest.mark.parametrize("mechanism", registry.SELECTIONS, ids=_label)
def test_a_selection_keeps_its_promise_and_half_its_noise_does_not(
    mechanism: Selection, picks: int, neighbours: Neighbours, tables: tuple[list[int], list[int]]
) -> None:
    loss = Loss(Definition.PURE, Fraction(1), PrivacyUnit(neighbours))
    score = MostCommonValue(("a", "b", "c"))
    inputs = (score.scores(np.array(tables[0])), score.scores(np.array(tables[1])))
    sample = partial(mechanism.sample, mechanism.plan(score, loss, picks))
    verdict, broken = (audit(sample, inputs, Claim.of(loss), MILLION, n) for n in (Noise(), Weakened()))
    _report(f"{mechanism.name}, {picks}", loss, verdict, broken)
    assert not verdict.refuted
    assert broken.refuted


@pytest.mark.parametrize("mechanism", registry.RESPONSES, ids=_label)
def test_a_response_keeps_its_promise_and_a_doubled_loss_does_not(mechanism: Response) -> None:
    loss = Loss(Definition.PURE, Fraction(1), PrivacyUnit(Neighbours.REPLACE_ONE))
    verdict, broken = (_response_verdict(mechanism, loss, spent) for spent in (1, 2))
    _report(mechanism.name, loss, verdict, broken)
    assert not verdict.refuted
    assert broken.refuted


def _response_verdict(mechanism: Response, loss: Loss, spent: int) -> Verdict:
    """The verdict on the stated loss of a row's report that really spends `spent` times as much."""
    plan = mechanism.plan(3, Loss(loss.definition, spent * loss.amount, loss.unit))

    def sample(value: int, runs: int, noise: Noise) -> np.ndarray:
        return mechanism.measure(plan, np.full(runs, value), noise).values.reshape(runs, -1)

    return audit(sample, (0, 1), Claim.of(loss), MILLION, Noise())


def test_lanes_of_a_measurement_that_adds_noise_are_runs() -> None:
    assert runs_in_lanes(lambda x, noise: x + noise.draw(DiscreteLaplace(Fraction(2)), 4), np.arange(4))


def test_a_measurement_that_mixes_its_draws_has_no_lanes() -> None:
    def mixed(x: np.ndarray, noise: Noise) -> np.ndarray:
        return x + noise.draw(DiscreteLaplace(Fraction(2)), 4).sum()

    assert not runs_in_lanes(mixed, np.arange(4))


def test_a_measurement_that_decides_by_its_draws_has_no_lanes() -> None:
    def decides(x: np.ndarray, noise: Noise) -> np.ndarray:
        drawn = noise.draw(DiscreteLaplace(Fraction(2)), 4)
        return x + drawn if drawn[0] > 0 else x - drawn

    assert not runs_in_lanes(decides, np.arange(4))


def test_the_exact_bound_of_a_known_leak_is_approached() -> None:
    # One count with noise of scale 1 leaks exactly ε = 1.
    law = DiscreteLaplace(Fraction(1))
    sample = in_lanes(lambda x, noise: x + noise.draw(law, 1))
    claim = Claim(((1.0, 0.0),))
    verdict = audit(sample, (np.array([0]), np.array([1])), claim, MILLION, Noise())
    assert 0.95 < verdict.bound <= 1
