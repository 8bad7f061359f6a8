"""Random choices are exact. Each statistical test errs with probability 1e-7."""

from __future__ import annotations

import itertools
import random
from collections.abc import Callable
from decimal import Context, Decimal
from fractions import Fraction

import numpy as np
import pytest
from scipy.stats import binom, chi2

from mechanisms.noise import Noise
from mechanisms.noise.choices import bernoulli_exp
from tests.mechanisms.noise.chi_square import FALSE_ALARM

MILLION = 10**6


def words(*values: int) -> Callable[[int], bytes]:
    """A source of chosen 64-bit words."""
    left = b"".join(value.to_bytes(8, "little") for value in values)

    def source(size: int) -> bytes:
        nonlocal left
        taken, left = left[:size], left[size:]
        assert len(taken) == size, "more words were drawn than the test foresaw"
        return taken

    return source


def p_uniform(observed: np.ndarray) -> float:
    expected = observed.sum() / observed.size
    return float(chi2.sf(((observed - expected) ** 2 / expected).sum(), observed.size - 1))


def p_binomial(successes: int, trials: int, probability: float) -> float:
    return 2 * min(binom.cdf(successes, trials, probability), binom.sf(successes - 1, trials, probability))


@pytest.mark.slow
@pytest.mark.parametrize("bound", [2, 3, 1000])
def test_integers_below_a_bound_are_uniform(bound: int) -> None:
    drawn = Noise().below(np.full(MILLION, bound))
    assert p_uniform(np.bincount(drawn, minlength=bound)) > FALSE_ALARM


def test_a_word_beyond_the_largest_multiple_is_drawn_again() -> None:
    # 2^64 = 1 mod 3, so only the highest word, which would favour 0, is refused.
    assert Noise(words(2**64 - 1, 4)).below(np.array([3])).tolist() == [1]


def test_the_last_word_within_the_largest_multiple_is_kept() -> None:
    assert Noise(words(2**64 - 2)).below(np.array([3])).tolist() == [2]


def test_every_element_has_its_own_bound() -> None:
    assert Noise(words(7, 7, 7)).below(np.array([1, 5, 8])).tolist() == [0, 2, 7]


def test_a_bound_of_zero_is_refused() -> None:
    with pytest.raises(ValueError, match="at least 1"):
        Noise().below(np.array([0]))


@pytest.mark.slow
def test_permutations_of_three_are_uniform() -> None:
    noise = Noise()
    orders = list(itertools.permutations(range(3)))
    drawn = [orders.index(tuple(noise.permutation(3))) for _ in range(20_000)]
    assert p_uniform(np.bincount(drawn, minlength=6)) > FALSE_ALARM


def test_words_that_agree_are_drawn_again() -> None:
    assert Noise(words(5, 5, 9, 4)).permutation(2).tolist() == [1, 0]


def test_a_permutation_of_nothing_is_empty() -> None:
    assert Noise().permutation(0).tolist() == []


@pytest.mark.slow
def test_rational_coins_have_their_probability() -> None:
    heads = int(Noise().bernoulli(Fraction(5, 8), MILLION).sum())
    assert p_binomial(heads, MILLION, 5 / 8) > FALSE_ALARM


@pytest.mark.parametrize(("word", "heads"), [(2**29 - 1, True), (2**29, False)])
def test_a_coin_of_an_eighth_falls_at_two_to_the_29(word: int, heads: bool) -> None:
    source = words(word)
    assert Noise(lambda size: source(8)[:size]).bernoulli(Fraction(1, 8), 1).tolist() == [heads]


@pytest.mark.parametrize("probability", [Fraction(0), Fraction(1)])
def test_coins_may_be_certain(probability: Fraction) -> None:
    assert set(Noise().bernoulli(probability, 1000).tolist()) == {probability == 1}


@pytest.mark.parametrize("probability", [Fraction(1, 3), Fraction(-1, 2), Fraction(3, 2)])
def test_a_probability_that_a_word_cannot_hold_is_refused(probability: Fraction) -> None:
    with pytest.raises(ValueError, match="divides 2\\^32"):
        Noise().bernoulli(probability, 1)


@pytest.mark.slow
@pytest.mark.parametrize(("rate", "multiple"), [("1/3", 2), ("7/5", 3), ("1/1000", 1)])
def test_exponential_coins_have_their_probability(rate: str, multiple: int) -> None:
    heads = int(Noise().bernoulli_exp(Fraction(rate), np.full(MILLION, multiple)).sum())
    assert p_binomial(heads, MILLION, np.exp(-multiple * float(Fraction(rate)))) > FALSE_ALARM


def test_the_multiple_zero_is_always_true() -> None:
    assert Noise().bernoulli_exp(Fraction(7), np.zeros(100_000, dtype=np.int64)).all()


@pytest.mark.parametrize(("more", "heads"), [(0, True), (2**64 - 1, False)])
def test_a_coin_on_a_boundary_is_decided_by_more_bits(more: int, heads: bool) -> None:
    # The coin is true if U < exp(-1/2); this word holds that bound.
    edge = int(Context(prec=60).exp(Decimal("-0.5")) * Decimal(2**63)) << 1
    coin = Noise(words(edge, more)).bernoulli_exp(Fraction(1, 2), np.array([1]))
    assert coin.tolist() == [heads]


@pytest.mark.slow
def test_exact_arithmetic_agrees_with_certified_floats() -> None:
    multiples = np.arange(3000) % 40
    floats, exact = (
        bernoulli_exp(Fraction(3, 17), multiples, random.Random(1).randbytes, eta) for eta in (2.0**-47, 1e30)
    )
    assert np.array_equal(floats, exact)


def test_coins_keep_the_shape_of_their_multiples() -> None:
    assert Noise().bernoulli_exp(Fraction(1), np.zeros((3, 4), dtype=np.int64)).shape == (3, 4)


@pytest.mark.parametrize(("rate", "multiple"), [(0, 1), (1, -1)])
def test_an_exponent_above_zero_is_refused(rate: int, multiple: int) -> None:
    with pytest.raises(ValueError, match="positive rate"):
        Noise().bernoulli_exp(Fraction(rate), np.array([multiple]))
