"""ResidualPlanner: closed forms, brute force over all cells, simulation, sensitivity by enumeration, refusals."""

from __future__ import annotations

import json
import math
from fractions import Fraction
from functools import reduce
from itertools import combinations

import numpy as np
import pytest
from scipy.optimize import nnls

from mechanisms.accounting import Definition, Loss, Neighbours, PrivacyUnit
from mechanisms.domain import Domain, Integer
from mechanisms.matrix.marginals.residual import ResidualPlanner
from mechanisms.matrix.marginals.residual_weights import residual_sensitivity
from mechanisms.matrix.marginals.sets import MarginalSets
from mechanisms.matrix.mechanism import QueryPlan
from mechanisms.matrix.optimise.bound import lower_bound
from mechanisms.matrix.workload.factor import Identity, Prefix, Total
from mechanisms.matrix.workload.union import Term, Workload
from mechanisms.noise import DiscreteGaussian, Noise
from mechanisms.protocol import Measurement, PlanError
from tests.mechanisms.audit import Lanes
from tests.mechanisms.neighbours import UNITS, name
from tests.mechanisms.test_sensitivity import farthest

PLANNER = ResidualPlanner()
REPLACE = PrivacyUnit(Neighbours.REPLACE_ONE)
HALF = Loss(Definition.ZCDP, Fraction(1, 2))
# Columns of Adult as the publication counts them.
ADULT = (85, 9, 100, 16, 7, 15, 6, 5, 2, 100, 100, 99, 42, 2)


def domain_of(shape: tuple[int, ...]) -> Domain:
    return Domain(tuple(Integer(f"c{i}", upper=n - 1) for i, n in enumerate(shape)))


def marginals(shape: tuple[int, ...], *sizes: int) -> Workload:
    sets = (s for k in sizes for s in combinations(range(len(shape)), k))
    return Workload(shape, tuple(Term(1.0, {i: Identity(shape[i]) for i in s}) for s in sets), "marginals")


def planned(workload: Workload, loss: Loss = HALF) -> QueryPlan:
    return PLANNER.plan(domain_of(workload.shape), workload, loss)


def counted(plan: QueryPlan, cells: np.ndarray) -> np.ndarray:
    """The cells of a table, (n_1, ..., n_d), as the tables that the plan counts."""
    names = plan.domain.names
    axes = [tuple(i for i, name in enumerate(names) if name not in kept) for kept in plan.counted]
    return np.concatenate([cells.sum(axis=a).ravel() for a in axes])


def matrix_of(plan: QueryPlan) -> np.ndarray:
    """What is measured, as an integer matrix over all cells, from Kronecker products."""
    shape, names = plan.workload.shape, plan.domain.names
    rows = []
    for weight, kept in zip(plan.details["weights"], [(), *plan.counted], strict=True):
        factors = [
            n * np.eye(n, dtype=np.int64) - 1 if name in kept else np.ones((1, n), dtype=np.int64)
            for n, name in zip(shape, names, strict=True)
        ]
        rows.append(weight * reduce(np.kron, factors))
    return np.concatenate(rows)


def workload_matrix(workload: Workload) -> np.ndarray:
    return np.stack([workload.answers(cell) for cell in np.eye(math.prod(workload.shape))], axis=1)


@pytest.mark.parametrize(
    ("shape", "size", "total"), [((2, 2), 1, 5.8284271), ((2, 3, 2), 2, 28.5417802)], ids=str
)
def test_total_error_is_the_closed_form(shape: tuple[int, ...], size: int, total: float) -> None:
    # At ρ = 1/2 the noise of one number of sensitivity 1 has variance 1; rounding the weights costs up to 2^-16.
    plan = planned(marginals(shape, size))
    assert total - 1e-7 < plan.total_error < total * (1 + 2**-16)


@pytest.mark.parametrize(
    ("sizes", "published"),
    [((1,), 3.047), ((2,), 6.359), ((3,), 10.515), ((0, 1, 2, 3), 10.665)],
    ids=str,
)
def test_error_on_a_domain_like_adult_is_the_published_one(sizes: tuple[int, ...], published: float) -> None:
    """Source: Xiao, He, Zhang, Kifer 2023, root mean squared errors on Adult."""
    assert round(planned(marginals(ADULT, *sizes)).root_mean_error, 3) == published


