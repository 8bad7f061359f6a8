"""The share of values that a private choice keeps, beside truncated geometric noise and thresholded Laplace noise.

Run: python -m tests.benchmarks.partition_selection
By formulas, not by simulation. Values are had by 1, 2, 3 … people with a share of n^-1.5 each, up to 10,000, as words
or towns are; "kept" is the expected share of values that at least two people have. "people" is how many a value needs
to be kept with 50 % and with 99 %. Truncated geometric noise is Desfontaines et al. 2022, Theorem 2, where it is
defined; the Laplace threshold is the one that OpenDP's `make_laplace_threshold` proves for the same ε and δ.
"""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import opendp.prelude as dp

from mechanisms.accounting import Definition, Loss, PrivacyUnit
from mechanisms.noise.choices import CERTAIN
from mechanisms.partition_selection import choosing

MOST = 10_000
CASES = [(e, d, m) for e in ("0.1", "1") for d in ("0.000001", "0.0000000001") for m in (1, 5)]


def main() -> None:
    dp.enable_features("contrib")
    print(f"{'ε':>4} {'δ':>6} {'values':>6}  {'choice':18} {'kept':>7} {'50 %':>6} {'99 %':>6}")
    for epsilon, delta, values in CASES:
        loss = Loss(Definition.PURE, Fraction(epsilon), PrivacyUnit(max_rows=values), Fraction(delta))
        own = optimal(loss)
        rivals = {
            "truncated geometric": truncated_geometric(
                float(loss.amount) / values, float(loss.delta) / values
            ),
            "Laplace threshold": laplace_threshold(float(loss.amount), float(loss.delta), values),
        }
        for name, chances in {"optimal (ours)": own, **rivals}.items():
            # One part in 10^9 is what floats may be off.
            assert (own >= chances * (1 - 1e-9)).all(), f"{name} keeps more somewhere"
            line = f"{epsilon:>4} {float(delta):6.0e} {values:6}  {name:18}"
            print(f"{line} {kept(chances):7.2%} {fewest(chances, 0.5):6} {fewest(chances, 0.99):6}")


def optimal(loss: Loss) -> np.ndarray:
    """(MOST + 1,) chance by number of people."""
    table = choosing.plan(loss).probabilities
    chances = np.ones(MOST + 1)
    chances[: len(table)] = [probability / CERTAIN for probability in table[: MOST + 1]]
    return chances


def truncated_geometric(epsilon: float, delta: float) -> np.ndarray:
    """A count plus geometric noise cut off at ±k, kept above k: the least k whose tail has at most δ."""
    q = math.exp(-epsilon)
    k = math.ceil(math.log((math.exp(epsilon) + 2 * delta - 1) / (delta * (math.exp(epsilon) + 1))) / epsilon)
    noise = q ** np.abs(np.arange(-k, k + 1))
    above = np.concatenate([np.cumsum(noise[::-1]), np.full(MOST, noise.sum())]) / noise.sum()
    return np.concatenate([[0.0], above])[: MOST + 1]


def laplace_threshold(epsilon: float, delta: float, values: int) -> np.ndarray:
    """OpenDP's threshold for that noise, found by its own proof."""
    scale = values / epsilon
    # The measurement's map gives the δ of a threshold; the least whole one with at most δ is searched for.
    low, high = 1, 4 * MOST * values
    while low < high:
        middle = (low + high) // 2
        if _delta_of(scale, middle, values) <= delta:
            high = middle
        else:
            low = middle + 1
    # Discrete Laplace noise K of that scale; kept where n + K is above the threshold.
    people, q = np.arange(MOST + 1), math.exp(-1 / scale)
    needed = low + 1 - people
    tail = np.where(
        needed > 0, q ** np.maximum(needed, 0) / (1 + q), 1 - q ** (1 - np.minimum(needed, 0)) / (1 + q)
    )
    tail[0] = 0.0
    return tail


def _delta_of(scale: float, threshold: int, values: int) -> float:
    space = (
        dp.map_domain(dp.atom_domain(T=str), dp.atom_domain(T=int)),
        dp.l01inf_distance(dp.absolute_distance(T=int)),
    )
    measurement = dp.m.make_laplace_threshold(*space, scale=scale, threshold=threshold)
    _epsilon, delta = measurement.map((values, values, 1))
    return float(delta)


def kept(chances: np.ndarray) -> float:
    people = np.arange(2, MOST + 1)
    weights = people**-1.5
    return float((chances[2:] * weights).sum() / weights.sum())


def fewest(chances: np.ndarray, chance: float) -> int:
    return int(np.searchsorted(chances, chance * (1 - 1e-12)))


if __name__ == "__main__":
    main()
