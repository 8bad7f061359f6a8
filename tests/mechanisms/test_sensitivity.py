"""Brute force: between all neighbours of small tables, of every kind of unit, nothing moves further than its plan says.

What a mechanism measures without noise is taken as a matrix A from the tables of one row, and ‖A(u - v)‖ is worked out
for every difference u - v of a person's rows before and after (`neighbours`). Where the plan claims the maximum itself,
it must
be reached. Methods whose questions follow from answers before: `histogram/test_stepwise.py`; streams:
`continual/test_stream_sensitivity.py`.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from functools import cache

import numpy as np
import pytest

from mechanisms import registry
from mechanisms.accounting import Definition, Loss, Neighbours, PrivacyUnit
from mechanisms.calibration import law_for
from mechanisms.continual.mechanism import StreamPlan
from mechanisms.domain import Boolean, Domain, Integer
from mechanisms.matrix.mechanism import Optimised, QueryMechanism, QueryPlan
from mechanisms.matrix.workload.text import read_workload
from mechanisms.moments.basis import Centred
from mechanisms.moments.column import MeasuredColumn
from mechanisms.moments.mechanism import BernsteinSums, exact_sums
from mechanisms.moments.plan import MomentsPlan
from mechanisms.noise import DiscreteLaplace, Noise, NoiseLaw
from mechanisms.protocol import Mechanism, Plan, PlanError
from mechanisms.response import Response
from mechanisms.selection import BestOption, FewestConflicts, MostCommonValue, Quantile, Score
from mechanisms.sensitivity import Sensitivity
from tests.mechanisms.neighbours import UNITS, changes, name, pairs, people

AMOUNT = {Definition.PURE: Fraction(1, 2), Definition.ZCDP: Fraction(1, 8)}
every_unit = pytest.mark.parametrize("unit", UNITS, ids=name)


def box(*widths: int) -> Domain:
    return Domain(tuple(Integer(f"x{i}", lower=1, upper=w) for i, w in enumerate(widths)))


class NoNoise(Noise):
    """Zeros for all noise."""

    def draw(self, law: NoiseLaw, size: int) -> np.ndarray:
        return np.zeros(size, dtype=np.int64)


def farthest(matrix: np.ndarray, unit: PrivacyUnit) -> Sensitivity:
    """The largest change of Ax between neighbours, over all of them; A: (p, n) integers."""
    moved = matrix @ changes(unit, matrix.shape[1]).T
    # Squares may not fit 64 bits: floats find the longest, and Python's integers tell them exactly.
    lengths = (moved.astype(np.float64) ** 2).sum(axis=0)
    longest = moved[:, lengths >= lengths.max() * (1 - 1e-9)].astype(object)
    return Sensitivity(int(np.abs(moved).sum(axis=0).max()), int((longest**2).sum(axis=0).max()))


def check(
    plan: Plan | QueryPlan | StreamPlan, matrix: np.ndarray, unit: PrivacyUnit, *, reached: bool
) -> None:
    """The plan states at least the largest change, or exactly that, and its noise is for what it states."""
    moved, stated, pure = farthest(matrix, unit), plan.sensitivity, plan.loss.definition is Definition.PURE
    assert moved.l1 <= stated.l1 and moved.l2_squared <= stated.l2_squared, (
        f"with {getattr(plan, 'parameters', {})}, on {plan.domain.shape} cells, one person moves what is measured by "
        f"{moved}, but the plan states {stated}: state a sensitivity that holds for every domain and parameter"
    )
    assert plan.noise == law_for(plan.loss, stated)
    if reached:
        assert (moved.l1 == stated.l1) if pure else (moved.l2_squared == stated.l2_squared)


def losses(definitions: frozenset[Definition], unit: PrivacyUnit) -> Iterator[Loss]:
    return (Loss(d, AMOUNT[d], unit) for d in sorted(definitions))


def exact_losses(mechanism: Mechanism, unit: PrivacyUnit) -> Iterator[Loss]:
    """Those whose noise is that of `law_for`: the Laplace histogram keeps ρ by ε = √(2ρ) instead."""
    pure = mechanism.definitions - {Definition.ZCDP}
    return losses(pure if mechanism.name == "laplace-histogram" else mechanism.definitions, unit)


LINEAR = [m for m in registry.HISTOGRAMS if m.is_linear]


@pytest.mark.slow
@every_unit
@pytest.mark.parametrize("mechanism", LINEAR, ids=lambda m: m.name)
def test_a_histogram_states_exactly_how_far_a_person_moves_it(
    mechanism: Mechanism, unit: PrivacyUnit
) -> None:
    for domain in (box(2), box(4), box(2, 4)):
        for purpose in ("cells", "ranges", "totals"):
            for loss in exact_losses(mechanism, unit):
                plan = mechanism.plan(domain, {"purpose": purpose}, loss)
                rows = np.eye(domain.size, dtype=np.int64)
                measured = np.array([mechanism.measure(plan, row, NoNoise()).values for row in rows]).T
                check(plan, measured, unit, reached=True)


WORKLOADS = [
    (box(4), 'prefix("x0")'),
    (box(2), 'prefix("x0")'),
    (box(3), 'ranges("x0")'),
    (box(3), "total"),
    (box(4), '100 * total + ranges("x0")'),
    (box(2, 3), "marginals(<=2)"),
    (box(2, 3), "100 * total + marginals(<=1)"),
    (box(3, 2), "marginals(<=1)"),
    (box(2, 2), 'prefix("x0") x identity("x1")'),
    (box(2, 3), '3 * identity("x0") + prefix("x1")'),
]
OWN = np.array([[2.0, 1, 0.3, 5], [0, -1, 1, 1], [1, 0, 0.5, -2], [3, 3, 3, 3]])


@cache
def optimised(mechanism: QueryMechanism, place: int, definition: Definition) -> Optimised | None:
    domain, text = WORKLOADS[place]
    if mechanism.name == "uploaded-strategy":
        return Optimised({"strategy": np.vstack([np.tile(OWN, (1, 2)), np.eye(8)])[:, : domain.size]})
    if not mechanism.optimises:
        return None
    return mechanism.optimise(domain, read_workload(text, domain), definition, lambda _done, _all: None)


def query_plans(mechanism: QueryMechanism, unit: PrivacyUnit) -> Iterator[QueryPlan]:
    """Of every workload that the mechanism serves."""
    for place, (domain, text) in enumerate(WORKLOADS):
        for loss in losses(mechanism.definitions, unit):
            workload = read_workload(text, domain)
            if not mechanism.refusal(domain, workload, loss.definition):
                found = optimised(mechanism, place, loss.definition)
                yield mechanism.plan(domain, workload, loss, found)


def counted(plan: QueryPlan, cells: np.ndarray) -> np.ndarray:
    """The tables that a plan measures, of a table with these cells."""
    tensor, names = cells.reshape(plan.domain.shape), plan.domain.names
    left_out = [tuple(i for i, n in enumerate(names) if n not in kept) for kept in plan.counted]
    return np.concatenate([np.ravel(tensor.sum(axis=axes)) for axes in left_out])


@every_unit
@pytest.mark.parametrize("mechanism", registry.QUERIES, ids=lambda m: m.name)
def test_answers_state_at_least_how_far_a_person_moves_them(
    mechanism: QueryMechanism, unit: PrivacyUnit
) -> None:
    plans = list(query_plans(mechanism, unit))
    assert plans
    for plan in plans:
        rows = np.eye(plan.domain.size, dtype=np.int64)
        measured = [mechanism.measure(plan, counted(plan, row), NoNoise()).values for row in rows]
        check(plan, np.array(measured).T, unit, reached=_exact(plan))


def _exact(plan: QueryPlan) -> bool:
    """Norms are exact, and distances: in L1 one column's, those of products and unions are bounds; a total has none."""
    if plan.workload.text == "total":
        return plan.loss.unit.neighbours is Neighbours.ADD_REMOVE
    if plan.loss.definition is Definition.ZCDP:
        return True
    alone = len(plan.domain.shape) == 1 and plan.workload.text != '100 * total + ranges("x0")'
    marginals = plan.mechanism in ("residual-planner", "weighted-marginals")
    return alone or marginals or plan.loss.unit.neighbours is Neighbours.ADD_REMOVE