WORKLOADS = {
    "one column": Workload((4,), (Term(1.0, {0: Identity(4)}),), ""),
    "pairs": marginals((2, 3, 4), 2),
    "up to three": marginals((3, 2, 2), 0, 1, 2, 3),
    "weighted, a column alone and one left out": Workload(
        (3, 2, 4, 2), (Term(2.0, {0: Identity(3), 2: Identity(4)}), Term(0.5, {1: Identity(2)})), ""
    ),
    "a column of one cell, and a table twice": Workload(
        (3, 1, 2),
        (
            Term(1.0, {0: Identity(3), 1: Identity(1)}),
            Term(3.0, {2: Identity(2), 0: Total(3)}),
            Term(1.0, {0: Identity(3)}),
        ),
        "",
    ),
}
EACH = pytest.mark.parametrize("workload", WORKLOADS.values(), ids=WORKLOADS)


@EACH
def test_total_error_equals_the_singular_value_bound(workload: Workload) -> None:
    """The bound here comes from the eigenvalues of the Gram matrix of all cells."""
    plan, bound = planned(workload), lower_bound(workload, HALF)
    assert bound is not None
    assert plan.lower_bound == pytest.approx(bound)
    assert bound <= plan.total_error * (1 + 1e-12) <= bound * 1.0001


@EACH
@pytest.mark.parametrize("unit", [PrivacyUnit(), REPLACE], ids=["add-remove", "replace-one"])
def test_answers_and_errors_are_those_of_least_squares_on_all_cells(
    workload: Workload, unit: PrivacyUnit
) -> None:
    plan = planned(workload, Loss(Definition.ZCDP, Fraction(1, 50), unit))
    matrix, queries = matrix_of(plan).astype(float), workload_matrix(workload)
    cells = np.random.default_rng(1).integers(0, 100, workload.shape)
    measurement = PLANNER.measure(plan, counted(plan, cells), Noise())
    result = PLANNER.reconstruct(plan, measurement)
    # Weights differ by up to 2^22, those of the unmeasured directions are 0.
    solved = queries @ np.linalg.pinv(matrix, rcond=1e-12)
    assert result.answers == pytest.approx(solved @ measurement.values, abs=1e-4)
    assert result.standard_errors == pytest.approx(np.sqrt(plan.noise.variance * (solved**2).sum(axis=1)))
    weights = np.repeat([t.weight**2 for t in workload.terms], [t.queries for t in workload.terms])
    assert plan.total_error == pytest.approx(float(weights @ result.standard_errors**2))


@EACH
def test_what_is_measured_is_the_weighted_residuals(workload: Workload) -> None:
    plan = planned(workload)
    cells = np.random.default_rng(2).integers(0, 10**6, workload.shape)

    class Silent(Noise):
        def draw(self, law: object, size: int) -> np.ndarray:
            return np.zeros(size, dtype=np.int64)

    values = PLANNER.measure(plan, counted(plan, cells), Silent()).values
    assert np.array_equal(values, matrix_of(plan) @ cells.ravel())


@EACH
@pytest.mark.parametrize("rows", [1, 3])
def test_sensitivity_is_that_of_the_matrix_s_columns(workload: Workload, rows: int) -> None:
    plan = planned(workload, Loss(Definition.ZCDP, Fraction(1), PrivacyUnit(max_rows=rows)))
    matrix = matrix_of(plan)
    assert plan.sensitivity.l1 == rows * np.abs(matrix).sum(axis=0).max()
    assert plan.sensitivity.l2_squared == rows**2 * (matrix**2).sum(axis=0).max()
    assert plan.noise == DiscreteGaussian(Fraction(plan.sensitivity.l2_squared, 2))


@EACH
def test_sensitivity_to_a_replaced_row_is_that_of_the_farthest_columns(workload: Workload) -> None:
    plan = planned(workload, Loss(Definition.ZCDP, Fraction(1), REPLACE))
    matrix = matrix_of(plan)
    apart = matrix[:, :, None] - matrix[:, None, :]
    assert plan.sensitivity.l2_squared == (apart**2).sum(axis=0).max()
    assert plan.sensitivity.l1 >= np.abs(apart).sum(axis=0).max()


