"""How far sums of noise reach, against exact convolution, over all widths of noise."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest

from mechanisms.noise import DiscreteGaussian, DiscreteLaplace, NoiseLaw
from mechanisms.noise.sum_quantiles import PlainSum, characteristic, half_widths, integer_half_widths

# From far less than a row to a few hundred: ε and ρ from 10^3 down, finely where steps of the integers show.
EPSILONS = [*np.geomspace(0.02, 12, 60), 5.2, 20, 50, 300, 1000]
RHOS = [*np.geomspace(0.0005, 12, 60), 4.1, 50, 1000]
LAWS: list[NoiseLaw] = [
    *(DiscreteLaplace(1 / Fraction(float(e)).limit_denominator(10**6)) for e in EPSILONS),
    *(DiscreteGaussian(1 / (2 * Fraction(float(r)).limit_denominator(10**6))) for r in RHOS),
]
LEVEL = 0.95 - 1e-9


def probabilities(law: NoiseLaw, coefficient: int = 1) -> np.ndarray:
    """Of coefficient · K, from the least that matters up."""
    reach = law.half_width(1 - 1e-13)
    spread = np.zeros(2 * coefficient * reach + 1)
    spread[::coefficient] = [law.probability(k) for k in range(-reach, reach + 1)]
    return spread


def inside(exact: np.ndarray, h: float) -> float:
    middle = exact.size // 2
    reach = min(middle, math.floor(h + 1e-9))
    return float(exact[middle - reach : middle + reach + 1].sum())


@pytest.mark.parametrize("law", LAWS[::7], ids=str)
def test_the_law_of_a_plain_sum_is_that_of_the_convolution(law: NoiseLaw) -> None:
    single = exact = probabilities(law)
    for terms in range(1, 8):
        total = PlainSum(law, terms)
        widths = range(min(exact.size // 2, 60) + 1)
        assert [total.coverage(h) for h in widths] == pytest.approx(
            [inside(exact, h) for h in widths], abs=1e-9
        )
        h = total.half_width()
        assert total.coverage(h) >= 0.95 > total.coverage(h - 1)
        exact = np.convolve(exact, single)


@pytest.mark.sampled
@pytest.mark.parametrize("law", LAWS, ids=str)
def test_characteristic_functions_are_those_of_the_probabilities(law: NoiseLaw) -> None:
    single = probabilities(law)
    k = np.arange(single.size) - single.size // 2
    angles = np.linspace(0.001, np.pi, 40)
    assert characteristic(law, angles) == pytest.approx(np.cos(np.outer(angles, k)) @ single, abs=1e-10)


@pytest.mark.sampled
@pytest.mark.parametrize("law", LAWS, ids=str)
def test_plain_sums_have_the_least_interval(law: NoiseLaw) -> None:
    single = exact = probabilities(law)
    for width in integer_half_widths(law, np.arange(1, 12)).tolist():
        assert inside(exact, width) >= LEVEL
        assert inside(exact, width - 1) < 0.95 or width == 0
        exact = np.convolve(exact, single)


@pytest.mark.parametrize(
    "law", [DiscreteLaplace(Fraction(10**12)), DiscreteGaussian(Fraction(10**24))], ids=str
)
def test_the_widest_noise_is_as_good_as_continuous(law: NoiseLaw) -> None:
    (h,) = integer_half_widths(law, np.array([10**6]))
    assert h / (1000 * law.standard_error) == pytest.approx(1.959964, rel=1e-4)
    laplace = PlainSum(DiscreteLaplace(Fraction(10**9)), 2).half_width() / 1e9
    assert 1 - math.exp(-laplace) * (1 + laplace / 2) == pytest.approx(0.95, abs=1e-6)


def test_many_terms_are_rounded_up_never_down() -> None:
    law = DiscreteLaplace(Fraction(2))
    terms = np.array([1000, 1001, 12_345, 999_999, 10**7])
    exact = [PlainSum(law, m).half_width() for m in terms.tolist()]
    widths = integer_half_widths(law, terms)
    assert (widths >= exact).all()
    assert (widths <= np.array(exact) * 1.006 + 1).all()
    assert (integer_half_widths(law, np.array([[0, 1], [2, 0]]))[[0, 1], [0, 1]] == 0).all()


SUMS = [
    *([1] * m for m in (1, 2, 3, 5, 9)),
    [2, 1],
    [3, 3, 1],
    [5, 1, 1, 1, 1],
    [7, 4, 1, 1, 2, 8],
    [9, 2, 2],
    [10, 9],
    [10] + [1] * 9,
    *np.random.default_rng(3).integers(1, 12, size=(12, 4)).tolist(),
]


@pytest.mark.sampled
@pytest.mark.parametrize("law", LAWS, ids=str)
def test_weighted_sums_are_covered_whatever_is_known_of_them(law: NoiseLaw) -> None:
    for coefficients in SUMS:
        if law.standard_error > 30 and sum(coefficients) > 12:
            continue
        exact = np.ones(1)
        for coefficient in coefficients:
            exact = np.convolve(exact, probabilities(law, coefficient))
        error = np.array([law.standard_error * math.sqrt(sum(a * a for a in coefficients))])
        for largest in (max(coefficients), math.inf):
            assert inside(exact, half_widths(law, error, largest)[0]) >= LEVEL, coefficients


def test_noise_that_is_as_good_as_nothing_reaches_nowhere() -> None:
    law = DiscreteLaplace(Fraction(1, 1000))
    assert half_widths(law, np.array([law.standard_error])).tolist() == [0]
    assert integer_half_widths(law, np.array([10**6])).tolist() == [0]
