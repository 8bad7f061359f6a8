"""The probability that each candidate is chosen, from how far its score trails the best; for displays, in floats.

In each function rate: points of score to the exponent, > 0; gaps: (n,) integers >= 0, at least one of them 0.
"""

from __future__ import annotations

import math

import numpy as np

from mechanisms.arrays import Floats

_NODES = 256
# Noise further out than this many scales has probability below 1e-17.
_REACH = 40
_FEW = 200
_BLOCK = 2**18


def exponential(rate: float, gaps: Floats) -> Floats:
    """P(i) = exp(-rate·gap_i) / Σ exp(-rate·gap_j)."""
    weights = np.exp(-rate * gaps)
    chances: Floats = weights / weights.sum()
    return chances


def permute_and_flip(rate: float, gaps: np.ndarray) -> np.ndarray:
    """P(i) = p_i E[1/(1 + S)], p_i = exp(-rate·gap_i), S the number of heads among the other candidates.

    Choosing evenly among all heads is stopping at the first head in a random order. E[1/(1+S)] is the integral
    over s in 0..1 of Π_{j≠i} (1 - p_j + p_j s), a polynomial that Gauss-Legendre integrates exactly for n <= 512.
    """
    heads = np.exp(-rate * gaps)
    return _shared(1 - heads[None], heads[None], _nodes(gaps.size, _NODES))


def noisy_max(rate: float, gaps: Floats) -> Floats:
    """The chance of the largest score after discrete Laplace noise of scale 1/rate, ties shared evenly.

    Sums over all noisy scores of the best candidates. Noise of a scale above 50 is summed over blocks of integers with
    the law taken as even inside a block, an error below 1e-4; above 200 candidates over wider blocks, below 1e-2.
    """
    scale = 1 / rate
    width = max(1, math.ceil(scale / (50 if gaps.size <= _FEW else 5)))
    reach = math.ceil(_REACH * scale) + 1
    nodes = _nodes(gaps.size, 4 if width > 1 else 32)
    levels = np.arange(-reach, reach + 1, width)
    chances = np.zeros(gaps.size)
    for block in np.array_split(levels, math.ceil(levels.size * gaps.size / _BLOCK)):
        before = _probability_below(block[:, None] + gaps, rate)
        chances += _shared(before, _probability_below(block[:, None] + width + gaps, rate) - before, nodes)
    odds: Floats = chances / chances.sum()
    return odds


def _probability_below(k: np.ndarray, rate: float) -> np.ndarray:
    """P(K < k) of a discrete Laplace with q = exp(-rate)."""
    half = 1 / (1 + math.exp(-rate))
    tail = half * np.exp(-rate * np.where(k > 0, k, 1 - k))
    return np.where(k > 0, 1 - tail, tail)


def _shared(lost: Floats, level: Floats, nodes: tuple[Floats, Floats]) -> Floats:
    """The chance that i is level and wins an even draw among all that are level, none being ahead.

    lost, level: (blocks, n) chances of j being below a block's level, and at it. Returns the sum over blocks of
    level_i · ∫_0^1 Π_{j≠i} (lost_j + level_j s) ds, as (n,).
    """
    points, weights = nodes
    chances = np.zeros(level.shape)
    with np.errstate(divide="ignore", invalid="ignore"):
        for s, w in zip(points, weights, strict=True):
            factors = np.log(lost + level * s)
            product = factors.sum(axis=1, keepdims=True) - factors
            # Only a candidate that cannot be at this level has no logarithm: -inf less -inf.
            chances += w * np.exp(np.where(np.isnan(product), -np.inf, product))
    shared: Floats = (level * chances).sum(axis=0)
    return shared


def _nodes(candidates: int, most: int) -> tuple[np.ndarray, np.ndarray]:
    """Gauss-Legendre nodes and weights on 0..1, enough for a polynomial of degree candidates - 1."""
    points, weights = np.polynomial.legendre.leggauss(min(math.ceil(candidates / 2), most))
    return (points + 1) / 2, weights / 2
