"""The curve through the counts of neighbouring bins: against its closed form, scipy's slopes, and smooth densities."""

from __future__ import annotations

import datetime as dt

import numpy as np
import pytest
from scipy import stats
from scipy.interpolate import PchipInterpolator

from mechanisms.domain import Date, Integer, Real
from mechanisms.synthesis.density import BinDensity, cell_line

UNEVEN = Real("x", lower=0.0, upper=10.0, edges=(0.0, 1.0, 3.0, 4.0, 10.0))
COUNTS = np.array([5, 40, 30, 12])


def test_the_shares_undo_the_curve() -> None:
    """F(t) = (t² + a t(1 - t)) / (1 + (a + b - 2) t(1 - t)) with the slopes a and b that scipy has at the edges."""
    edges = np.array(UNEVEN.edges)
    slopes = PchipInterpolator(edges, np.append(0, np.cumsum(COUNTS))).derivative()(edges)
    within = np.linspace(0, 1, 101)
    for cell, mean in enumerate(COUNTS / np.diff(edges)):
        t = BinDensity(UNEVEN, COUNTS).shares(np.full(101, cell), within)
        a, b = slopes[cell] / mean, slopes[cell + 1] / mean
        curve = (t**2 + a * t * (1 - t)) / (1 + (a + b - 2) * t * (1 - t))
        assert np.allclose(curve, within, atol=1e-12)
        assert (np.diff(t) > 0).all() and (t[0], t[-1]) == (0, 1)


@pytest.mark.parametrize("law", [stats.norm(50, 12), stats.gamma(3, scale=9), stats.expon(scale=15)])
def test_mean_and_deviation_of_a_smooth_density_are_kept(law: stats.rv_frozen) -> None:
    """Bins of 10; quantiles within 0.25. Spread evenly, the exponential law's mean is 3.7 % too large."""
    column = Real("x", lower=0.0, upper=200.0, bins=20)
    edges = np.array(column.all_edges)
    counts = np.rint(10**6 * np.diff(law.cdf(edges))).astype(np.int64)
    cells = np.repeat(np.arange(counts.size), counts)
    within = np.concatenate([(np.arange(n) + 0.5) / n for n in counts if n])
    drawn = edges[cells] + 10 * BinDensity(column, counts).shares(cells, within)
    exact = law.mean(), law.std()
    assert np.allclose([drawn.mean(), drawn.std()], exact, rtol=0.008)
    assert np.allclose(np.quantile(drawn, [0.25, 0.5, 0.75]), law.ppf([0.25, 0.5, 0.75]), rtol=0, atol=0.25)


def test_single_values_do_not_bend_the_curve_beside_them() -> None:
    apart = Integer("x", lower=0, upper=40, width=10, single_values=(0, 20))
    within = np.full(4, 0.3)
    few, many = (
        BinDensity(apart, np.array([zeros, 30, 20, zeros, 10, 5, 1])).shares(np.array([1, 2, 4, 5]), within)
        for zeros in (0, 10**6)
    )
    assert np.array_equal(few, many)


def test_a_bin_without_neighbours_or_without_people_is_even() -> None:
    within = np.linspace(0, 1, 11)
    alone = Integer("x", lower=0, upper=99, width=100, single_values=(0, 99))
    assert np.array_equal(BinDensity(alone, np.array([9, 5, 9])).shares(np.full(11, 1), within), within)
    empty = BinDensity(UNEVEN, np.array([5, 0, 0, 7]))
    assert np.array_equal(empty.shares(np.full(11, 1), within), within)


def test_days_and_whole_numbers_reach_to_the_next_one() -> None:
    """Weeks of seven days and bins of seven numbers have the same curve."""
    days = Date("x", lower=dt.date(2024, 1, 1), upper=dt.date(2024, 1, 28), step="week")
    numbers = Integer("x", lower=1, upper=28, width=7)
    counts, within, cells = np.array([4, 9, 2, 1]), np.array([0.1, 0.5, 0.9, 0.3]), np.arange(4)
    shares = [BinDensity(column, counts).shares(cells, within) for column in (days, numbers)]
    assert np.array_equal(*shares)


@pytest.mark.parametrize(
    "column",
    [
        Integer("x", lower=-(10**18), upper=10**18, edges=(-(10**18), 0, 1, 2, 10**18)),
        Real("x", lower=-1e307, upper=1e307, edges=(-1e307, 0.0, 1e-300, 1.0, 1e307)),
    ],
)
def test_bins_too_narrow_for_slopes_are_even(column: Integer | Real) -> None:
    within = np.linspace(0, 1, 4)
    shares = BinDensity(column, np.array([1, 2, 3, 4])).shares(np.arange(4), within)
    assert np.array_equal(shares, within)


def test_counts_that_are_not_the_columns_are_refused() -> None:
    with pytest.raises(ValueError, match=r"counts must have shape \(4,\), got \(3,\)"):
        BinDensity(UNEVEN, np.ones(3, dtype=np.int64))


@pytest.mark.parametrize(
    "column",
    [
        UNEVEN,
        Real("x", lower=0.0, upper=10.0, bins=4, single_values=(0.0, 3.0)),
        Integer("x", lower=0, upper=99, edges=(0, 1, 3, 10, 99), single_values=(0, 50)),
        Integer("x", lower=0, upper=9),
        Date("x", lower=dt.date(2024, 1, 30), upper=dt.date(2024, 4, 2), step="month"),
    ],
)
def test_a_cells_mean_is_that_of_many_draws(column: Real | Integer | Date) -> None:
    counts = np.arange(1, column.regular_size + 1) ** 2 * 7 % 31 + 1
    density, line = BinDensity(column, counts), cell_line(column)
    within = (np.arange(20_000) + 0.5) / 20_000
    for cell, mean in enumerate(density.means()):
        drawn = line[cell] + density.shares(np.full(within.size, cell), within) * (
            line[cell + 1] - line[cell]
        )
        drawn = drawn if isinstance(column, Real) else np.floor(drawn)
        assert mean == pytest.approx(drawn.mean(), abs=2e-3 * (line[cell + 1] - line[cell]))


@pytest.mark.parametrize("mean", [6.5, 12.0, 20.0])
def test_values_are_moved_inside_their_cells_to_a_mean(mean: float) -> None:
    column = Integer("x", lower=0, upper=39, width=10, single_values=(0,))
    counts = np.array([20, 50, 30, 20, 10])
    cells = np.repeat(np.arange(5), counts * 100)
    within = np.concatenate([(np.arange(n) + 0.5) / n for n in counts * 100])
    lines = cell_line(column)
    moved = BinDensity(column, counts).toward(mean)
    drawn = lines[cells] + np.floor(moved.shares(cells, within) * np.diff(lines)[cells])
    least, most = np.repeat(lines[:-1], counts).mean(), np.repeat(lines[1:] - 1, counts).mean()
    assert drawn.mean() == pytest.approx(np.clip(mean, least, most), abs=0.03)
    assert (np.searchsorted(lines, drawn, "right") - 1 == cells).all()
