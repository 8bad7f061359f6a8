"""The sampler draws exactly the law it is asked for. Each statistical test errs with probability 1e-7."""

from __future__ import annotations

import os
import random
from decimal import Context, Decimal
from fractions import Fraction

import numpy as np
import pytest
from scipy.stats import chi2, norm

from mechanisms.noise import DiscreteGaussian, DiscreteLaplace, Noise, NoiseLaw
from mechanisms.noise.random_words import ETA, logarithms
from mechanisms.noise.sampler import _GaussianChunks, _LaplaceChunks
from tests.mechanisms.noise.chi_square import FALSE_ALARM, p_value

TEN_MILLION = 10**7


@pytest.mark.slow
@pytest.mark.parametrize("scale", ["1/3", "7/5", "1000/7"])
def test_laplace_draws_have_the_exact_probabilities(scale: str) -> None:
    t = float(Fraction(scale))
    draws = Noise().draw(DiscreteLaplace(Fraction(scale)), TEN_MILLION)
    assert p_value(draws, lambda k: np.exp(-np.abs(k) / t), reach=int(40 * t) + 40) > FALSE_ALARM


@pytest.mark.slow
@pytest.mark.parametrize("variance", ["1/4", "10/3", "100000/7"])
def test_gaussian_draws_have_the_exact_probabilities(variance: str) -> None:
    v = float(Fraction(variance))
    draws = Noise().draw(DiscreteGaussian(Fraction(variance)), TEN_MILLION)
    assert p_value(draws, lambda k: np.exp(-(k**2) / (2 * v)), reach=int(12 * v**0.5) + 12) > FALSE_ALARM


@pytest.mark.slow
def test_the_chi_square_test_notices_a_scale_wrong_by_one_in_two_hundred() -> None:
    draws = Noise().draw(DiscreteLaplace(Fraction(7, 5)), TEN_MILLION)
    assert p_value(draws, lambda k: np.exp(-np.abs(k) / 1.407), reach=100) < FALSE_ALARM


def _p_of_intervals(draws: np.ndarray, cdf: np.ndarray) -> float:
    """p-value of the draws over intervals whose inner bounds have the distribution function `cdf`."""
    expected = np.diff(cdf, prepend=0, append=1) * draws.size
    return float(
        chi2.sf(((np.bincount(draws, minlength=expected.size) - expected) ** 2 / expected).sum(), 99)
    )


def test_laplace_at_scale_a_billion() -> None:
    draws = Noise().draw(DiscreteLaplace(Fraction(10**9)), 10**6)
    bounds = np.linspace(-4e9, 4e9, 99).round()
    # P(K < b) of a discrete Laplace: q^(1-b)/(1+q) for b <= 0, and by symmetry 1 - q^b/(1+q) for b > 0.
    half = 1 / (1 + np.exp(-1e-9))
    below = np.where(bounds > 0, 1 - half * np.exp(-bounds / 1e9), half * np.exp((bounds - 1) / 1e9))
    assert _p_of_intervals(np.searchsorted(bounds, draws, side="right"), below) > FALSE_ALARM


def test_gaussian_at_sigma_a_billion() -> None:
    draws = Noise().draw(DiscreteGaussian(Fraction(10**18)), 10**6)
    bounds = np.linspace(-3e9, 3e9, 99).round()
    below = norm.cdf((bounds - 0.5) / 1e9)
    assert _p_of_intervals(np.searchsorted(bounds, draws, side="right"), below) > FALSE_ALARM


@pytest.mark.parametrize("law", [DiscreteLaplace(Fraction(1, 1000)), DiscreteGaussian(Fraction(1, 10**6))])
def test_noise_of_scale_a_thousandth_is_zero(law: NoiseLaw) -> None:
    # P(K != 0) is below exp(-999): a false alarm never happens.
    assert not Noise().draw(law, 100_000).any()


def _two_sample(ours: np.ndarray, theirs: np.ndarray, reach: int) -> float:
    """p-value for two samples of equal size having one law, with values beyond ± reach pooled."""
    a, b = (np.bincount(np.clip(x, -reach, reach) + reach, minlength=2 * reach + 1) for x in (ours, theirs))
    return float(chi2.sf(((a - b) ** 2 / (a + b)).sum(), 2 * reach))


@pytest.mark.slow
def test_opendp_draws_the_same_laplace() -> None:
    import opendp.prelude as dp

    dp.enable_features("contrib")
    space = dp.vector_domain(dp.atom_domain(T=int)), dp.l1_distance(T=int)
    theirs = np.array(dp.m.make_laplace(*space, scale=2.5)([0] * 200_000))
    ours = Noise().draw(DiscreteLaplace(Fraction(5, 2)), 200_000)
    assert _two_sample(ours, theirs, reach=15) > FALSE_ALARM


@pytest.mark.slow
def test_opendp_draws_the_same_gaussian() -> None:
    import opendp.prelude as dp

    dp.enable_features("contrib")
    space = dp.vector_domain(dp.atom_domain(T=int)), dp.l2_distance(T=float)
    theirs = np.array(dp.m.make_gaussian(*space, scale=2.5)([0] * 200_000))
    ours = Noise().draw(DiscreteGaussian(Fraction(25, 4)), 200_000)
    assert _two_sample(ours, theirs, reach=8) > FALSE_ALARM


@pytest.mark.slow
@pytest.mark.parametrize("scale", ["1/1000", "3/7", "1", "1000000000", "999999937/3"])
def test_exact_arithmetic_agrees_with_certified_floats_for_laplace(scale: str) -> None:
    floats = _LaplaceChunks(Fraction(scale))(3000, random.Random(1).randbytes)
    exact = _LaplaceChunks(Fraction(scale), eta=1e30)(3000, random.Random(1).randbytes)
    assert np.array_equal(floats, exact)


