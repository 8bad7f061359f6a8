"""The density that is told has the mean and the deviation beside it."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from mechanisms.accounting import Definition, Loss
from mechanisms.domain import Categorical, Domain, Integer, Real
from mechanisms.noise import Noise
from mechanisms.summary.column_estimates import NumberEstimates
from mechanisms.summary.estimates import estimates
from mechanisms.summary.line import LineColumn
from mechanisms.summary.mechanism import ColumnTables
from mechanisms.summary.quantiles import cells_of
from mechanisms.summary.truth import true_summary
from mechanisms.summary.two_moments import with_variance
from tests.mechanisms.summary.counting import counted

GROUPS = Domain((Integer("g", lower=1, upper=2),))
LOSSES = {
    "pure": Loss(Definition.PURE, Fraction(1)),
    "zcdp": Loss(Definition.ZCDP, Fraction(1, 10)),
    "tiny": Loss(Definition.PURE, Fraction(1, 20)),
}


def columns(upper: int, loss: Loss, runs: int) -> list[tuple[NumberEstimates, np.ndarray, np.ndarray]]:
    """What is told of 1,000 people, with the least and the largest value of each cell; the truth first."""
    kind = Categorical("k", values=("a", "b"))
    plan = ColumnTables().plan(GROUPS, [Integer("x", True, 0, upper), kind], (), loss, 1000)
    random = np.random.default_rng(3)
    x = np.minimum(random.geometric(2 / (upper + 2), 1000) - 1, upper)
    group = random.integers(0, 2, 1000)
    exact = counted(plan, group, {"x": x, "k": np.zeros(1000, dtype=np.int64)})
    noise = Noise(np.random.default_rng(5).bytes)
    told = [true_summary(plan, exact)]
    told += [estimates(plan, ColumnTables().measure(plan, exact, noise).values) for _ in range(runs)]
    found = [summary.columns[0] for summary in told]
    return [(own, *plan.lines["x"].edges) for own in found if isinstance(own, NumberEstimates)]


@pytest.mark.parametrize("loss", LOSSES.values(), ids=LOSSES)
@pytest.mark.parametrize("upper", [1, 2, 5, 40, 100])
def test_of_few_values_it_has_both(upper: int, loss: Loss) -> None:
    """Each cell is one value."""
    for own, values, _ in columns(upper, loss, 5):
        known = ~np.isnan(own.deviation.estimate)
        mean = own.density[known] @ values
        deviation = np.sqrt(np.maximum(own.density[known] @ values**2 - mean**2, 0))
        assert mean == pytest.approx(own.mean.estimate[known], abs=upper * 1e-6)
        assert deviation == pytest.approx(own.deviation.estimate[known], abs=upper * 1e-4)


@pytest.mark.parametrize("loss", LOSSES.values(), ids=LOSSES)
def test_of_wide_cells_values_in_them_could_have_both(loss: Loss) -> None:
    """As far apart as in 3 and 40 … 4,000 and 4,100; a whole quantile may move the deviation by a part of a cell."""
    for own, low, high in columns(5000, loss, 5):
        known = ~np.isnan(own.deviation.estimate)
        shares, told = own.density[known], own.deviation.estimate[known]
        middle = (low + high) / 2
        spread = np.sqrt(np.maximum(shares @ middle**2 - (shares @ middle) ** 2, 0))
        assert (np.abs(spread - told) <= (high - low).max()).all()


def test_few_values_are_told_best_by_cells_and_sums_together() -> None:
    """Alone the sums of squares have a root mean squared error of 0.06 here."""
    true, *told = columns(5, LOSSES["pure"], 60)
    errors = [own.deviation.estimate[-1] - true[0].deviation.estimate[-1] for own, _, _ in told]
    assert float(np.sqrt(np.mean(np.square(errors)))) < 0.045


def test_cells_have_a_wanted_variance_and_keep_sum_and_mean() -> None:
    """Single values 0, 1, 2 in halves of the range; then cells between them, whose variance may be anything."""
    cells, places = np.array([[4.0, 2, 4], [1, 1, 0], [0, 0, 0]]), np.array([-1.0, 0, 1])
    mean, variance = np.array([0.0, -0.5, 0]), np.array([0.5, 0.1, 0.3])
    found, agreed = with_variance(cells, (places, places), mean, variance)
    assert found[0] == pytest.approx([2.5, 5, 2.5]) and agreed[0] == pytest.approx(0.5)
    # Two values with one mean have one variance.
    assert found[1] == pytest.approx(cells[1]) and agreed[1] == pytest.approx(0.25)
    assert (found[2] == 0).all()
    wide = (np.array([-1.0, 0.0]), np.array([0.0, 1.0]))
    found, agreed = with_variance(np.array([[5.0, 5]]), wide, np.zeros(1), np.array([0.9]))
    assert found == pytest.approx(np.array([[5.0, 5]])) and agreed == pytest.approx(0.9)


def test_a_quantile_at_a_bound_stays_in_the_cell_of_that_bound() -> None:
    """Three quarters at the lower bound of decimals once had a median above it: the next cell begins there, too."""
    line = LineColumn.of(Real("x", True, -1.5, 2.25))
    told = np.array([[-1.5, -1.5, -1.5, 0.0, 2.25]])
    low, high = cells_of(told, line.edges)
    assert low[0, :3].tolist() == high[0, :3].tolist() == [-1.5] * 3
    assert low[0, 3] <= 0 <= high[0, 3] > low[0, 3] and low[0, 4] == high[0, 4] == 2.25
