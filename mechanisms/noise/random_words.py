"""Random 64-bit words, and certified float logarithms of the uniform numbers they begin."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from mechanisms.noise.exact import Source

# Of each 64-bit word, 63 bits start a uniform number; the lowest is a sign.
BITS = 63
# Bound on the error of a float -ln U, relative to 1 - ln U.
ETA = 2.0**-47
# Words below 2^48 leave U too uncertain for floats (1 in 32,768).
_SMALLEST_WORD = np.uint64(2**48)


@dataclass(frozen=True)
class Logarithms:
    """-ln U for words that begin U: `value` in floats, `certain` where the error bound holds.

    |value - (-ln U)| <= eta · (1 + value) at every certain place, whatever the further bits of U are.
    """

    value: np.ndarray
    certain: np.ndarray


def logarithms(words: np.ndarray) -> Logarithms:
    """words: (m,) uint64 below 2^63."""
    uniform = words.astype(np.float64)
    uniform *= 2.0**-BITS
    certain = words >= _SMALLEST_WORD
    np.maximum(uniform, 2.0**-BITS, out=uniform)
    return Logarithms(np.negative(np.log(uniform, out=uniform), out=uniform), certain)


def random_words(size: int, source: Source) -> np.ndarray:
    """(size,) uint64, read only."""
    return np.frombuffer(source(8 * size), dtype="<u8")
