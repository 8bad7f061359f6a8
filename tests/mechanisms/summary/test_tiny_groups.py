"""What is told of groups hardly larger than the noise does not contradict itself."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from mechanisms.accounting import Definition, Loss
from mechanisms.domain import Domain, Integer
from mechanisms.noise import Noise
from mechanisms.summary.estimates import estimates
from mechanisms.summary.mechanism import ColumnTables
from mechanisms.summary.plan import SummaryPlan
from mechanisms.summary.told import QUANTILES, NumberEstimates
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


@pytest.mark.parametrize("loss", LOSSES.values(), ids=LOSSES)
def test_a_deviation_lies_where_the_quantiles_allow_it(loss: Loss) -> None:
    """A quarter of the values lies at the first quartile or below, and a quarter at the third or above."""
    plan = TABLES.plan(Domain((Integer("g", lower=1, upper=3),)), COLUMNS, (), loss, sum(SIZES))
    noise = Noise(np.random.default_rng(5).bytes)
    seen = 0
    for run in range(15):
        summary = estimates(plan, TABLES.measure(plan, _drawn(plan, run), noise).values)
        for column, attribute in zip(summary.columns, COLUMNS, strict=True):
            assert isinstance(column, NumberEstimates)
            told, mean = column.quantiles.estimate, column.mean.estimate
            own = column.deviation
            # Where in its cell a quantile lies is not known.
            starts, stops = plan.lines[attribute.name].edges
            cell = (stops - starts).max()
            below, above = np.maximum(mean - told[:, 1] - cell, 0), np.maximum(told[:, 3] - mean - cell, 0)
            known = ~np.isnan(own.estimate)
            least = np.sqrt((below**2 + above**2) / 4)
            assert (own.estimate >= least - 1e-6)[known].all()
            assert (own.estimate <= attribute.upper / 2 + 1e-6)[known].all()
            assert ((own.lower <= own.estimate) & (own.estimate <= own.upper))[known].all()
            seen += known.sum()
    assert seen


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
    assert (column.deviation.estimate == 0).any() and (column.deviation.lower == 0).all()


def _drawn(plan: SummaryPlan, run: int) -> np.ndarray:
    random = np.random.default_rng(run)
    group = np.repeat(np.arange(3), SIZES)
    x = np.minimum(random.geometric(0.05, group.size), 100)
    x = np.where(random.random(group.size) < 0.1, NONE, x)
    return counted(plan, group, {"x": x, "y": random.integers(0, 5001, group.size)})