@every_unit
@pytest.mark.parametrize("degree", [1, 2])
@pytest.mark.parametrize("steps", [1, 3, 40])
def test_means_state_exactly_how_far_a_person_moves_their_sums(
    steps: int, degree: int, unit: PrivacyUnit
) -> None:
    """Every row there can be, of two groups: with each value, and without one."""
    measured = MeasuredColumn.of(Integer("x", lower=0, upper=steps))
    values = sorted({0, 1, steps // 2, steps - 1, steps})
    for loss in losses(BernsteinSums.definitions, unit):
        plan = BernsteinSums().plan(Domain((Boolean("g"),)), [measured], degree, loss, 10)
        [planned] = plan.columns
        rows = [
            _with_row(plan, group, [1, v, v * v, 0, v == 0, v == steps]) for group in (0, 1) for v in values
        ]
        rows += [_with_row(plan, group, [0, 0, 0, 1, 0, 0]) for group in (0, 1)]
        moved = farthest(np.array(rows).T, unit)
        pure = loss.definition is Definition.PURE
        assert moved.l2_squared == planned.sensitivity.l2_squared
        assert moved.l1 == planned.sensitivity.l1 if pure else moved.l1 <= planned.sensitivity.l1
        assert planned.noise == law_for(loss, planned.sensitivity)


@pytest.mark.parametrize("degree", [1, 2])
@pytest.mark.parametrize("steps", [1, 2, 3, 7, 40])
def test_means_of_a_public_number_state_exactly_how_far_one_row_moves_them(steps: int, degree: int) -> None:
    """Every value against every other, and against none."""
    unit = PrivacyUnit(Neighbours.REPLACE_ONE)
    measured = MeasuredColumn.of(Integer("x", lower=0, upper=steps))
    for loss in losses(BernsteinSums.definitions, unit):
        plan = BernsteinSums().plan(Domain(()), [measured], degree, loss, 10)
        [planned] = plan.columns
        assert isinstance(planned.basis, Centred)
        rows = [_with_row(plan, 0, [1, v, v * v, 0, v == 0, v == steps]) for v in range(steps + 1)]
        rows.append(_with_row(plan, 0, [0, 0, 0, 1, 0, 0]))
        assert len({row[0] for row in rows}) == 1
        moved = farthest(np.array(rows).T, unit)
        assert moved.l2_squared <= planned.sensitivity.l2_squared and moved.l1 <= planned.sensitivity.l1
        pure = loss.definition is Definition.PURE
        assert (
            (moved.l1 == planned.sensitivity.l1)
            if pure
            else (moved.l2_squared == planned.sensitivity.l2_squared)
        )
        assert planned.noise == law_for(loss, planned.sensitivity)


def _with_row(plan: MomentsPlan, group: int, powers: list[int]) -> np.ndarray:
    """What is measured of a table with one row."""
    table = np.zeros((1, plan.groups.size, 6), dtype=object)
    table[0, group] = powers
    return BernsteinSums().measure(plan, exact_sums(plan, table), NoNoise()).values.ravel()


def test_columns_share_the_loss() -> None:
    """ε of three columns of the same range is a third each, whatever the steps."""
    columns = [MeasuredColumn.of(Integer(name, lower=0, upper=9)) for name in "abc"]
    plan = BernsteinSums().plan(Domain(()), columns, 2, Loss(Definition.PURE, Fraction(1)), 10)
    paid = [c.sensitivity.l1 / c.noise.scale for c in plan.columns if isinstance(c.noise, DiscreteLaplace)]
    assert paid == [Fraction(1, 3)] * 3


ORDERED = Integer("x", lower=0, upper=3, missing_cell=True)
SCORES: list[tuple[Score, np.ndarray]] = [
    # A score, and what a row of each kind adds to the counts that it takes.
    (MostCommonValue.of(Integer("x", lower=0, upper=2)), np.eye(3, dtype=np.int64)),
    (BestOption(("a", "b")), np.array([[0, 0, 1, 1], [0, 1, 0, 1]])),
    (FewestConflicts(("a", "b")), np.array([[0, 0, 1, 1], [0, 1, 0, 1]])),
    (Quantile.of(ORDERED, Fraction(1, 2)), np.eye(5, dtype=np.int64)),
    (Quantile.of(ORDERED, Fraction(1, 4)), np.eye(5, dtype=np.int64)),
    (Quantile(("low", "high"), ((0, 2), (2, 4)), 4, 4, Fraction(2, 3)), np.eye(4, dtype=np.int64)),
    (Quantile(("≤0|1", "≤1|2"), ((1, 1), (2, 2)), 3, 3, Fraction(1, 4)), np.eye(3, dtype=np.int64)),
]


def score_changes(score: Score, adds: np.ndarray, unit: PrivacyUnit) -> np.ndarray:
    """Of the scores between all neighbours, from every table of at most 3 rows."""
    before, after = pairs(unit, adds.shape[1])
    persons, which = np.unique(np.vstack([before, after]), axis=0, return_inverse=True)
    first, second = np.split(which.ravel(), 2)
    moved = []
    for table in people(3, adds.shape[1]):
        scores = np.array([score.scores(adds @ (table + person)) for person in persons])
        moved.append(scores[second] - scores[first])
    return np.concatenate(moved)


@every_unit
@pytest.mark.parametrize(("score", "adds"), SCORES, ids=[f"{s.kind} {i}" for i, (s, _) in enumerate(SCORES)])
def test_a_score_moves_exactly_as_far_as_it_says(score: Score, adds: np.ndarray, unit: PrivacyUnit) -> None:
    moved, bound = score_changes(score, adds, unit), score.bound(unit)
    assert np.abs(moved).max() == bound.sensitivity
    one_way = (moved.min(axis=1) >= 0) | (moved.max(axis=1) <= 0)
    assert bool(one_way.all()) or not bound.monotone
    assert bound.monotone is (unit.neighbours is Neighbours.ADD_REMOVE and score.kind != "quantile")


@every_unit
@pytest.mark.parametrize("mechanism", registry.RESPONSES, ids=lambda m: m.name)
def test_answers_row_by_row_are_given_only_where_their_number_is_public(
    mechanism: Response, unit: PrivacyUnit
) -> None:
    loss = Loss(Definition.PURE, Fraction(1), unit)
    if not unit.total_public:
        with pytest.raises(PlanError, match="no row is left out"):
            mechanism.plan(box(3), loss)
        return
    plan = mechanism.plan(box(3), loss)
    p, q = plan.keep, plan.other
    reports = (
        list(itertools.product((0, 1), repeat=3))
        if mechanism.name == "unary-encoding"
        else np.eye(3, dtype=int)
    )
    for report, own, other in itertools.product(reports, range(3), range(3)):
        if mechanism.name == "unary-encoding":
            chances = [
                math.prod(
                    (p if i == v else q) if yes else 1 - (p if i == v else q) for i, yes in enumerate(report)
                )
                for v in (own, other)
            ]
        else:
            chances = [p if report[v] else q for v in (own, other)]
        assert math.log(chances[0] / chances[1]) <= 1


# Closed yes/no columns without a cell for what does not fit: such rows are left out.
CLOSED = Domain((Boolean("a", closed=True), Boolean("b", closed=True)))
REPLACED = PrivacyUnit(Neighbours.REPLACE_ONE)


@pytest.mark.parametrize("mechanism", registry.HISTOGRAMS, ids=lambda m: m.name)
def test_a_histogram_that_leaves_rows_out_has_no_public_total(mechanism: Mechanism) -> None:
    for loss in losses(mechanism.definitions, REPLACED):
        plan = mechanism.plan(CLOSED, {}, loss)
        absent = mechanism.plan(box(2, 2), {}, replace(loss, unit=UNITS[3]))
        assert (plan.loss, plan.sensitivity, plan.noise) == (absent.loss, absent.sensitivity, absent.noise)
        with pytest.raises(PlanError, match="number of rows is private"):
            mechanism.plan(CLOSED, {"total": 9}, loss)


def test_answers_that_leave_rows_out_have_no_public_total() -> None:
    for mechanism in (m for m in registry.QUERIES if not m.optimises and m.name != "uploaded-strategy"):
        for loss in losses(mechanism.definitions, REPLACED):
            workloads = [read_workload("marginals(<=2)", d) for d in (CLOSED, box(2, 2))]
            plan = mechanism.plan(CLOSED, workloads[0], loss)
            absent = mechanism.plan(box(2, 2), workloads[1], replace(loss, unit=UNITS[3]))
            assert (plan.loss, plan.sensitivity, plan.noise) == (
                absent.loss,
                absent.sensitivity,
                absent.noise,
            )


def test_answers_row_by_row_are_not_given_where_rows_are_left_out() -> None:
    for mechanism in registry.RESPONSES:
        with pytest.raises(PlanError, match="no row is left out"):
            mechanism.plan(CLOSED, Loss(Definition.PURE, Fraction(1), REPLACED))
