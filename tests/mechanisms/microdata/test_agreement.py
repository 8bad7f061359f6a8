"""What rows are settled to: the mean of several fits, moved to what was measured as far as noise lets tell."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from scipy.special import exp1

from mechanisms.microdata.agreement import agreed, garrote, next_to_nobody, shrinkage, towards
from mechanisms.microdata.mixture import Target
from mechanisms.microdata.tables import Grouping
from tests.benchmarks.synthesis import RHO, adult, ours, wives

EXPECTED = np.array([[900.0, 100.0], [100.0, 900.0]])
NOWHERE = np.zeros((2, 2), bool)
GROUPING = Grouping((np.array([0, 1]), np.array([0, 1])))


def test_a_difference_that_noise_explains_moves_little():
    """In 25 directions, 25 · 15² - 36 · 10² > 0 of which are left: none of the way is gone."""
    expected, checkered = np.full((6, 6), 500.0), 10.0 * (-1) ** np.add.outer(np.arange(6), np.arange(6))
    moved = towards(expected, Target(expected + checkered, 15.0**2), np.zeros((6, 6), bool))
    assert moved == pytest.approx(expected)


def test_a_table_that_noise_hardly_moves_is_taken_as_it_was_measured():
    """Of 18,000 rows noise of 5 a cell moves 72, .4 %: a fit that it explains could win nothing, or lose a little."""
    expected, checkered = np.full((6, 6), 500.0), 5.0 * (-1) ** np.add.outer(np.arange(6), np.arange(6))
    target = Target(expected + checkered, 5.0**2)
    assert shrinkage(checkered, 5.0**2) < 0.4
    assert towards(expected, target, np.zeros((6, 6), bool)) == pytest.approx(target.table)


def test_a_table_of_one_or_two_directions_is_taken_as_it_was_measured():
    """James and Stein: only of three and more is any shrinkage better than none, wherever the truth is."""
    measured = EXPECTED + np.array([[10.0, -10.0], [-10.0, 10.0]])
    assert towards(EXPECTED, Target(measured, 15.0**2), NOWHERE) == pytest.approx(measured)
    assert shrinkage(np.array([[3.0, -1, -2], [-3, 1, 2]]), 100.0) == 1


@pytest.mark.parametrize("apart", [0.0, 5.0, 50.0])
def test_shrunk_tables_err_less_than_measured_ones_wherever_the_truth_is(apart):
    """The mean squared error of 4,000 tables of 4 × 4, in the 9 directions that sums leave."""
    random, errors = np.random.default_rng(5), np.empty((4_000, 2))
    truth = apart * (-1.0) ** np.add.outer(np.arange(4), np.arange(4))
    for place in range(len(errors)):
        noise = random.normal(0, 10, (4, 4))
        noise += noise.mean() - noise.mean(axis=0) - noise.mean(axis=1)[:, None]
        distance = truth + noise
        errors[place] = [np.square(s * distance - truth).sum() for s in (shrinkage(distance, 100.0), 1)]
    assert errors.mean(axis=0)[0] < errors.mean(axis=0)[1]


def test_a_difference_beyond_all_noise_is_taken_over():
    measured = np.array([[990.0, 10.0], [10.0, 990.0]])
    assert towards(EXPECTED, Target(measured, 1.0), NOWHERE) == pytest.approx(measured, abs=0.1)


def test_one_far_cell_moves_though_its_table_is_met():
    """Of 100 cells 99 are met; the far one, at 7 standard errors, is to go 1 - 4/49 of the way.

    The nearest table with the same sums of ten rows and ten columns leaves 9/10 · 9/10 of that.
    """
    expected = np.full((10, 10), 1000.0)
    measured = expected.copy()
    measured[0, 0] = 300.0
    moved = towards(expected, Target(measured, 100.0**2), np.zeros((10, 10), bool))
    assert moved[0, 0] == pytest.approx(1000 - 0.81 * (1 - 4 / 49) * 700)
    assert np.abs(moved[1:, 1:] - 1000).max() < 20


def test_sums_of_rows_and_columns_stay_and_nothing_is_negative():
    noise = np.random.default_rng(1).normal(0, 80, (2, 2))
    moved = towards(EXPECTED, Target(EXPECTED + noise, 50.0**2), NOWHERE)
    assert moved.min() >= 0
    assert moved.sum(axis=0) == pytest.approx([1000, 1000]) and moved.sum(axis=1) == pytest.approx(
        [1000, 1000]
    )


def test_where_next_to_nobody_was_measured_the_measurement_is_taken():
    """300 were expected, 40 ± 82 measured: below one standard error, so nobody. 110 ± 80 keeps 110 - 80²/110 rows."""
    expected = np.array([[300.0, 199_700.0], [200_000.0, 0.0]])
    for measured, left in ((40.0, 0.0), (110.0, 110 - 80**2 / 110)):
        target = Target(np.array([[measured, 199_900.0], [200_000.0, 0.0]]), 80.0**2)
        moved = towards(expected, target, np.array([[False, False], [False, True]]))
        assert moved[0, 0] == pytest.approx(left) and moved[1, 1] == 0
        assert moved.sum() == pytest.approx(400_000, rel=1e-3)


def test_what_noise_explains_is_not_taken_for_nobody():
    """40 ± 200 says nothing against 300; nor does 500 ± 300 against 5,000 say that there is nobody of 400,000."""
    expected = np.array([[300.0, 199_700.0], [5_000.0, 195_000.0]])
    target = Target(np.array([[40.0, 200_000.0], [500.0, 200_000.0]]), 200.0**2)
    assert not next_to_nobody(expected, target).any()


def test_values_that_exclude_each_other_are_taken_for_it_at_one_standard_error():
    """67 ± 81 of Adult's husbands were women where classes have 218, 1.9 standard errors more, and independence 6,500.

    Of 218 among 199,700 of whom independence has 550, 67 ± 81 says little.
    """
    excluding = np.array([[218.0, 19_574.0], [15_974.0, 13_076.0]])
    measured = np.array([[67.0, 19_700.0], [16_000.0, 13_000.0]])
    assert next_to_nobody(excluding, Target(measured, 81.0**2)).tolist() == [[True, False], [False, False]]
    common = np.array([[218.0, 199_700.0], [1_000.0, 240_000.0]])
    measured = np.array([[67.0, 199_700.0], [1_000.0, 240_000.0]])
    assert not next_to_nobody(common, Target(measured, 81.0**2)).any()


def test_the_garrote_errs_less_than_counts_cut_off_at_0():
    """Where nobody is: E max(0, K) = φ(0) σ = .399 σ; E max(0, K - σ²/K) = (φ(1) - E₁(1/2) φ(0)/2) σ = .130 σ."""
    noise = np.random.default_rng(2).normal(0, 7, (1, 400_000))
    mean = 7 * (np.exp(-0.5) - exp1(0.5) / 2) / np.sqrt(2 * np.pi)
    assert mean == pytest.approx(0.130 * 7, abs=0.005)
    # Five standard errors of the mean of 400,000.
    assert garrote(Target(noise, 49.0)).mean() == pytest.approx(mean, abs=5 * 7 * 0.4 / np.sqrt(400_000))


def test_the_mean_of_fits_is_symmetric_and_moved_where_measured():
    fits = [np.full((4, 4), 0.25), np.full((4, 4), 0.25)]
    tables = agreed(GROUPING, fits, {(0, 1): Target(np.array([[400.0, 100.0], [100.0, 400.0]]), 1.0)}, 1000.0)
    assert tables[:2, 2:] == pytest.approx(np.array([[0.4, 0.1], [0.1, 0.4]]), abs=0.001)
    assert np.array_equal(tables, tables.T)


@pytest.mark.slow
def test_where_next_to_nobody_was_measured_rows_are_rare():
    """Of Adult's husbands one is a woman. At ε = 1, .02 % of rows' are on average, and had been .6 %.

    The pair is measured with a standard error of about 80 rows, so that a release in forty finds some 160.
    """
    domain, people = adult()
    assert wives(domain, people, people) == pytest.approx(100 / 19_716)
    made = ours("latent-classes", domain, people, Fraction(RHO["1"])).rows
    assert wives(domain, people, made) < 1.5
