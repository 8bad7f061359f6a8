"""Exact random choices: uniform integers, permutations, and coins of rational or exponential probability."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

import numpy as np

from mechanisms.arrays import Integers
from mechanisms.noise.exact import Source, exceeds
from mechanisms.noise.random_words import BITS, ETA, logarithms, random_words

# The denominator of a rational coin's probability divides this.
COIN = 2**32
# Probabilities in these units are coins of any single one: of values that one person alone may have.
CHANCE_BITS = 128
CERTAIN = 1 << CHANCE_BITS
_CHUNK = 1 << 16
_LARGEST = np.uint64(2**64 - 1)


def uniform_below(bounds: Integers, source: Source) -> Integers:
    """For each bound b an independent, uniform integer in 0..b-1.

    bounds: (m,) integers in 1..2^63-1. Returns (m,) int64. Raises ValueError if a bound is below 1.
    Words beyond the largest multiple of b are drawn again, so no value is favoured.
    """
    if bounds.ndim != 1 or (bounds.size and bounds.min() < 1):
        raise ValueError("bounds must be a vector of whole numbers of at least 1")
    b = bounds.astype(np.uint64)
    surplus = (_LARGEST % b + np.uint64(1)) % b
    words = random_words(b.size, source).copy()
    while (rejected := np.flatnonzero(words > _LARGEST - surplus)).size:
        words[rejected] = random_words(rejected.size, source)
    return (words % b).astype(np.int64)


def permutation(size: int, source: Source) -> Integers:
    """A uniform permutation of 0..size-1, as (size,) int64.

    The order of distinct random words is uniform; should two words agree, all are drawn again.
    """
    while True:
        words = random_words(size, source)
        order = np.argsort(words)
        ranked = words[order]
        if not (ranked[1:] == ranked[:-1]).any():
            return order


def bernoulli(probability: Fraction, size: int, source: Source) -> np.ndarray:
    """`size` independent coins, (size,) bool, each true with exactly the given probability.

    probability: in 0..1 with a denominator that divides 2^32. Raises ValueError otherwise.
    """
    if not 0 <= probability <= 1 or COIN % probability.denominator:
        raise ValueError("a coin's probability must lie in 0..1, with a denominator that divides 2^32")
    threshold = np.uint64(probability * COIN)
    coins = np.empty(size, dtype=bool)
    for start in range(0, size, _CHUNK):
        part = coins[start : start + _CHUNK]
        np.less(np.frombuffer(source(4 * part.size), dtype="<u4"), threshold, out=part)
    return coins


def bernoulli_each(probabilities: Sequence[int], places: Integers, source: Source) -> np.ndarray:
    """Independent coins, (n,) bool; coin i is true with probability `probabilities[places[i]]` / 2^128 exactly.

    probabilities: in 0..2^128. Raises ValueError if one of them is not. Two words begin a uniform number of 128 bits,
    which lies below a probability as often as that says.
    """
    if not all(0 <= probability <= CERTAIN for probability in probabilities):
        raise ValueError("a coin's probability must lie in 0..2^128")
    high = np.array([p >> 64 if p < CERTAIN else 0 for p in probabilities], dtype=np.uint64)[places]
    low = np.array([p & (2**64 - 1) for p in probabilities], dtype=np.uint64)[places]
    certain = np.array([p == CERTAIN for p in probabilities], dtype=bool)[places]
    words = random_words(2 * places.size, source)
    first, second = words[::2], words[1::2]
    coins: np.ndarray = certain | (first < high) | ((first == high) & (second < low))
    return coins


def bernoulli_exp(rate: Fraction, multiples: np.ndarray, source: Source, eta: float = ETA) -> np.ndarray:
    """Independent coins, true with probability exp(-rate · multiple) exactly.

    rate: > 0. multiples: integers >= 0 of any shape; probability 1 where 0. Returns bool of that shape.
    Floats decide where their error bound does, as in the sampler; exact arithmetic decides the rest.
    Raises ValueError if the rate or a multiple is out of range.
    """
    if rate <= 0 or (multiples.size and multiples.min() < 0):
        raise ValueError("a coin's exponent needs a positive rate and multiples that are not negative")
    flat = multiples.ravel()
    coins = np.empty(flat.size, dtype=bool)
    for start in range(0, flat.size, _CHUNK):
        part = flat[start : start + _CHUNK]
        coins[start : start + part.size] = _exponential_coins(rate, part, source, eta)
    return coins.reshape(multiples.shape)


def _exponential_coins(rate: Fraction, multiples: np.ndarray, source: Source, eta: float) -> np.ndarray:
    """Whether -ln U > rate · multiple, for a fresh U each.

    The float threshold is right to 2^-51 of itself, far inside the margin.
    """
    words = random_words(multiples.size, source) >> np.uint64(1)
    minus_log = logarithms(words)
    threshold = multiples * float(rate)
    excess = minus_log.value - threshold
    decided = np.abs(excess) > (1 + minus_log.value + threshold) * eta
    decided &= minus_log.certain
    coins = excess > 0
    for i in np.flatnonzero(~decided):
        coins[i] = exceeds(int(words[i]), BITS, rate * int(multiples[i]), source)
    return coins
