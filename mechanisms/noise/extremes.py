"""How far noise goes but for a chance that is stated beforehand, however small: bounds in closed form.

They serve checks that must not refuse what is right: where a bound is not exact, it reaches farther.
"""

from __future__ import annotations

import math

import numpy as np

from mechanisms.noise.laws import DiscreteLaplace, NoiseLaw

# Of the exponents at which the moments of a sum of Laplace noises are looked at, as shares of the largest.
_SHARES = np.linspace(0.02, 0.9995, 200)


def farthest(law: NoiseLaw, surprise: float) -> float:
    """An h >= 0 so that P(K > h) = P(K < -h) <= e^-surprise.

    Laplace: P(K > h) = q^(⌊h⌋ + 1)/(1 + q) <= q^h with q = e^(-1/scale). Gaussian: E e^(tK) <= e^(t²σ²/2) (Canonne,
    Kamath, Steinke 2020), and so P(K > h) <= e^(-h²/(2σ²)).
    """
    if isinstance(law, DiscreteLaplace):
        return float(law.scale) * surprise
    return math.sqrt(2 * float(law.variance_parameter) * surprise)


def farthest_sum(law: NoiseLaw, surprise: float) -> float:
    """The same of Σ w_i K_i, for each √Σ w_i² and whatever the weights are: the sum is beyond h √Σ w_i² so rarely.

    By Chernoff's bound: P(Σ w_i K_i > h w) <= e^(-uh) Π E e^(u w_i K_i / w) for any u > 0, w = √Σ w_i². Of Laplace
    noise, with variance v, E e^(uK) = 1/(1 - v (cosh u - 1)) as long as that is above 0. Its logarithm is convex in u²
    and 0 at 0, since cosh u - 1 is a power series in u² without negative terms: so the product over weights whose
    squares add up to w² is at most what a single weight of w has. Of Gaussian noise the bound is as that of one.
    """
    if not isinstance(law, DiscreteLaplace):
        return farthest(law, surprise)
    rate = float(1 / law.scale)
    u = rate * _SHARES
    # 1 - v (cosh u - 1) = (1 - e^(u - rate)) (1 - e^(-u - rate)) / (1 - e^-rate)²
    moments = 2 * np.log(-np.expm1(-rate)) - np.log(-np.expm1(u - rate)) - np.log(-np.expm1(-u - rate))
    return float(((moments + surprise) / u).min())
