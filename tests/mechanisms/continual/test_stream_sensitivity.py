"""Brute force: no person moves the answers of a stream further than its plan says, for every kind of unit.

A person's rows lie in any periods and series, before and after; every difference of the two is multiplied by the
strategy's matrix (`tests/mechanisms/test_sensitivity.py` does the same for tables; `test_buffered.py` for the one
strategy whose answers are rounded).
"""

from __future__ import annotations

import numpy as np
import pytest

from mechanisms import registry
from mechanisms.accounting import Definition, Loss, Neighbours, PrivacyUnit
from mechanisms.calibration import law_for
from mechanisms.continual.mechanism import StreamMechanism, StreamPlan, StreamRequest
from mechanisms.continual.strategy import covers_corrections
from mechanisms.continual.stream import LinearStream
from mechanisms.domain import Boolean, Domain
from tests.mechanisms.continual.running import strategy_matrix
from tests.mechanisms.neighbours import UNITS, name, people
from tests.mechanisms.test_sensitivity import AMOUNT, farthest

PERIODS, SERIES, LARGEST = 4, 2, 3
# Kinds of loss in which the norms of some column are exactly those that are stated, not bounds.
EXACT = {
    "naive-increments": set(Definition),
    "naive-republication": set(Definition),
    "binary-tree": set(Definition),
    "refined-tree": set(Definition),
    "p-identity": {Definition.PURE},
    "fda": {Definition.PURE},
    "optimal-split": {Definition.PURE},
    "square-root-toeplitz": {Definition.ZCDP},
}
CASES = [(m, d) for m in registry.STREAMS if m.name != "buffered-toeplitz" for d in sorted(m.definitions)]
every_unit = pytest.mark.parametrize("unit", UNITS, ids=name)
every_stream = pytest.mark.parametrize(
    ("mechanism", "definition"), CASES, ids=[f"{m.name} {d}" for m, d in CASES]
)


def planned(
    mechanism: StreamMechanism, loss: Loss, series: int, largest: int
) -> tuple[StreamPlan, np.ndarray]:
    """A plan, and its strategy's matrix over the increments of all series."""
    assert isinstance(mechanism, LinearStream)
    plan = mechanism.plan(StreamRequest(PERIODS, series, largest), loss)
    answers = strategy_matrix(mechanism.strategy(plan), PERIODS, loss.definition)
    assert plan.noise == law_for(loss, plan.sensitivity)
    return plan, np.kron(answers, np.eye(series, dtype=np.int64))


@every_unit
@every_stream
def test_a_stream_of_counts_states_how_far_a_person_moves_it(
    mechanism: StreamMechanism, definition: Definition, unit: PrivacyUnit
) -> None:
    plan, answers = planned(mechanism, Loss(definition, AMOUNT[definition], unit), SERIES, 1)
    moved, stated = farthest(answers, unit), plan.sensitivity
    assert moved.l1 <= stated.l1
    assert moved.l2_squared <= stated.l2_squared
    if definition in EXACT.get(mechanism.name, ()):
        pure = definition is Definition.PURE
        assert (moved.l1 == stated.l1) if pure else (moved.l2_squared == stated.l2_squared)


@pytest.mark.parametrize("unit", UNITS[:-1], ids=name)
@every_stream
def test_a_stream_of_sums_states_how_far_a_person_moves_it(
    mechanism: StreamMechanism, definition: Definition, unit: PrivacyUnit
) -> None:
    """A row adds 0 to 3 to the sum of its period: also a row that is replaced may add nothing."""
    plan, answers = planned(mechanism, Loss(definition, AMOUNT[definition], unit), 1, LARGEST)
    adds = np.kron(np.eye(PERIODS, dtype=np.int64), np.arange(LARGEST + 1))
    moved = farthest(answers @ adds, unit)
    assert moved.l1 <= plan.sensitivity.l1
    assert moved.l2_squared <= plan.sensitivity.l2_squared


def corrected(rows: int, kinds: int) -> np.ndarray:
    """(k, kinds) all that a person can add in each period by rows and as many corrections, at most `rows` together."""
    histories = [
        added - taken
        for added in people(rows, kinds)
        for taken in people(rows // 2, kinds)
        if taken.sum() <= added.sum() <= rows - taken.sum()
    ]
    return np.unique(histories, axis=0)


@pytest.mark.parametrize("unit", UNITS, ids=name)
@every_stream
def test_corrections_are_covered_where_a_stream_says_so(
    mechanism: StreamMechanism, definition: Definition, unit: PrivacyUnit
) -> None:
    """To lower the next period for one row too many moved the answers by two rows, where only one was paid for."""
    loss = Loss(definition, AMOUNT[definition], unit)
    plan, answers = planned(mechanism, loss, 1, 1)
    moved = corrected(max(2, unit.max_rows), PERIODS) @ answers.T
    if unit.neighbours is Neighbours.REPLACE_ONE:
        moved = (moved[:, None] - moved).reshape(-1, moved.shape[1])
    pure = definition is Definition.PURE
    farthest_of = (
        np.abs(moved).sum(axis=1).max() if pure else (moved.astype(np.float64) ** 2).sum(axis=1).max()
    )
    stated = plan.sensitivity.l1 if pure else plan.sensitivity.l2_squared
    assert covers_corrections(loss) is (
        unit.max_rows >= 2 and (pure or unit.neighbours is Neighbours.ADD_REMOVE)
    )
    if covers_corrections(loss):
        assert farthest_of <= stated * (1 + 1e-12)
    elif mechanism.name == "naive-increments":
        assert farthest_of > stated


def test_rows_that_are_left_out_of_a_stream_cost_nothing_more() -> None:
    """A stream never takes the number of rows as public, so a domain that leaves rows out plans the same noise."""
    domain = Domain((Boolean("a", closed=True),))
    public = Loss(Definition.PURE, AMOUNT[Definition.PURE], UNITS[2])
    for mechanism in (m for m in registry.STREAMS if Definition.PURE in m.definitions):
        whole, fewer = (
            mechanism.plan(StreamRequest(PERIODS), loss) for loss in (public, public.for_domain(domain))
        )
        assert (whole.sensitivity, whole.noise) == (fewer.sensitivity, fewer.noise)
