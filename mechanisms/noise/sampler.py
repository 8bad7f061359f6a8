"""Exact discrete noise for whole arrays, by certified inversion.

A random word fixes the first bits of a uniform U. Floats give -ln U with a proven error bound; where the
bound leaves one answer, that answer is exact, and where it leaves two the draw is decided by
`mechanisms.noise.exact`. The argument for exactness is in mechanisms/noise/README.md.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction

import numpy as np

from mechanisms.arrays import Integers
from mechanisms.noise import choices, guard
from mechanisms.noise.exact import Source, exceeds, laplace_magnitude
from mechanisms.noise.laws import DiscreteGaussian, DiscreteLaplace, NoiseLaw
from mechanisms.noise.random_words import BITS, ETA, logarithms, random_words

KEY_BYTES = 32
# No wider noise is drawn, so that sums of draws fit 64 bits.
WIDEST = 10**12
_CHUNK = 1 << 15


class Noise:
    """Draws noise from a source of random bytes: without one, from the operating system's CSPRNG.

    That raises NoiseRefusedError in a program that has closed itself to it: see `guard`.
    """

    def __init__(self, source: Source | None = None) -> None:
        self._source = guard.admitted(source)

    def draw(self, law: NoiseLaw, size: int) -> Integers:
        """`size` independent draws of exactly `law`, as (size,) int64.

        Raises ValueError if size is negative or the law's scale is above 10^12, whose sums could leave int64.
        """
        if size < 0:
            raise ValueError(f"size must not be negative, got {size}")
        draw_chunk = _chunks_of(law)
        noise = np.empty(size, dtype=np.int64)
        filled = 0
        while filled < size:
            chunk = draw_chunk(min(_CHUNK, size - filled), self._source)
            noise[filled : filled + len(chunk)] = chunk
            filled += len(chunk)
        return noise

    def below(self, bounds: Integers) -> Integers:
        """For each bound b a uniform integer in 0..b-1: see `choices.uniform_below`."""
        return choices.uniform_below(bounds, self._source)

    def permutation(self, size: int) -> Integers:
        """A uniform permutation of 0..size-1: see `choices.permutation`."""
        return choices.permutation(size, self._source)

    def bernoulli(self, probability: Fraction, size: int) -> np.ndarray:
        """Independent coins of a rational probability: see `choices.bernoulli`."""
        return choices.bernoulli(probability, size, self._source)

    def bernoulli_each(self, probabilities: Sequence[int], places: Integers) -> np.ndarray:
        """Independent coins of many probabilities in units of 2^-128: see `choices.bernoulli_each`."""
        return choices.bernoulli_each(probabilities, places, self._source)

    def bernoulli_exp(self, rate: Fraction, multiples: np.ndarray) -> np.ndarray:
        """Independent coins of probability exp(-rate · multiple): see `choices.bernoulli_exp`."""
        return choices.bernoulli_exp(rate, multiples, self._source)

    def key(self) -> bytes:
        """32 secret random bytes, for random choices that nobody may predict."""
        return self._source(KEY_BYTES)


def _chunks_of(law: NoiseLaw) -> _LaplaceChunks | _GaussianChunks:
    if isinstance(law, DiscreteLaplace):
        return _LaplaceChunks(law.scale)
    return _GaussianChunks(law)


class _LaplaceChunks:
    """|K| = ⌊-t ln U + c⌋ with c = t ln(2/(1+q)), q = exp(-1/t), and a fair sign."""

    def __init__(self, scale: Fraction, eta: float = ETA) -> None:
        if scale > WIDEST:
            raise ValueError(f"the scale of noise must be at most 10^12, got {float(scale):g}")
        self._scale = scale
        self._float_scale = float(scale)
        self._shift = -self._float_scale * math.log1p(math.expm1(float(-1 / scale)) / 2)
        self._eta = eta

    def __call__(self, size: int, source: Source) -> Integers:
        words = random_words(size, source)
        magnitude, undecided = self._magnitude(words >> np.uint64(1))
        for i in undecided:
            magnitude[i] = laplace_magnitude(int(words[i]) >> 1, BITS, self._scale, source)
        sign = (words & np.uint64(1)).astype(np.int64)
        # (m ^ -s) + s is m for s = 0 and -m for s = 1.
        return (magnitude ^ -sign) + sign

    def _magnitude(self, words: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The magnitudes by floats, and the places where the error bound does not decide them."""
        minus_log = logarithms(words)
        value = minus_log.value
        value *= self._float_scale
        value += self._shift
        integral = np.floor(value)
        margin = (value + self._float_scale) * self._eta
        value -= integral
        decided = np.minimum(value, 1 - value) > margin
        decided &= minus_log.certain
        return integral.astype(np.int64), np.flatnonzero(~decided)


class _GaussianChunks:
    """Rejection from discrete Laplace Y of scale t = ⌊σ⌋ + 1.

    Y is kept with probability exp(-(|Y| - σ²/t)²/(2σ²)).

    Source: Canonne, Kamath, Steinke 2020, Algorithm 3.
    """

    def __init__(self, law: DiscreteGaussian, eta: float = ETA) -> None:
        variance = law.variance_parameter
        scale = math.isqrt(variance.numerator // variance.denominator) + 1
        self._proposals = _LaplaceChunks(Fraction(scale), eta)
        self._variance = variance
        self._centre = variance / scale
        self._eta = eta

    def __call__(self, size: int, source: Source) -> Integers:
        proposal = self._proposals(size, source)
        words = random_words(size, source) >> np.uint64(1)
        accepted, undecided = self._accepted(np.abs(proposal), words)
        for i in undecided:
            threshold = self._threshold(abs(int(proposal[i])))
            accepted[i] = exceeds(int(words[i]), BITS, threshold, source)
        noise: Integers = proposal[accepted]
        return noise

    def _threshold(self, magnitude: int) -> Fraction:
        return (magnitude - self._centre) ** 2 / (2 * self._variance)

    def _accepted(self, magnitude: np.ndarray, words: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Which proposals floats keep, and the places where the error bound does not decide."""
        minus_log = logarithms(words)
        shrink = 1 / math.sqrt(2 * float(self._variance))
        reach = magnitude * shrink
        threshold = reach - float(self._centre) * shrink
        threshold *= threshold
        reach += float(self._centre) * shrink
        reach *= reach
        reach += minus_log.value
        reach += 1
        excess = minus_log.value - threshold
        decided = np.abs(excess) > reach * self._eta
        decided &= minus_log.certain
        return excess > 0, np.flatnonzero(~decided)
