"""p-Identity over all cells: its error and sensitivity by brute force, and its gain over products and unions."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest

from mechanisms.accounting import Definition, Loss, Neighbours, PrivacyUnit
from mechanisms.domain import Domain, Integer
from mechanisms.matrix.all_cells import AllCellsPIdentityStrategy
from mechanisms.matrix.answering import MatrixMechanism, strategy_of
from mechanisms.matrix.joint_strategies import SplitUnionStrategy
from mechanisms.matrix.mechanism import QueryPlan
from mechanisms.matrix.optimised import PIdentityStrategy
from mechanisms.matrix.workload.text import read_workload
from mechanisms.protocol import PlanError

MECHANISM = AllCellsPIdentityStrategy()
LOSS = Loss(Definition.PURE, Fraction(1))


def box(*shape: int) -> Domain:
    return Domain(tuple(Integer(name, lower=1, upper=n) for name, n in zip("abc", shape, strict=False)))


def planned(mechanism: MatrixMechanism, domain: Domain, text: str, loss: Loss = LOSS) -> QueryPlan:
    workload = read_workload(text, domain)
    found = mechanism.optimise(domain, workload, Definition.PURE, lambda _done, _all: None)
    return mechanism.plan(domain, workload, loss, found)


@pytest.mark.parametrize(
    "text", ['ranges("a") x ranges("b")', '2 * prefix("a") + prefix("b") + identity("a") x identity("b")']
)
@pytest.mark.parametrize("neighbours", Neighbours)
def test_error_and_sensitivity_are_those_of_the_integers_by_brute_force(
    text: str, neighbours: Neighbours
) -> None:
    plan = planned(MECHANISM, box(7, 6), text, Loss(Definition.PURE, Fraction(1), PrivacyUnit(neighbours)))
    matrix = strategy_of(MECHANISM, plan).matrix().toarray()
    inverse = np.linalg.inv(matrix.astype(np.float64).T @ matrix)
    assert plan.total_error == pytest.approx(
        plan.noise.variance * np.trace(plan.workload.gram() @ inverse), rel=1e-8
    )
    columns = np.abs(matrix).sum(axis=0)
    if neighbours is Neighbours.REPLACE_ONE:
        columns = np.abs(matrix[:, :, None] - matrix[:, None, :]).sum(axis=0)
    assert plan.sensitivity.l1 == columns.max()


def test_the_grid_costs_less_than_a_thousandth() -> None:
    plan = planned(MECHANISM, box(9, 8), 'ranges("a") x ranges("b")')
    assert plan.optimised is not None
    scaled = plan.total_error / plan.noise.variance * plan.sensitivity.l1**2
    assert scaled == pytest.approx(plan.optimised.facts["loss"], rel=1e-3)


@pytest.mark.slow
@pytest.mark.sampled
@pytest.mark.parametrize(
    ("shape", "text", "ratio"),
    [
        ((20, 20), 'ranges("a") x ranges("b")', 0.933),
        ((20, 20), 'width(5, "a") x prefix("b") + prefix("a") x width(5, "b")', 0.92),
        ((20, 20), 'prefix("a") + prefix("b")', 0.98),
        ((8, 8, 4), 'marginals(=2) + prefix("a") x prefix("b")', 0.97),
    ],
)
def test_sums_across_columns_do_better_than_products_and_unions(
    shape: tuple[int, ...], text: str, ratio: float
) -> None:
    """Root mean squared error, as a share of that of the best of the others."""
    domain, others = box(*shape), [PIdentityStrategy(), SplitUnionStrategy()]
    workload = read_workload(text, domain)
    fitting = [m for m in others if not m.refusal(domain, workload, Definition.PURE)]
    least = min(planned(m, domain, text).total_error for m in fitting)
    assert math.sqrt(planned(MECHANISM, domain, text).total_error / least) <= ratio


def test_where_no_sum_helps_single_cells_are_kept() -> None:
    plan = planned(MECHANISM, box(4, 3), 'identity("a") x identity("b")')
    assert (plan.details["sums"], plan.sensitivity.l1) == (12, 1)


@pytest.mark.slow
def test_the_same_workload_gets_the_same_strategy() -> None:
    one, two = (planned(MECHANISM, box(6, 5), 'prefix("a") + prefix("b")').optimised for _ in range(2))
    assert one is not None
    assert two is not None
    assert np.array_equal(one.arrays["theta"], two.arrays["theta"])


@pytest.mark.parametrize(
    ("shape", "text", "words"),
    [((9,), 'prefix("a")', "is for several columns"), ((30, 30), 'prefix("a")', "up to 640 cells")],
)
def test_what_does_not_suit_is_refused(shape: tuple[int, ...], text: str, words: str) -> None:
    with pytest.raises(PlanError, match=words):
        planned(MECHANISM, box(*shape), text)
