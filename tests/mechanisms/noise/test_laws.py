from __future__ import annotations

import json
import math
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

from mechanisms.noise import DiscreteGaussian, DiscreteLaplace, NoiseLaw, law_from_json

KNOWN = json.loads((Path(__file__).parents[2] / "data" / "known_answers.json").read_text())
# σ = 999 sums over the integers; σ = 1001 takes the formulas for wide noise.
LAWS: list[NoiseLaw] = [
    DiscreteLaplace(Fraction(1, 3)),
    DiscreteLaplace(Fraction(25, 2)),
    DiscreteGaussian(Fraction(1, 4)),
    DiscreteGaussian(Fraction(10)),
    DiscreteGaussian(Fraction(999**2)),
    DiscreteGaussian(Fraction(1001**2)),
]


@pytest.fixture(params=LAWS, ids=str)
def law(request: pytest.FixtureRequest) -> NoiseLaw:
    return request.param


def _support(law: NoiseLaw) -> tuple[np.ndarray, np.ndarray]:
    k = np.arange(-12_000, 12_001)
    return k, np.array([law.probability(int(i)) for i in k])


def test_probabilities_sum_to_one(law: NoiseLaw) -> None:
    assert _support(law)[1].sum() == pytest.approx(1, abs=1e-12)


def test_variance_is_the_second_moment(law: NoiseLaw) -> None:
    k, p = _support(law)
    assert law.variance == pytest.approx((k.astype(float) ** 2 * p).sum(), rel=1e-10)


def test_mean_absolute_is_the_first_absolute_moment(law: NoiseLaw) -> None:
    k, p = _support(law)
    assert law.mean_absolute == pytest.approx((np.abs(k) * p).sum(), rel=1e-10)


@pytest.mark.parametrize("h", [0, 1, 7, 1500])
def test_coverage_sums_the_probabilities(law: NoiseLaw, h: int) -> None:
    k, p = _support(law)
    assert law.coverage(h) == pytest.approx(p[np.abs(k) <= h].sum(), abs=1e-12)


def test_an_interval_of_any_width_has_a_coverage(law: NoiseLaw) -> None:
    assert law.coverage(10**400) == 1


@pytest.mark.parametrize("level", [0.5, 0.95, 0.999])
def test_half_width_is_the_least_that_covers(law: NoiseLaw, level: float) -> None:
    h = law.half_width(level)
    assert law.coverage(h) >= level > law.coverage(h - 1)


def test_json_brings_a_law_back(law: NoiseLaw) -> None:
    assert law_from_json(json.loads(json.dumps(law.to_json()))) == law


@pytest.mark.parametrize(
    ("scale", "half_width"), [("1/1000", 0), ("1", 3), ("10", 30), ("1000000000", 2_995_732_274)]
)
def test_laplace_half_widths(scale: str, half_width: int) -> None:
    # At scale t it is about t ln 20 = 2.9957 t.
    assert DiscreteLaplace(Fraction(scale)).half_width() == half_width


@pytest.mark.parametrize(("sigma", "half_width"), [("1/1000", 0), ("10", 20), ("1000000000", 1_959_963_985)])
def test_gaussian_half_widths(sigma: str, half_width: int) -> None:
    # For wide noise it is about 1.959963985 σ.
    assert DiscreteGaussian(Fraction(sigma) ** 2).half_width() == half_width


def test_epsilon_ln_2_has_variance_4_and_keeps_a_third() -> None:
    law = DiscreteLaplace(1 / Fraction(math.log(2)))
    assert law.variance == pytest.approx(KNOWN["discrete_laplace_variance"]["eps=ln2"])
    assert law.probability(0) == pytest.approx(1 / 3)


def test_laplace_variance_at_epsilon_1() -> None:
    law = DiscreteLaplace(Fraction(1))
    assert law.variance == pytest.approx(KNOWN["discrete_laplace_variance"]["eps=1"], abs=1e-8)


@pytest.mark.parametrize("variance", ["0.25", "1"])
def test_gaussian_variance(variance: str) -> None:
    known = KNOWN["discrete_gaussian_variance"][variance]
    assert DiscreteGaussian(Fraction(variance)).variance == pytest.approx(known, abs=1e-8)


def test_a_scale_is_positive() -> None:
    with pytest.raises(ValueError, match="positive"):
        DiscreteLaplace(Fraction(0))


def test_a_variance_parameter_is_positive() -> None:
    with pytest.raises(ValueError, match="positive"):
        DiscreteGaussian(Fraction(-1))


@pytest.mark.parametrize("level", [0, 1, 1.5])
def test_a_level_lies_between_0_and_1(law: NoiseLaw, level: float) -> None:
    with pytest.raises(ValueError, match="between 0 and 1"):
        law.half_width(level)


def test_an_unknown_law_is_refused_by_name() -> None:
    with pytest.raises(ValueError, match="'cauchy'"):
        law_from_json({"law": "cauchy"})
