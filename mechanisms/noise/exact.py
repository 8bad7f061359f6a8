"""Exact decisions about a uniform number whose bits are drawn one word at a time.

Used for the rare draw that float arithmetic cannot certify. Python's decimal `ln` and `exp` are correctly
rounded, so the two neighbours of a result enclose the true value; where the enclosure does not decide, more
random bits and more digits make it narrower.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal
from fractions import Fraction

Source = Callable[[int], bytes]
_WORD = 64
# Digits beyond those of the random bits, so that rounding never dominates the width of the enclosure.
_GUARD = 12


@dataclass(frozen=True)
class Enclosure:
    """lower <= the unknown value <= upper."""

    lower: Fraction
    upper: Fraction


def _enclosures(numerator: int, bits: int, source: Source) -> Iterator[tuple[Fraction, Fraction, Context]]:
    """Ever narrower intervals around a uniform number that starts with the given bits; never begins at 0."""
    while True:
        if numerator > 0:
            yield Fraction(numerator, 2**bits), Fraction(numerator + 1, 2**bits), _context(bits)
        numerator = numerator << _WORD | int.from_bytes(source(_WORD // 8), "little")
        bits += _WORD


def _context(bits: int) -> Context:
    # Nothing here is smaller than 10^-(digits + 100), so the exponents never underflow, and the neighbours
    # of zero stay numbers that a Fraction can hold.
    digits = math.ceil(bits * math.log10(2)) + _GUARD
    return Context(prec=digits, Emax=10 * digits + 1000, Emin=-(10 * digits + 1000))


def _decimal(value: Fraction, context: Context, rounding: str) -> Decimal:
    directed = context.copy()
    directed.rounding = rounding
    return directed.divide(Decimal(value.numerator), Decimal(value.denominator))


def _ln(lower: Fraction, upper: Fraction, context: Context) -> Enclosure:
    below = context.ln(_decimal(lower, context, ROUND_FLOOR))
    above = context.ln(_decimal(upper, context, ROUND_CEILING))
    return Enclosure(Fraction(context.next_minus(below)), Fraction(context.next_plus(above)))


def _exp(exponent: Fraction, context: Context) -> Enclosure:
    below = context.exp(_decimal(exponent, context, ROUND_FLOOR))
    above = context.exp(_decimal(exponent, context, ROUND_CEILING))
    return Enclosure(
        max(Fraction(0), Fraction(context.next_minus(below))), Fraction(context.next_plus(above))
    )


def laplace_magnitude(numerator: int, bits: int, scale: Fraction, source: Source) -> int:
    """|K| of a discrete Laplace by inversion: ⌊scale · ln(2 / (U (1+q)))⌋, q = exp(-1/scale), exactly.

    U is uniform on (0, 1) and starts with `bits` bits, those of `numerator`; further bits come from `source`.
    P(|K| >= k) = 2 q^k/(1+q) for k >= 1, so |K| >= k exactly if U <= 2 q^k/(1+q).
    """
    for lower, upper, context in _enclosures(numerator, bits, source):
        q = _ratio(scale, context)
        half_odds = Enclosure(lower * (1 + q.lower) / 2, upper * (1 + q.upper) / 2)
        logarithm = _ln(half_odds.lower, half_odds.upper, context)
        least = max(0, math.floor(-scale * logarithm.upper))
        if least == math.floor(-scale * logarithm.lower):
            return least
    raise AssertionError("an endless sequence of enclosures ended")


def _ratio(scale: Fraction, context: Context) -> Enclosure:
    """q = exp(-1/scale); below 10^-(digits + 100) the enclosure is [0, that]."""
    negligible = (context.prec + 100) * math.log(10)
    if 1 / scale > negligible + 1:
        return Enclosure(Fraction(0), Fraction(1, 10 ** (context.prec + 99)))
    return _exp(-1 / scale, context)


def exceeds(numerator: int, bits: int, threshold: Fraction, source: Source) -> bool:
    """Whether -ln U > threshold >= 0, exactly; U as in `laplace_magnitude`.

    The event has probability exp(-threshold).
    """
    for lower, upper, context in _enclosures(numerator, bits, source):
        logarithm = _ln(lower, upper, context)
        # Correctly rounded ln(1) is exactly 0, and U < 1 almost surely: 0 is a true lower bound of -ln U.
        if max(Fraction(0), -logarithm.upper) >= threshold:
            return True
        if -logarithm.lower < threshold:
            return False
    raise AssertionError("an endless sequence of enclosures ended")
