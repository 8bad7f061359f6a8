"""Weighted marginal tables: least squares by brute force, sensitivity by enumeration, simulation, refusals."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from fractions import Fraction
from functools import cache
from itertools import combinations

import numpy as np
import pytest

from mechanisms.accounting import Definition, Loss, Neighbours, PrivacyUnit
from mechanisms.domain import Domain, Integer
from mechanisms.matrix.answering import with_reconstruction
from mechanisms.matrix.marginals.laplace import WeightedMarginals
from mechanisms.matrix.mechanism import Optimised, QueryPlan
from mechanisms.matrix.workload.factor import Identity, Prefix
from mechanisms.matrix.workload.union import Term, Workload
from mechanisms.noise import DiscreteLaplace, Noise
from mechanisms.protocol import Measurement, PlanError
from tests.mechanisms.audit import Lanes

MECHANISM = WeightedMarginals()
ONE = Loss(Definition.PURE, Fraction(1))
REPLACE = PrivacyUnit(Neighbours.REPLACE_ONE)


def domain_of(shape: tuple[int, ...]) -> Domain:
    return Domain(tuple(Integer(f"c{i}", upper=n - 1) for i, n in enumerate(shape)))


def workload_of(shape: tuple[int, ...], weights: dict[tuple[int, ...], float]) -> Workload:
    terms = (Term(w, {i: Identity(shape[i]) for i in axes}) for axes, w in weights.items())
    return Workload(shape, tuple(terms), "")


def pairs(shape: tuple[int, ...]) -> Workload:
    return workload_of(shape, dict.fromkeys(combinations(range(len(shape)), 2), 1.0))


def planned(workload: Workload, loss: Loss = ONE) -> QueryPlan:
    domain = domain_of(workload.shape)
    found = MECHANISM.optimise(domain, workload, loss.definition, lambda done, of: None)
    return MECHANISM.plan(domain, workload, loss, found)


def matrix_of(plan: QueryPlan) -> np.ndarray:
    """What is counted, as an integer matrix over all cells."""
    empty: list[tuple[str, ...]] = [()] * (len(plan.details["weights"]) - len(plan.counted))
    columns = list(zip(plan.workload.shape, plan.domain.names, strict=True))
    blocks: list[np.ndarray] = []
    for weight, kept in zip(plan.details["weights"], [*empty, *plan.counted], strict=True):
        block = np.array([[weight]])
        for n, name in columns:
            block = np.kron(block, np.eye(n, dtype=np.int64) if name in kept else np.ones((1, n), np.int64))
        blocks.append(block)
    return np.concatenate(blocks)


def counted(plan: QueryPlan, cells: np.ndarray) -> np.ndarray:
    names = plan.domain.names
    axes = [tuple(i for i, name in enumerate(names) if name not in kept) for kept in plan.counted]
    return np.concatenate([cells.sum(axis=a).ravel() for a in axes])


def given(workload: Workload, weights: dict[tuple[int, ...], int]) -> Optimised:
    """Weights chosen by hand."""
    sets = np.array([[i in axes for i in range(len(workload.shape))] for axes in weights])
    return Optimised({"sets": sets, "weights": np.array(list(weights.values()))})


# Planned where a test first needs one.
CASES: dict[str, Callable[[], QueryPlan]] = {
    "pairs": lambda: planned(pairs((3, 2, 4))),
    "pairs of large columns": lambda: planned(pairs((6, 5, 4))),
    "weighted, one column left out": lambda: planned(
        workload_of((3, 2, 4, 2), {(0, 1): 1.0, (2,): 5.0, (): 0.5, (0,): 0.1})
    ),
    "replace-one": lambda: planned(pairs((3, 2, 4)), Loss(Definition.PURE, Fraction(1, 7), REPLACE)),
    "the number of rows counted, by hand": lambda: MECHANISM.plan(
        domain_of((3, 4)),
        workload_of((3, 4), {(0,): 1.0, (1,): 1.0}),
        Loss(Definition.PURE, Fraction(2), REPLACE),
        given(workload_of((3, 4), {}), {(): 3, (0,): 5, (1,): 2, (0, 1): 1}),
    ),
}


@cache
def plan_of(case: str) -> QueryPlan:
    return CASES[case]()


@pytest.fixture(params=CASES)
def plan(request: pytest.FixtureRequest) -> QueryPlan:
    return plan_of(request.param)


def test_answers_and_errors_are_those_of_least_squares_on_all_cells(plan: QueryPlan) -> None:
    workload = plan.workload
    queries = np.stack([workload.answers(cell) for cell in np.eye(workload.cells)], axis=1)
    cells = np.random.default_rng(1).integers(0, 100, workload.shape)
    measurement = MECHANISM.measure(plan, counted(plan, cells), Noise())
    result = MECHANISM.reconstruct(plan, measurement)
    solved = queries @ np.linalg.pinv(matrix_of(plan).astype(float), rcond=1e-12)
    assert result.answers == pytest.approx(solved @ measurement.values)
    assert result.standard_errors == pytest.approx(np.sqrt(plan.noise.variance * (solved**2).sum(axis=1)))
    weights = np.repeat([t.weight**2 for t in workload.terms], [t.queries for t in workload.terms])
    assert plan.total_error == pytest.approx(float(weights @ result.standard_errors**2))
    assert plan.lower_bound is not None
    assert plan.lower_bound < plan.total_error


def test_sensitivity_is_that_of_the_matrix_s_columns(plan: QueryPlan) -> None:
    matrix = matrix_of(plan)
    if plan.loss.unit == REPLACE:
        matrix = (matrix[:, :, None] - matrix[:, None, :]).reshape(len(matrix), -1)
    assert plan.sensitivity.l1 == np.abs(matrix).sum(axis=0).max()
    assert plan.sensitivity.l2_squared == (matrix**2).sum(axis=0).max()
    assert plan.noise == DiscreteLaplace(plan.sensitivity.l1 / plan.loss.amount)


def test_several_rows_of_a_person_multiply_the_sensitivity() -> None:
    one, three = (
        planned(pairs((3, 2, 4)), Loss(Definition.PURE, Fraction(1), PrivacyUnit(max_rows=m))) for m in (1, 3)
    )
    assert three.sensitivity.l1 == 3 * one.sensitivity.l1
    assert three.total_error == pytest.approx(9 * one.total_error, rel=0.1)


def test_without_noise_the_answers_are_exact(plan: QueryPlan) -> None:
    class Silent(Noise):
        def draw(self, law: object, size: int) -> np.ndarray:
            return np.zeros(size, dtype=np.int64)

    cells = np.random.default_rng(2).integers(0, 10**6, plan.workload.shape)
    measurement = MECHANISM.measure(plan, counted(plan, cells), Silent())
    assert np.array_equal(measurement.values, matrix_of(plan) @ cells.ravel())
    exact = plan.workload.answers(cells.ravel())
    assert MECHANISM.reconstruct(plan, measurement).answers == pytest.approx(exact)


def test_the_most_likely_cells_are_those_of_least_absolute_residuals() -> None:
    """No cells of a grid around them fit the noisy tables better in L1."""
    plan = with_reconstruction(plan_of("the number of rows counted, by hand"), "l1")
    measurement = MECHANISM.measure(plan, counted(plan, np.full((3, 4), 2)), Noise())
    cells = MECHANISM.reconstruct(plan, measurement).cells
    assert cells is not None and cells.min() >= 0
    matrix = matrix_of(plan)
    least = np.abs(measurement.values - matrix @ cells).sum()
    near = np.maximum(cells + np.random.default_rng(1).normal(0, 0.5, (10_000, 12)), 0)
    assert least <= np.abs(measurement.values - near @ matrix.T).sum(axis=1).min() + 1e-6


@pytest.mark.slow
def test_simulated_errors_are_the_expected_ones() -> None:
    """Over 20,000 runs; the square of a Laplace noise has variance 5, and mean squares lie within 6 standard errors."""
    runs, plan = 20_000, plan_of("pairs of large columns")
    cells = np.arange(120).reshape(plan.workload.shape)
    lanes = Lanes(Noise(np.random.default_rng(4).bytes), runs)
    values = MECHANISM.measure(plan, counted(plan, cells), lanes).values
    queries = np.stack([plan.workload.answers(cell) for cell in np.eye(plan.workload.cells)], axis=1)
    solved = queries @ np.linalg.pinv(matrix_of(plan).astype(float), rcond=1e-12)
    errors = values @ solved.T - plan.workload.answers(cells.ravel())
    result = MECHANISM.answers(plan, Measurement(values[0]))
    squares = (errors / result.standard_errors) ** 2
    assert np.abs(squares.mean(axis=0) - 1).max() < 6 * math.sqrt(5 / runs)
    assert abs((errors**2).sum(axis=1).mean() / plan.total_error - 1) < 0.03
    inside = (np.abs(errors) <= result.half_widths).mean(axis=0)
    assert inside.min() > 0.95 - 6 * math.sqrt(0.95 * 0.05 / runs)


def test_a_plan_survives_json_and_the_optimised_weights_storing() -> None:
    plan = plan_of("pairs")
    read = QueryPlan.from_json(json.loads(json.dumps(plan.to_json())), plan.workload, plan.optimised)
    assert read == plan
    assert MECHANISM.measured(read) == MECHANISM.measured(plan)


def test_weights_serve_any_loss() -> None:
    plan = plan_of("pairs")
    again = MECHANISM.plan(plan.domain, plan.workload, Loss(Definition.PURE, Fraction(1, 10)), plan.optimised)
    assert again.details == plan.details
    assert again.total_error == pytest.approx(100 * plan.total_error, rel=0.1)


def test_without_weights_there_is_no_plan() -> None:
    with pytest.raises(PlanError, match="weights first"):
        MECHANISM.plan(domain_of((2, 2)), pairs((2, 2)), ONE)


@pytest.mark.parametrize(
    ("workload", "definition", "said"),
    [
        (pairs((2, 2)), Definition.ZCDP, "pure"),
        (workload_of((2,) * 17, {(i,): 1.0 for i in range(17)}), Definition.PURE, "at most 16"),
        (Workload((4,), (Term(1.0, {0: Prefix(4)}),), ""), Definition.PURE, "marginal tables"),
    ],
)
def test_what_does_not_fit_is_refused_with_a_remedy(
    workload: Workload, definition: Definition, said: str
) -> None:
    assert said in MECHANISM.refusal(domain_of(workload.shape), workload, definition)
