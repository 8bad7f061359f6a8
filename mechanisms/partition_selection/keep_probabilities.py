"""With what probability a value is kept that n people have: the largest there is, in whole units of 2^-128.

The argument is in mechanisms/partition_selection/README.md.
"""

from __future__ import annotations

from fractions import Fraction

from mechanisms.noise.choices import CERTAIN, CHANCE_BITS

# Further bits while the factor is added up, so that what is cut off is far below the last bit that stays.
_GUARD_BITS = 64


def factor_below(epsilon: Fraction) -> int:
    """The largest whole number that is found of which factor/2^128 <= e^ε; ε: at least 0.

    All terms of the exponential series are positive, so leaving the later ones out and rounding each down stays below.
    The series is that of ε/2^k, at most 1, whose power is squared k times, rounded down each time.
    """
    halvings = max(0, (epsilon.numerator // epsilon.denominator).bit_length())
    scale = 1 << (CHANCE_BITS + _GUARD_BITS + 2 * halvings)
    numerator, denominator = epsilon.numerator, epsilon.denominator << halvings
    term, total, step = scale, 0, 0
    while term:
        total += term
        step += 1
        term = term * numerator // (denominator * step)
    for _ in range(halvings):
        total = total * total // scale
    return total * CERTAIN // scale


def keep_probabilities(epsilon: Fraction, delta: Fraction, most: int) -> list[int] | None:
    """Of 0, 1, 2 … people the probability that their value is kept, in units of 2^-128, up to the first that is 1.

    epsilon, delta: what one person may move of one value's coin; both above 0, delta at most 1. most: how many entries
    there may be; None where there would be more.
    Source: Desfontaines, Voss, Gipson, Mandayam 2022, Theorem 1: the recurrence of the largest probabilities, here
    rounded down at each step, which keeps it private.
    """
    factor, added = factor_below(epsilon), int(delta * CERTAIN)
    numerators = [0]
    while numerators[-1] < CERTAIN:
        if len(numerators) == most:
            return None
        numerators.append(_next_probability(numerators[-1], factor, added))
    return numerators


def _next_probability(probability: int, factor: int, added: int) -> int:
    """The largest probability of one more person: both inequalities of (ε, δ), and 1, bound it from above."""
    lost = CERTAIN - probability - added
    if lost <= 0:
        return CERTAIN
    fewest_lost = -(-lost * CERTAIN // factor)
    return min((factor * probability >> CHANCE_BITS) + added, CERTAIN - fewest_lost)
