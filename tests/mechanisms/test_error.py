"""Expected errors against brute force and against draws."""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from mechanisms.accounting import Definition, Loss
from mechanisms.domain import Domain, Integer
from mechanisms.error import expectation, expected_error, expected_largest
from mechanisms.evaluate import observed_error
from mechanisms.histogram.noisy import LaplaceHistogram
from mechanisms.noise import DiscreteGaussian, DiscreteLaplace, Noise, NoiseLaw

# At ε = ln 2: P(0) = 1/3, variance 4, E|K| = 2q/(1-q²) = 4/3.
DOMAIN = Domain((Integer("age", upper=3),))
LN2 = DiscreteLaplace(1 / Fraction(math.log(2)))


def test_total_variation_is_half_of_the_expected_l1_over_n() -> None:
    assert expected_error(LN2, cells=30, half_width=4, people=100).total_variation == pytest.approx(0.2)


def test_without_n_there_is_no_total_variation() -> None:
    assert expected_error(LN2, cells=30, half_width=4).total_variation is None


def test_expected_l1_and_l2() -> None:
    error = expected_error(LN2, cells=9, half_width=0)
    assert (error.l1, error.l2) == (pytest.approx(12), pytest.approx(6))


def test_the_share_inside_is_the_coverage() -> None:
    assert expected_error(LN2, cells=9, half_width=0).inside == pytest.approx(1 / 3)


@pytest.mark.parametrize("law", [LN2, DiscreteGaussian(Fraction(5))])
def test_the_largest_error_of_one_cell_is_its_mean_absolute_error(law: NoiseLaw) -> None:
    assert expected_largest(law, 1) == pytest.approx(law.mean_absolute)


@pytest.mark.parametrize("law", [LN2, DiscreteGaussian(Fraction(5))])
def test_the_largest_error_of_three_cells_by_enumeration(law: NoiseLaw) -> None:
    k = np.arange(-60, 61)
    p = np.array([law.probability(int(i)) for i in k])
    largest = np.maximum.reduce(np.meshgrid(*[np.abs(k)] * 3, indexing="ij"))
    assert expected_largest(law, 3) == pytest.approx(np.einsum("ijk,i,j,k", largest, p, p, p), rel=1e-9)


@pytest.mark.slow
def test_the_largest_error_of_wide_noise_follows_the_harmonic_numbers() -> None:
    # max of k exponentials of mean t has expectation t (1 + 1/2 + ... + 1/k).
    harmonic = sum(1 / i for i in range(1, 1001))
    assert expected_largest(DiscreteLaplace(Fraction(10**9)), 1000) == pytest.approx(1e9 * harmonic, rel=1e-6)


@pytest.mark.parametrize("law", [DiscreteLaplace(Fraction(7, 2)), DiscreteGaussian(Fraction(40))])
def test_expectations_agree_with_a_million_draws(law: NoiseLaw) -> None:
    # |K| has standard deviation below 5, so the mean of 10^6 is within 0.03 = 6 standard errors: p < 2e-9.
    cells = 10**6
    observed = observed_error(np.zeros(cells, np.int64), Noise().draw(law, cells), half_width=9)
    expected = expected_error(law, cells, half_width=9)
    assert observed.l1 / cells == pytest.approx(expected.l1 / cells, abs=0.03)
    # A share has standard error at most 0.0005.
    assert observed.inside == pytest.approx(expected.inside, abs=0.003)


@pytest.mark.parametrize(("cells", "people"), [(0, 10), (10, 0)])
def test_there_are_cells_and_people(cells: int, people: int) -> None:
    with pytest.raises(ValueError, match="must be at least 1, got 0"):
        expected_error(LN2, cells, half_width=1, people=people)


def test_expectation_is_the_formula_where_every_cell_has_its_own_noise() -> None:
    plan = LaplaceHistogram().plan(DOMAIN, {}, Loss(Definition.PURE, Fraction(1, 2)))
    assert expectation(plan, 100) == expected_error(plan.noise, 4, plan.half_width or 0, 100)


def test_there_is_no_expectation_where_the_error_depends_on_the_data() -> None:
    plan = LaplaceHistogram().plan(DOMAIN, {}, Loss(Definition.PURE, Fraction(1, 2)))
    assert expectation(replace(plan, standard_error=None, half_width=None, coverage=None), 100) is None
