"""What rows are settled to: the mean of several fits, moved to what was measured as far as noise lets tell."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from mechanisms.microdata.agreement import agreed, raked, towards
from mechanisms.microdata.mixture import Target
from mechanisms.microdata.tables import Grouping
from tests.benchmarks.synthesis import RHO, adult, ours

EXPECTED = np.array([[900.0, 100.0], [100.0, 900.0]])
GROUPING = Grouping((np.array([0, 1]), np.array([0, 1])))


def test_a_difference_that_noise_explains_moves_little():
    measured = EXPECTED + np.array([[10.0, -10.0], [-10.0, 10.0]])
    assert np.abs(towards(EXPECTED, Target(measured, 15.0**2)) - EXPECTED).max() < 1


def test_a_difference_beyond_all_noise_is_taken_over():
    measured = np.array([[999.0, 1.0], [1.0, 999.0]])
    assert towards(EXPECTED, Target(measured, 1.0)) == pytest.approx(measured, abs=0.1)


def test_one_far_cell_moves_though_its_table_is_met():
    """Of 100 cells 99 are met; of the far one, at 9 standard errors, 1 - 4/81 of the way is gone."""
    expected = np.full((10, 10), 1000.0)
    measured = expected.copy()
    measured[0, 0] = 100.0
    moved = towards(expected, Target(measured, 100.0**2))
    assert moved[0, 0] < 200 and np.abs(moved[1:, 1:] - 1000).max() < 20


def test_sums_of_rows_and_columns_stay_and_nothing_is_negative():
    noise = np.random.default_rng(1).normal(0, 80, (2, 2))
    moved = towards(EXPECTED, Target(EXPECTED + noise, 50.0**2))
    assert moved.min() >= 0
    assert moved.sum(axis=0) == pytest.approx([1000, 1000]) and moved.sum(axis=1) == pytest.approx(
        [1000, 1000]
    )


def test_raking_keeps_odds_ratios():
    """Fitting to sums by scaling rows and columns leaves the odds ratio, here 4 · 4 / (1 · 1)."""
    table = raked(np.array([[4.0, 1.0], [1.0, 4.0]]), np.array([60.0, 40.0]), np.array([30.0, 70.0]))
    assert table.sum(axis=1) == pytest.approx([60, 40])
    assert table[0, 0] * table[1, 1] / (table[0, 1] * table[1, 0]) == pytest.approx(16)


def test_the_mean_of_fits_is_symmetric_and_moved_where_measured():
    fits = [np.full((4, 4), 0.25), np.full((4, 4), 0.25)]
    tables = agreed(GROUPING, fits, {(0, 1): Target(np.array([[400.0, 100.0], [100.0, 400.0]]), 1.0)}, 1000.0)
    assert tables[:2, 2:] == pytest.approx(np.array([[0.4, 0.1], [0.1, 0.4]]), abs=0.001)
    assert np.array_equal(tables, tables.T)


@pytest.mark.slow
def test_where_next_to_nobody_was_measured_rows_are_rare():
    """Of Adult's husbands one is a woman. At ε = 1 rows had 2.6 to 3.2 % of them, whatever was measured."""
    domain, people = adult()
    rows = ours("latent-classes", domain, people, Fraction(RHO["1"]))
    names = [attribute.name for attribute in domain.attributes]
    relationship, sex = names.index("relationship"), names.index("sex")
    men = np.bincount(people[:, sex]).argmax()
    husband = np.bincount(people[people[:, sex] == men, relationship]).argmax()
    assert (people[people[:, relationship] == husband, sex] != men).sum() == 1
    assert (rows[rows[:, relationship] == husband, sex] != men).mean() < 0.022
