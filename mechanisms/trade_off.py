"""What the best attack on one person can do: hits against false alarms, as f-differential privacy states it.

An attack looks at a release and says whether a certain person's data are in it. Its false alarms a are how often it
says so of data without them, its hits h how often of data with them. A curve here is the largest h for each a, over
all attacks, on the worst person, by any mechanism of the loss.

Source: Dong, Roth, Su 2022, Gaussian differential privacy; Kairouz, Oh, Viswanath 2015.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from mechanisms.arrays import Floats

# Orders of Rényi divergence that are tried. Left out ones, between or beyond them, would only lower the curve.
_NEAR_ONE, _LARGEST = 1e-3, 1024.0
_ORDERS, _HALVINGS = 80, 32


def hits_pure(epsilon: float, false_alarms: Floats) -> Floats:
    """The most hits against pure ε-differential privacy: min(e^ε a, 1 − e^−ε (1 − a)), which randomised response meets.

    false_alarms: between 0 and 1. Raises ValueError for ε < 0.
    """
    if epsilon < 0:
        raise ValueError(f"epsilon must not be negative, got {epsilon}")
    with np.errstate(over="ignore", invalid="ignore"):
        rising = np.where(false_alarms > 0, np.exp(epsilon) * false_alarms, 0.0)
    hits: Floats = np.minimum(rising, 1 - np.exp(-epsilon) * (1 - false_alarms))
    return hits


def hits_zcdp(rho: float, false_alarms: Floats, *, whole_orders: bool = False) -> Floats:
    """The most hits against any ρ-zCDP mechanism.

    An attack's answer is post-processing, so its two chances, a and h, are as close as the release's laws: the Rényi
    divergence of order λ, either way round, is at most λρ. The largest h that does not break this for any order is the
    curve; a mechanism with these two chances for its answers is as close, so for each order no lower curve holds.

    whole_orders: whether divergences are known to be bounded for whole λ >= 2 alone, as of some running counts.
    Source: Bun and Steinke 2016, Lemma 1.4; Zhu, Dong, Wang 2022, Appendix F.1.
    """
    if rho <= 0:
        raise ValueError(f"rho must be positive, got {rho}")
    return np.array(_bounded(rho, tuple(np.asarray(false_alarms, float).tolist()), whole_orders))


@lru_cache(maxsize=256)
def _bounded(rho: float, false_alarms: tuple[float, ...], whole_orders: bool) -> tuple[float, ...]:
    a = np.array(false_alarms)
    inside = (a > 0) & (a < 1)
    low, high = np.where(inside, a, 0.0), np.where(inside, 1.0, 0.0)
    orders = _integer_orders() if whole_orders else np.union1d(_integer_orders(), _orders_between())
    for _step in range(_HALVINGS):
        middle = (low + high) / 2
        holds = np.ones(len(a), dtype=bool)
        holds[inside] = _are_close(middle[inside], a[inside], orders, rho)
        low, high = np.where(holds, middle, low), np.where(holds, high, middle)
    return tuple(np.where(a >= 1, 1.0, np.where(a <= 0, 0.0, high)).tolist())


def _integer_orders() -> Floats:
    return np.unique(np.rint(np.geomspace(2, _LARGEST, _ORDERS)))


def _orders_between() -> Floats:
    orders: Floats = 1 + np.geomspace(_NEAR_ONE, _LARGEST, _ORDERS)
    return orders


def _are_close(h: Floats, a: Floats, orders: Floats, rho: float) -> np.ndarray:
    """Whether two coins of these chances are as close as ρ asks, for every order and either way round."""
    holds: np.ndarray = np.logical_and(_divergences(h, a, orders, rho), _divergences(a, h, orders, rho))
    return holds


def _divergences(p: Floats, q: Floats, orders: Floats, rho: float) -> np.ndarray:
    """Whether (λ − 1) D_λ of the coin p from the coin q is at most (λ − 1) λρ for all orders λ > 1, (n,)."""
    with np.errstate(divide="ignore"):
        heads = np.log(p)[:, None] * orders + np.log(q)[:, None] * (1 - orders)
        tails = np.log1p(-p)[:, None] * orders + np.log1p(-q)[:, None] * (1 - orders)
    within = np.logaddexp(heads, tails) <= (orders - 1) * orders * rho
    return np.asarray(within.all(axis=1))
