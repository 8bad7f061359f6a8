"""How far bins alone can move a mean: against values at the ends of their bins, and against tables that were made."""

from __future__ import annotations

import datetime as dt

import numpy as np
import pandas as pd
import pytest

from mechanisms.domain import Date, Domain, Integer, Real
from mechanisms.synthesis.bin_error import most_mean_error, widths
from mechanisms.synthesis.table import rows

GAIN = Integer("x", lower=0, upper=99999, width=5000, single_values=(0, 99999))
COLUMNS = [
    GAIN,
    Integer("x", lower=0, upper=9),
    Real("x", lower=0.0, upper=10.0, bins=4, single_values=(0.0, 3.0)),
    Date("x", lower=dt.date(2024, 1, 15), upper=dt.date(2024, 4, 10)),
]


@pytest.mark.parametrize("column", COLUMNS)
def test_the_width_of_a_cell_is_that_of_its_bounds(column: Integer | Real | Date) -> None:
    differences = (high - low for low, high in map(column.bounds, range(column.regular_size)))
    expected = [each.days if isinstance(each, dt.timedelta) else each for each in differences]
    assert np.allclose(widths(column), expected, rtol=0, atol=1e-12)


def test_without_counts_everybody_may_be_in_the_widest_cell() -> None:
    assert [most_mean_error(column) for column in COLUMNS] == [4999, 0, 2.5, 30]


def test_with_counts_it_is_the_mean_width() -> None:
    counts = np.zeros(GAIN.size, dtype=np.int64)
    counts[[0, 1, 2, -1]] = 900, 60, 30, 10
    assert most_mean_error(GAIN, counts) == (60 * 4998 + 30 * 4999) / 1000
    assert most_mean_error(GAIN, np.zeros(GAIN.size, dtype=np.int64)) == 0


@pytest.mark.slow
def test_no_table_has_a_mean_further_off() -> None:
    """Values at the lower ends, at the upper ends, and at random ones, skewed in every way."""
    random = np.random.default_rng(0)
    for digest in range(20):
        counts = random.integers(0, 50, GAIN.size) ** 2
        cells = np.repeat(np.arange(GAIN.size), counts)
        low, high = np.array([GAIN.bounds(cell) for cell in range(GAIN.size)])[cells].T
        made = pd.concat(rows(Domain((GAIN,)), counts, bytes([digest]) * 32))["x"].to_numpy(dtype=float)
        for true in (low, high, low + random.random(cells.size) ** 3 * (high - low)):
            assert abs(made.mean() - true.mean()) <= most_mean_error(GAIN, counts)
