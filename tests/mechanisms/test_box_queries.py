"""Sums over boxes of released cells, against adding them up one by one, and against simulation."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest

from mechanisms import box_queries, registry
from mechanisms.accounting import Definition, Loss
from mechanisms.domain import Categorical, Domain, Integer
from mechanisms.histogram import box_sums
from mechanisms.histogram.noisy import LaplaceHistogram
from mechanisms.histogram.strategy import StrategyHistogram
from mechanisms.matrix import box_sums as matrix_box_sums
from mechanisms.matrix.answering import MatrixMechanism, refined_estimate, strategy_of
from mechanisms.matrix.marginals import box_sums as marginal_box_sums
from mechanisms.matrix.marginals.answering import MarginalMechanism
from mechanisms.matrix.workload.text import read_workload
from mechanisms.noise import Noise
from mechanisms.noise.sum_quantiles import PlainSum, half_widths
from mechanisms.protocol import Measurement

DOMAIN = Domain((Integer("x", lower=1, upper=5), Integer("y", lower=1, upper=7)))
PURE, ZCDP = Loss(Definition.PURE, Fraction(1, 4)), Loss(Definition.ZCDP, Fraction(1, 50))
PICKS = [
    [np.arange(5), np.arange(7)],
    [np.array([2]), np.array([3])],
    [np.arange(1, 4), np.arange(2, 7)],
    [np.array([0, 2, 4]), np.array([1, 5, 6])],
    [np.arange(5), np.array([0, 6])],
]
LONG = Domain((Integer("z", lower=0, upper=255),))
TRUE = np.random.default_rng(7).integers(0, 90, DOMAIN.size)
LINEAR = [m for m in registry.HISTOGRAMS if m.is_linear]
each_pick = pytest.mark.parametrize("picks", PICKS, ids=lambda p: f"{len(p[0])}x{len(p[1])}")


def one_by_one(values, picks) -> float:
    table = values.reshape(DOMAIN.shape)
    return sum(float(table[i, j]) for i in picks[0] for j in picks[1])


@each_pick
@pytest.mark.parametrize("mechanism", registry.HISTOGRAMS, ids=lambda m: m.name)
def test_the_sum_is_that_of_the_published_cells(mechanism, picks):
    loss = ZCDP if Definition.ZCDP in mechanism.definitions else PURE
    plan = mechanism.plan(DOMAIN, {}, loss)
    measurement = mechanism.measure(plan, TRUE, Noise())
    raw = mechanism.reconstruct(plan, measurement).raw
    values = measurement.values if mechanism.is_linear else raw
    found = mechanism.cell_sum(plan, values, picks)
    assert found.estimate == pytest.approx(one_by_one(raw, picks))
    assert found.cells == len(picks[0]) * len(picks[1])
    assert (found.half_width is None) == (plan.half_width is None)


@each_pick
def test_the_interval_of_independent_cells_is_the_least_of_their_plain_sum(picks):
    plan = LaplaceHistogram().plan(DOMAIN, {}, PURE)
    found = LaplaceHistogram().cell_sum(plan, TRUE, picks)
    exact = PlainSum(plan.noise, found.cells)
    assert exact.coverage(int(found.half_width)) >= 0.95 > exact.coverage(int(found.half_width) - 1)


@each_pick
@pytest.mark.parametrize(
    "mechanism", [m for m in LINEAR if isinstance(m, StrategyHistogram)], ids=lambda m: m.name
)
@pytest.mark.parametrize("purpose", ["ranges", "totals"])
def test_the_error_of_a_strategy_is_the_length_of_what_noise_goes_in(mechanism, picks, purpose):
    plan = mechanism.plan(DOMAIN, {"purpose": purpose}, PURE)
    strategy = mechanism.strategy(plan)
    inside = box_queries.flags(DOMAIN.shape, picks)
    noises = [strategy.estimate(unit)[: DOMAIN.size][inside].sum() for unit in np.eye(strategy.size)]
    assert box_sums.standard_error(inside, strategy.scales, strategy.eigenvalues) == pytest.approx(
        math.hypot(*noises)
    )


@pytest.mark.slow
@pytest.mark.parametrize("loss", [PURE, ZCDP], ids=lambda loss: loss.symbol)
@pytest.mark.parametrize("mechanism", LINEAR, ids=lambda m: m.name)
def test_intervals_hold_the_truth_in_95_of_100_and_are_not_absurd(mechanism, loss):
    if loss.definition not in mechanism.definitions:
        pytest.skip("needs the other kind of budget")
    plan, noise, runs = mechanism.plan(DOMAIN, {}, loss), Noise(), 600
    for picks in PICKS[1:]:
        true, found = one_by_one(TRUE, picks), []
        for _ in range(runs):
            values = mechanism.measure(plan, TRUE, noise).values
            found.append(mechanism.cell_sum(plan, values, picks))
        inside = np.mean([abs(f.estimate - true) <= f.half_width for f in found])
        # Three standard errors of a share of 0.95 among 600.
        assert inside >= 0.95 - 0.027
        assert found[0].half_width <= 3.2 * np.std([f.estimate for f in found])


@each_pick
@pytest.mark.parametrize("name", ["identity-strategy", "hierarchy-strategy", "haar-strategy"])
def test_a_matrix_strategy_says_the_same_as_its_cells_and_their_covariance(name, picks):
    mechanism = next(m for m in registry.QUERIES if m.name == name)
    assert isinstance(mechanism, MatrixMechanism)
    workload = read_workload('ranges("x") x identity("y")', DOMAIN)
    plan = mechanism.plan(DOMAIN, workload, PURE)
    measurement = Measurement(mechanism.measure(plan, TRUE, Noise()).values)
    found = matrix_box_sums.cell_sum(mechanism, plan, measurement.values, picks)
    strategy = strategy_of(mechanism, plan)
    cells = refined_estimate(strategy, measurement.values)
    assert found.estimate == pytest.approx(one_by_one(cells, picks))
    matrix, query = (
        strategy.matrix().toarray().astype(float),
        box_queries.flags(DOMAIN.shape, picks).astype(float),
    )
    variance = plan.noise.variance * float(query @ np.linalg.pinv(matrix.T @ matrix) @ query)
    assert found.half_width >= 1.9 * math.sqrt(variance)
    assert found.half_width <= 3 * math.sqrt(variance) + 1


def test_what_a_strategy_does_not_determine_has_no_sum():
    mechanism = next(m for m in registry.QUERIES if m.name == "workload-strategy")
    assert isinstance(mechanism, MatrixMechanism)
    plan = mechanism.plan(DOMAIN, read_workload('identity("x")', DOMAIN), PURE)
    values = mechanism.measure(plan, TRUE, Noise()).values
    whole_rows, single = [np.array([1, 2]), np.arange(7)], [np.array([1]), np.array([2])]
    assert matrix_box_sums.cell_sum(mechanism, plan, values, whole_rows) is not None
    assert matrix_box_sums.cell_sum(mechanism, plan, values, single) is None


def marginal_plan(name: str):
    mechanism = next(m for m in registry.QUERIES if m.name == name)
    assert isinstance(mechanism, MarginalMechanism)
    loss = PURE if Definition.PURE in mechanism.definitions else ZCDP
    workload = read_workload('identity("x") x identity("y") + 2 * identity("z") + identity("y")', WIDE)
    optimised = None
    if mechanism.optimises:
        optimised = mechanism.optimise(WIDE, workload, loss.definition, lambda _done, _all: None)
    return mechanism, mechanism.plan(WIDE, workload, loss, optimised)


def marginal_counts(plan, table) -> np.ndarray:
    """The tables of `plan.counted`, one after the other."""
    axes = [[WIDE.names.index(name) for name in names] for names in plan.counted]
    return np.concatenate(
        [table.sum(axis=tuple(i for i in range(3) if i not in kept)).ravel() for kept in axes]
    )


WIDE = Domain((*DOMAIN.attributes, Integer("z", lower=1, upper=3)))
WIDE_TRUE = np.random.default_rng(8).integers(0, 40, WIDE.shape)
each_marginal = pytest.mark.parametrize("name", ["residual-planner", "weighted-marginals"])


@each_pick
@each_marginal
def test_marginal_tables_say_the_same_as_their_cells_and_what_noise_goes_in(name, picks):
    mechanism, plan = marginal_plan(name)
    counts, everywhere = marginal_counts(plan, WIDE_TRUE), [*picks, np.arange(3)]
    values = mechanism.measure(plan, counts, Noise()).values
    found = marginal_box_sums.cell_sum(mechanism, plan, values, everywhere)
    cells = mechanism.reconstruct(plan, Measurement(values)).estimate.reshape(WIDE.shape)
    assert found.estimate == pytest.approx(cells[np.ix_(*everywhere)].sum())
    sums = (
        marginal_box_sums.cell_sum(mechanism, plan, u, everywhere) for u in np.eye(values.size, dtype=int)
    )
    error = plan.noise.standard_error * math.hypot(*(unit.estimate for unit in sums))
    assert found.half_width == pytest.approx(half_widths(plan.noise, np.array(error)), rel=1e-6)


@each_marginal
def test_a_sum_over_columns_of_no_common_table_is_not_determined(name):
    mechanism, plan = marginal_plan(name)
    values = mechanism.measure(plan, marginal_counts(plan, WIDE_TRUE), Noise()).values
    apart = [np.array([1]), np.arange(7), np.array([2])]
    assert marginal_box_sums.cell_sum(mechanism, plan, values, apart) is None


@pytest.mark.parametrize("purpose", ["cells", "ranges", "totals"])
@pytest.mark.parametrize("name", ["hierarchical-histogram", "privelet-histogram"])
def test_of_one_cell_the_interval_is_the_published_one(name, purpose):
    mechanism = registry.mechanism(name)
    plan = mechanism.plan(DOMAIN, {"purpose": purpose}, PURE)
    values = mechanism.measure(plan, TRUE.ravel(), Noise()).values
    found = mechanism.cell_sum(plan, values, [np.array([1]), np.array([2])])
    assert found.half_width == plan.half_width


def test_joined_cells_need_columns_with_an_order():
    """Of a column of places blocks would be mixtures; the two or three values of a sex are soon told apart."""
    age, place = Integer("age", upper=19), Categorical("place", values=("a", "b", "c", "d"))
    sex = Categorical("sex", values=("f", "m"))
    for name in ("adaptive-grid", "privtree", "quadtree"):
        method = registry.mechanism(name)
        assert "of place, whose values" in method.unsuited(method.plan(Domain((age, place, sex)), {}, PURE))
        assert not method.unsuited(method.plan(Domain((age, sex)), {}, PURE))


def test_a_hierarchy_for_single_cells_is_the_plain_histogram_and_says_so():
    mechanism, plain = registry.mechanism("hierarchical-histogram"), registry.mechanism("laplace-histogram")
    plan, usual = mechanism.plan(DOMAIN, {"purpose": "cells"}, PURE), plain.plan(DOMAIN, {}, PURE)
    assert (plan.noise, plan.half_width) == (usual.noise, usual.half_width)
    assert "each cell by itself" in plan.explanation and "intervals of 1" not in plan.explanation
    assert "each cell by itself" in mechanism.unsuited(plan)
    assert not mechanism.unsuited(mechanism.plan(LONG, {"purpose": "ranges"}, PURE))
    values = mechanism.measure(plan, TRUE.ravel(), Noise()).values
    picks = [np.array([0, 1]), np.array([2, 4])]
    same = plain.cell_sum(usual, values[: DOMAIN.size], picks)
    assert mechanism.cell_sum(plan, values, picks) == same and same.half_width.is_integer()
