"""What is told of groups hardly larger than the noise does not contradict itself."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from scipy.optimize import linprog

from mechanisms.accounting import Definition, Loss
from mechanisms.domain import Domain, Integer
from mechanisms.noise import Noise
from mechanisms.summary.column_estimates import QUANTILES, NumberEstimates
from mechanisms.summary.estimates import estimates
from mechanisms.summary.mechanism import ColumnTables
from mechanisms.summary.plan import SummaryPlan
from tests.mechanisms.moments.measuring import one_sided
from tests.mechanisms.summary.counting import NONE, counted

TABLES = ColumnTables()
COLUMNS = (Integer("x", True, 0, 100), Integer("y", True, 0, 5000))
SIZES = (8, 25, 200)
RUNS = 200
LOSSES = {
    "pure": Loss(Definition.PURE, Fraction(1)),
    "half": Loss(Definition.PURE, Fraction(1, 2)),
    "zcdp": Loss(Definition.ZCDP, Fraction(1, 10)),
}


@pytest.mark.slow
@pytest.mark.parametrize("loss", LOSSES.values(), ids=LOSSES)
def test_a_mean_lies_where_the_quantiles_allow_it(loss: Loss) -> None:
    """A twentieth of the values is 0 to the first quantile, a fifth between it and the next, and so on."""
    plan = TABLES.plan(Domain((Integer("g", lower=1, upper=3),)), COLUMNS, (), loss, sum(SIZES))
    noise = Noise(np.random.default_rng(3).bytes)
    shares = np.diff((0, *QUANTILES, 1))
    for run in range(RUNS):
        summary = estimates(plan, TABLES.measure(plan, _drawn(plan, run), noise).values)
        for column, attribute in zip(summary.columns, COLUMNS, strict=True):
            assert isinstance(column, NumberEstimates)
            told = column.quantiles.estimate
            ends = np.full((len(told), 1), float(attribute.upper))
            least = np.hstack([0 * ends, told]) @ shares
            most = np.hstack([told, ends]) @ shares
            mean = column.mean.estimate
            assert (np.isnan(mean) == np.isnan(told).any(axis=1)).all()
            assert not ((mean < least - 1e-6) | (mean > most + 1e-6)).any()


@pytest.mark.slow
@pytest.mark.parametrize("loss", LOSSES.values(), ids=LOSSES)
def test_mean_deviation_and_quantiles_are_those_of_one_distribution(loss: Loss) -> None:
    """By linear programmes: among distributions with the quantiles and the mean, one has the deviation."""
    plan = TABLES.plan(Domain((Integer("g", lower=1, upper=3),)), COLUMNS, (), loss, sum(SIZES))
    noise = Noise(np.random.default_rng(5).bytes)
    seen = 0
    for run in range(10):
        summary = estimates(plan, TABLES.measure(plan, _drawn(plan, run), noise).values)
        for column, attribute in zip(summary.columns, COLUMNS, strict=True):
            assert isinstance(column, NumberEstimates)
            quantiles, mean, own = column.quantiles, column.mean.estimate, column.deviation
            assert column.total is not None
            assert not (column.total.lower < 0).any() and not (column.total.estimate < 0).any()
            for interval in (column.number, column.total):
                assert not one_sided(interval, 0)
            for interval in (column.missing, column.at_lower, column.at_upper):
                assert interval is not None and not one_sided(interval, 0, 1)
            assert not one_sided(column.mean, 0, attribute.upper)
            assert not one_sided(column.deviation, 0, attribute.upper / 2)
            for row in np.flatnonzero(~np.isnan(own.estimate)):
                told = quantiles.estimate[row]
                least, most = _possible_deviations(attribute.upper, told, mean[row])
                slack = attribute.upper / 1000
                assert least - slack <= own.estimate[row] <= most + slack
                assert (quantiles.lower[row] <= told).all() and (told <= quantiles.upper[row]).all()
                assert own.lower[row] <= own.estimate[row] <= own.upper[row]
                assert abs(mean[row] - told[2]) <= own.estimate[row] + slack
                seen += 1
    assert seen > 20


def _possible_deviations(top: int, told: np.ndarray, mean: float) -> tuple[float, float]:
    """The least and the largest deviation of distributions from 0 to the top with these quantiles and this mean."""
    values = np.union1d(np.linspace(0, top, 501), [*told, mean])
    below = np.array([values < quantile for quantile in told], dtype=float)
    upto = np.array([values <= quantile for quantile in told], dtype=float)
    limits = {
        "A_ub": np.vstack([below, -upto]),
        "b_ub": np.concatenate([QUANTILES, -np.array(QUANTILES)]) + 1e-9,
        "A_eq": np.vstack([np.ones(len(values)), values / top]),
        "b_eq": [1, mean / top],
    }
    squares = ((values - mean) / top) ** 2
    ends = [linprog(side * squares, **limits) for side in (1, -1)]
    assert all(end.status == 0 for end in ends)
    least, most = (top * np.sqrt(max(abs(end.fun), 0)) for end in ends)
    return least, most


def test_a_deviation_is_not_that_of_where_in_a_cell_quantiles_are_drawn() -> None:
    """Everybody's value is 100, in a cell of 81 numbers, over which quantiles are spread evenly."""
    plan = TABLES.plan(
        Domain((Integer("g", lower=1, upper=3),)), COLUMNS, (), Loss(Definition.PURE, Fraction(50)), 3000
    )
    group = np.repeat(np.arange(3), 1000)
    exact = counted(plan, group, {"x": np.full(3000, 50), "y": np.full(3000, 100)})
    summary = estimates(plan, TABLES.measure(plan, exact, Noise(np.random.default_rng(1).bytes)).values)
    column = summary.columns[1]
    assert isinstance(column, NumberEstimates)
    # The few that noise puts into other cells are as far away.
    assert column.deviation.estimate.max() < 60 and (column.deviation.lower == 0).all()
    apart = np.ptp(column.quantiles.estimate, axis=1)
    assert (apart <= 30 * column.deviation.estimate + 0.01).all()


def _drawn(plan: SummaryPlan, run: int) -> np.ndarray:
    random = np.random.default_rng(run)
    group = np.repeat(np.arange(3), SIZES)
    x = np.minimum(random.geometric(0.05, group.size), 100)
    x = np.where(random.random(group.size) < 0.1, NONE, x)
    return counted(plan, group, {"x": x, "y": random.integers(0, 5001, group.size)})
