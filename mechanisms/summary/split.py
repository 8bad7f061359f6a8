"""How a loss is shared out among tables so that their weighted errors together are least."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from mechanisms.accounting import Definition
from mechanisms.linear.tree import integer_weights

# Weights of squared errors beside those of a share, which is 1: of a mean as a share of its range, and of a rank, which
# costs some fifteen times as much and of which less is asked.
MEAN_WEIGHT, QUANTILE_WEIGHT = 1 / 2, 1 / 12
# A variance falls with this power of its share of the loss: noise of scale Δ/ε, or of variance Δ²/(2ρ).
POWER = {Definition.PURE: 2, Definition.ZCDP: 1}


def best_shares(energies: Sequence[float], definition: Definition) -> tuple[Fraction, ...]:
    """Shares that add up to exactly 1 and make Σ energy_i / share_i^p least, p = 2 of ε and 1 of ρ.

    energies: > 0, weight times variance at the whole loss. By Lagrange, p·energy_i / share_i^(p+1) is the same for all
    i: share_i ∝ energy_i^(1/(p+1)), a cube root of ε and a square root of ρ. The sum is convex, so nothing is less. By
    Hölder it is (Σ energy_i^(1/(p+1)))^(p+1). Shares are rounded to a grid of 2^-20, downwards but never to 0.
    """
    weights = integer_weights([energy ** (1 / (POWER[definition] + 1)) for energy in energies])
    total = sum(weights)
    return tuple(Fraction(part, total) for part in weights)
