"""The exact probabilities of PrivTree's trees, from its rule and the law of its noise alone."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction
from functools import cache

import numpy as np

from mechanisms.histogram.privtree import THRESHOLD
from mechanisms.noise import DiscreteLaplace

Tree = tuple  # () is a leaf, (left, right) a halved block


@cache
def trees(width: int) -> tuple[Tree, ...]:
    """Every tree that halves `width` = 2^k cells."""
    if width == 1:
        return ((),)
    return ((), *itertools.product(trees(width // 2), repeat=2))


@cache
def _log_at_least(needed: int, scale: Fraction) -> float:
    """ln P(K >= needed)."""
    tail = float(DiscreteLaplace(scale).tail(np.array(needed - 1 if needed > 0 else -needed))) / 2
    return math.log(tail) if needed > 0 else math.log1p(-tail)


def log_probability(tree: Tree, counts: tuple[int, ...], scale: Fraction, bias: int, depth: int = 0) -> float:
    """ln P(tree | counts), from the rule and the law of K alone: halved if max(c - depth·δ, θ - δ) + K > θ."""
    if len(counts) == 1:
        return 0.0
    needed = THRESHOLD + 1 - max(sum(counts) - depth * bias, THRESHOLD - bias)
    if not tree:
        return _log_at_least(1 - needed, scale)  # P(K < needed), as the law is symmetric.
    half = len(counts) // 2
    parts = zip(tree, (counts[:half], counts[half:]), strict=True)
    return _log_at_least(needed, scale) + sum(log_probability(t, c, scale, bias, depth + 1) for t, c in parts)