@pytest.mark.slow
def test_with_many_columns_the_sensitivity_to_a_replaced_row_is_bounded() -> None:
    """17 columns: the bound set by set is not below the exact maximum, here over all 2^17 sets of differing columns."""
    shape = (2, 3, 4) + (2,) * 14
    closed = MarginalSets.closed(shape, combinations(range(17), 2))
    weights = [1] * len(closed.sets)
    bound = residual_sensitivity(closed, weights, REPLACE).l2_squared
    different = (np.arange(2**17)[:, None] >> np.arange(17)) & 1
    n = np.array(shape)
    inner = np.where(different, -n, n * (n - 1))
    total = np.sum([np.prod([n[i] * (n[i] - 1) for i in s]) for s in closed.sets])
    farthest = 2 * (total - np.sum([inner[:, list(s)].prod(axis=1) for s in closed.sets], axis=0).min())
    assert farthest <= bound <= 4 * total


@pytest.mark.slow
def test_simulated_errors_are_the_expected_ones() -> None:
    """Over 20,000 runs every mean square lies within 6 of its standard errors: false alarms below 1e-6 in all."""
    runs, workload = 20_000, marginals((3, 2, 4), 1, 2)
    plan = planned(workload)
    cells = np.arange(24).reshape(workload.shape)
    lanes = Lanes(Noise(np.random.default_rng(4).bytes), runs)
    values = PLANNER.measure(plan, counted(plan, cells), lanes).values
    solved = workload_matrix(workload) @ np.linalg.pinv(matrix_of(plan).astype(float), rcond=1e-12)
    errors = values @ solved.T - workload.answers(cells.ravel())
    result = PLANNER.answers(plan, Measurement(values[0]))
    squares = (errors / result.standard_errors) ** 2
    assert np.abs(squares.mean(axis=0) - 1).max() < 6 * math.sqrt(2 / runs)
    assert abs((errors**2).sum(axis=1).mean() / plan.total_error - 1) < 0.03
    inside = (np.abs(errors) <= result.half_widths).mean(axis=0)
    assert inside.min() > 0.95 - 6 * math.sqrt(0.95 * 0.05 / runs)


def test_cells_are_those_of_least_squares_with_and_without_signs() -> None:
    """Against dense least squares, and scipy's non-negative least squares on the measured matrix itself."""
    workload = marginals((3, 2, 4), 2)
    plan = planned(workload, Loss(Definition.ZCDP, Fraction(1, 500)))
    cells = np.random.default_rng(5).integers(0, 6, workload.shape)
    measurement = PLANNER.measure(plan, counted(plan, cells), Noise(np.random.default_rng(6).bytes))
    result = PLANNER.reconstruct(plan, measurement)
    matrix = matrix_of(plan).astype(float)
    assert result.estimate is not None and result.cells is not None and result.counts is not None
    assert result.estimate == pytest.approx(np.linalg.pinv(matrix, rcond=1e-12) @ measurement.values)
    assert result.answers == pytest.approx(workload.answers(result.estimate))
    assert result.estimate.min() < 0 <= result.cells.min()
    distance = np.linalg.norm(matrix @ result.cells - measurement.values)
    assert distance == pytest.approx(nnls(matrix, measurement.values)[1], rel=1e-4)
    assert result.counts.min() >= 0
    assert result.counts.sum() == round(result.cells.sum())


def test_all_cells_are_determined_where_every_set_is_measured() -> None:
    workload = marginals((3, 2, 2), 3)
    plan = planned(workload, Loss(Definition.ZCDP, Fraction(1, 100)))
    measurement = PLANNER.measure(plan, counted(plan, np.ones(workload.shape, dtype=np.int64)), Noise())
    result = PLANNER.reconstruct(plan, measurement)
    assert result.cells is not None
    matrix = matrix_of(plan).astype(float)
    distance = np.linalg.norm(matrix @ result.cells - measurement.values)
    assert distance == pytest.approx(nnls(matrix, measurement.values)[1], rel=1e-6)


def test_tables_that_overlap_agree() -> None:
    workload = marginals((3, 2, 4), 1, 2)
    plan = planned(workload)
    measurement = PLANNER.measure(plan, counted(plan, np.ones(workload.shape, dtype=np.int64)), Noise())
    answers = PLANNER.reconstruct(plan, measurement).answers
    tables = {
        tuple(sorted(term.factors)): answers[place].reshape([f.queries for f in term.factors.values()])
        for term, place in workload.offsets()
    }
    for i, j in combinations(range(3), 2):
        assert tables[i, j].sum(axis=1) == pytest.approx(tables[i,])
        assert tables[i, j].sum(axis=0) == pytest.approx(tables[j,])


