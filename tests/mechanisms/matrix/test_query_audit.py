"""No mechanism for a workload of queries leaks more than it states, and half of its noise is caught.

All measurements share one call; see `tests.mechanisms.test_audit` for what a verdict means.
"""

from __future__ import annotations

from fractions import Fraction
from itertools import cycle

import numpy as np
import pytest

from mechanisms import registry
from mechanisms.accounting import Definition, Loss, Neighbours, PrivacyUnit
from mechanisms.domain import Domain, Integer
from mechanisms.matrix.fixed_strategies import UploadedStrategy
from mechanisms.matrix.mechanism import Optimised, QueryMechanism, QueryPlan
from mechanisms.matrix.workload.text import read_workload
from mechanisms.noise import Noise
from tests.mechanisms.audit import MILLION, RUNS, Claim, Weakened, audit, in_lanes, runs_in_lanes

# Half of any method's noise is refuted in each gate.
pytestmark = pytest.mark.every_day

LINE = Domain((Integer("x", lower=0, upper=2),))
PLANE = Domain((Integer("x", lower=0, upper=1), Integer("y", lower=0, upper=1)))
ASKED = [(LINE, 'prefix("x")'), (PLANE, "marginals(<=2)"), (PLANE, 'identity("x")')]
# A row more in the second cell, or a row that moves from the last to the first.
TABLES = {
    Neighbours.ADD_REMOVE: {3: ([5, 0, 2], [5, 1, 2]), 4: ([9, 2, 0, 5], [9, 2, 1, 5])},
    Neighbours.REPLACE_ONE: {3: ([5, 0, 2], [6, 0, 1]), 4: ([9, 2, 0, 5], [10, 2, 0, 4])},
}
AMOUNT = {Definition.PURE: Fraction(1), Definition.ZCDP: Fraction(1, 2)}
OWN = Optimised({"strategy": np.array([[1.0, 1, 0.3], [0, 1, 1], [1, 0, 0.5]])})
# Each kind of neighbours with each mechanism; where it takes both kinds of loss, with one of them.
CASES = [
    (mechanism, definition, neighbours)
    for mechanism in registry.QUERIES
    for definition, neighbours in zip(cycle(sorted(mechanism.definitions)), Neighbours, strict=False)
]


def planned(mechanism: QueryMechanism, loss: Loss) -> QueryPlan:
    """For the first of the workloads that the mechanism serves."""
    for domain, text in ASKED:
        workload = read_workload(text, domain)
        if not mechanism.refusal(domain, workload, loss.definition):
            optimised = OWN if isinstance(mechanism, UploadedStrategy) else None
            if mechanism.optimises:
                optimised = mechanism.optimise(domain, workload, loss.definition, lambda _done, _all: None)
            return mechanism.plan(domain, workload, loss, optimised)
    raise AssertionError(f"{mechanism.name} serves none of the workloads")


def counted(plan: QueryPlan, cells: list[int]) -> np.ndarray:
    """The tables that a plan measures, of a table with these cells."""
    tensor = np.array(cells).reshape(plan.domain.shape)
    names = plan.domain.names
    tables = [
        tensor.sum(axis=tuple(i for i, name in enumerate(names) if name not in kept)) for kept in plan.counted
    ]
    return np.concatenate([np.ravel(table) for table in tables])


@pytest.mark.slow
@pytest.mark.parametrize(
    ("mechanism", "definition", "neighbours"), CASES, ids=[f"{m.name} {d} {n}" for m, d, n in CASES]
)
def test_answers_keep_their_promise_and_half_their_noise_does_not(
    mechanism: QueryMechanism, definition: Definition, neighbours: Neighbours
) -> None:
    loss = Loss(definition, AMOUNT[definition], PrivacyUnit(neighbours))
    plan = planned(mechanism, loss)

    def measure(counts: np.ndarray, noise: Noise) -> np.ndarray:
        return mechanism.measure(plan, counts, noise).values

    before, after = (counted(plan, cells) for cells in TABLES[neighbours][plan.domain.size])
    assert runs_in_lanes(measure, before)
    _audited(mechanism, plan, before, after, RUNS)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "text", "definition"),
    [
        ("workload-strategy", 'prefix("x")', Definition.PURE),
        ("residual-planner", "total + marginals(<=1)", Definition.ZCDP),
    ],
)
def test_a_person_with_two_rows_who_is_replaced_by_one_without_stays_hidden(
    name: str, text: str, definition: Definition
) -> None:
    """The number of rows was once taken as public: told at 2.0 ε by running totals, and exactly by ResidualPlanner."""
    loss = Loss(definition, AMOUNT[definition], PrivacyUnit(Neighbours.REPLACE_ONE, max_rows=2))
    mechanism, domain = registry.query_mechanism(name), Domain((Integer("x", lower=0, upper=1),))
    plan = mechanism.plan(domain, read_workload(text, domain), loss)
    _audited(mechanism, plan, counted(plan, [3, 1]), counted(plan, [1, 1]), MILLION // 10)


def _audited(
    mechanism: QueryMechanism, plan: QueryPlan, before: np.ndarray, after: np.ndarray, runs: int
) -> None:
    sample, claim = (
        in_lanes(lambda counts, noise: mechanism.measure(plan, counts, noise).values),
        Claim.of(plan.loss),
    )
    verdict = audit(sample, (before, after), claim, runs, Noise())
    broken = audit(sample, (before, after), claim, MILLION // 5, Weakened())
    relation = f"{plan.loss.definition} {plan.loss.unit.neighbours}"
    print(f"\n{mechanism.name:24} {relation}: stated {verdict.stated:.3f}, at least {verdict.bound:.3f}")
    print(f"    with half the noise stated {broken.stated:.3f}, at least {broken.bound:.3f}")
    assert not verdict.refuted
    assert broken.refuted