@pytest.mark.slow
@pytest.mark.parametrize("variance", ["1/1000000", "1/4", "10/3", "1000000000000000000"])
def test_exact_arithmetic_agrees_with_certified_floats_for_gaussian(variance: str) -> None:
    law = DiscreteGaussian(Fraction(variance))
    floats = _GaussianChunks(law)(3000, random.Random(1).randbytes)
    exact = _GaussianChunks(law, eta=1e30)(3000, random.Random(1).randbytes)
    assert np.array_equal(floats, exact)


class Words:
    """A source that hands out chosen 64-bit words, and fails when it runs out."""

    def __init__(self, *words: int) -> None:
        self._bytes = b"".join(word.to_bytes(8, "little") for word in words)

    def __call__(self, size: int) -> bytes:
        taken, self._bytes = self._bytes[:size], self._bytes[size:]
        assert len(taken) == size, "the sampler asked for more words than the test foresaw"
        return taken

    @property
    def left(self) -> int:
        return len(self._bytes) // 8


CONTEXT = Context(prec=60)


def _boundary_word(k: int) -> int:
    """The word of sign 0 that holds 2 q^k/(1+q), q = 1/e, where |K| falls from k to k-1 at scale 1."""
    q = CONTEXT.exp(Decimal(-1))
    edge = CONTEXT.divide(CONTEXT.multiply(Decimal(2), CONTEXT.power(q, k)), CONTEXT.add(1, q))
    return int(CONTEXT.multiply(edge, Decimal(2**63))) << 1


@pytest.mark.parametrize("k", [1, 2, 5, 30])
def test_a_word_on_a_boundary_is_decided_by_more_bits(k: int) -> None:
    law = DiscreteLaplace(Fraction(1))
    lowest, highest = Words(_boundary_word(k), 0), Words(_boundary_word(k), 2**64 - 1)
    assert (Noise(lowest).draw(law, 1)[0], Noise(highest).draw(law, 1)[0]) == (k, k - 1)
    assert lowest.left == highest.left == 0


def test_the_word_beside_a_boundary_needs_no_more_bits_than_it_has() -> None:
    assert Noise(Words(_boundary_word(2) + 2)).draw(DiscreteLaplace(Fraction(1)), 1)[0] == 1


def test_a_zero_word_draws_far_into_the_tail() -> None:
    # U = 2^-64, so |K| = ⌊64 ln 2 + ln(2/(1+1/e))⌋ = ⌊44.361 + 0.380⌋.
    assert Noise(Words(0, 2**63)).draw(DiscreteLaplace(Fraction(1)), 1)[0] == 44


def test_the_lowest_bit_is_the_sign() -> None:
    assert Noise(Words(1, 2**63)).draw(DiscreteLaplace(Fraction(1)), 1)[0] == -44


@pytest.mark.parametrize(("more", "drawn", "left"), [(0, 0, 2), (2**64 - 1, 1, 0)])
def test_a_gaussian_acceptance_on_a_boundary_is_decided_by_more_bits(
    more: int, drawn: int, left: int
) -> None:
    # σ² = 4, t = 3, q = exp(-1/3): a proposal is 0 if U > 2q/(1+q) = 0.83 and 1 if U > 2q²/(1+q) = 0.60.
    zero, one = (int(u * 2**63) << 1 for u in (0.9, 0.7))
    # The proposal 0 is kept if U < exp(-(0 - 4/3)²/8) = exp(-2/9); this word holds that bound.
    edge = int(CONTEXT.multiply(CONTEXT.exp(CONTEXT.divide(-2, 9)), Decimal(2**63))) << 1
    kept = 2**50
    source = Words(zero, edge, more, one, kept)
    assert Noise(source).draw(DiscreteGaussian(Fraction(4)), 1)[0] == drawn
    assert source.left == left


@pytest.mark.slow
def test_float_logarithms_keep_far_within_their_bound() -> None:
    words = np.frombuffer(os.urandom(8 * 20_000), dtype="<u8") >> np.uint64(1)
    words = words >> np.arange(words.size, dtype=np.uint64) % np.uint64(15)
    floats = logarithms(words)
    exact = [-CONTEXT.ln(CONTEXT.divide(int(w), 2**63)) for w in words]
    error = [abs(Decimal(float(v)) - e) / (1 + e) for v, e in zip(floats.value, exact, strict=True)]
    assert float(max(error)) < ETA / 16


def test_a_source_of_repeating_bytes_repeats_the_draws() -> None:
    law = DiscreteGaussian(Fraction(50))
    first, second = (Noise(random.Random(3).randbytes).draw(law, 1000) for _ in range(2))
    assert np.array_equal(first, second)


def test_no_draws_are_an_empty_array_of_integers() -> None:
    draws = Noise().draw(DiscreteLaplace(Fraction(1)), 0)
    assert (draws.shape, draws.dtype) == ((0,), np.int64)


def test_a_negative_size_is_refused() -> None:
    with pytest.raises(ValueError, match="size must not be negative, got -1"):
        Noise().draw(DiscreteLaplace(Fraction(1)), -1)


def test_a_scale_whose_sums_leave_64_bits_is_refused() -> None:
    with pytest.raises(ValueError, match="at most 10\\^12"):
        Noise().draw(DiscreteLaplace(Fraction(10**12 + 1)), 1)


def test_keys_are_32_bytes_from_the_source() -> None:
    assert Noise(lambda size: b"k" * size).key() == b"k" * 32