def test_the_public_number_of_rows_is_known_where_rows_are_replaced() -> None:
    plan = planned(marginals((5, 4), 0, 1), Loss(Definition.ZCDP, Fraction(1, 2), REPLACE))
    cells = np.full((5, 4), 50)
    result = PLANNER.reconstruct(plan, PLANNER.measure(plan, counted(plan, cells), Noise()))
    assert result.answers[0] == pytest.approx(1000, abs=0.01)
    assert result.standard_errors[0] < 0.001 < result.standard_errors[1]


@pytest.mark.parametrize("unit", [u for u in UNITS if not u.total_public], ids=name)
def test_a_number_of_rows_that_is_not_public_has_noise_of_its_own(unit: PrivacyUnit) -> None:
    """Where people are replaced it has the weight that costs nothing, so its error is that of its sensitivity alone."""
    plan = planned(marginals((5, 4), 0, 1), Loss(Definition.ZCDP, Fraction(1, 2), unit))
    error = PLANNER.answers(plan, Measurement(np.zeros(10, dtype=np.int64))).standard_errors[0]
    # The number of rows alone, at ρ = 1/2, would have a standard error of m.
    assert unit.max_rows < error < 4 * unit.max_rows
    column, apart = farthest(matrix_of(plan), PrivacyUnit()), farthest(matrix_of(plan), REPLACE)
    if unit.neighbours is Neighbours.REPLACE_ONE:
        assert column.l2_squared == pytest.approx(apart.l2_squared, rel=0.01)


@pytest.mark.parametrize("unit", UNITS, ids=name)
def test_no_plan_has_less_error_than_the_bound_of_its_unit(unit: PrivacyUnit) -> None:
    plan = planned(marginals((3, 2, 4), 0, 1, 2), Loss(Definition.ZCDP, Fraction(1, 2), unit))
    assert plan.lower_bound is not None
    assert 1 <= plan.total_error / plan.lower_bound < 1.5


def test_a_domain_of_any_size_is_served() -> None:
    shape = (10,) * 100
    workload = Workload(
        shape, tuple(Term(1.0, {i: Identity(10), i + 1: Identity(10)}) for i in range(99)), ""
    )
    plan = planned(workload)
    assert plan.domain.size == 10**100
    assert plan.ratio == pytest.approx(1, abs=1e-4)
    tables = np.concatenate([np.full(10 ** len(kept), 1000 // 10 ** len(kept)) for kept in plan.counted])
    result = PLANNER.reconstruct(plan, PLANNER.measure(plan, tables, Noise()))
    assert np.abs(result.answers - 10).max() < 8 * result.standard_errors.max()
    assert result.cells is None


def test_a_plan_survives_json() -> None:
    plan = planned(marginals((3, 2), 1, 2))
    assert QueryPlan.from_json(json.loads(json.dumps(plan.to_json())), plan.workload) == plan


@pytest.mark.parametrize(
    ("workload", "definition", "said"),
    [
        (marginals((2, 2), 1), Definition.PURE, "zCDP"),
        (Workload((4,), (Term(1.0, {0: Prefix(4)}),), ""), Definition.ZCDP, "marginal tables"),
        (marginals((2, 2), 0), Definition.ZCDP, "at least one column"),
        (marginals((2,) * 25, 25), Definition.ZCDP, "fewer columns"),
        (marginals((10**6, 10**6), 2), Definition.ZCDP, "fewer tables"),
    ],
)
def test_what_does_not_fit_is_refused_with_a_remedy(
    workload: Workload, definition: Definition, said: str
) -> None:
    with pytest.raises(PlanError, match=said):
        planned(workload, Loss(definition, Fraction(1)))


@pytest.mark.parametrize("counts", [np.zeros(4, np.int64), np.zeros(8), np.full(8, -1)], ids=str)
def test_counts_that_do_not_fit_are_refused(counts: np.ndarray) -> None:
    with pytest.raises(ValueError, match="counts must"):
        PLANNER.measure(planned(marginals((2, 2), 1, 2)), counts, Noise())
