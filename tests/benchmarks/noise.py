"""Noise draws a second on one core, beside OpenDP's. Run: python -m tests.benchmarks.noise"""

from __future__ import annotations

import time
from collections.abc import Callable
from fractions import Fraction

import opendp.prelude as dp

from mechanisms.noise import DiscreteGaussian, DiscreteLaplace, Noise, NoiseLaw

SCALES = [Fraction(1, 1000), Fraction(1, 2), Fraction(1), Fraction(10), Fraction(1000), Fraction(10**9)]
DRAWS, OPENDP_DRAWS, REPEATS = 2_000_000, 50_000, 3


def _rate(draw: Callable[[], object], draws: int) -> float:
    """Best of a few, in millions a second."""
    seconds = []
    for _ in range(REPEATS):
        start = time.perf_counter()
        draw()
        seconds.append(time.perf_counter() - start)
    return draws / min(seconds) / 1e6


def _ours(law: NoiseLaw) -> float:
    return _rate(lambda: Noise().draw(law, DRAWS), DRAWS)


def _opendp(law: NoiseLaw, scale: Fraction) -> float:
    domain = dp.vector_domain(dp.atom_domain(T=int))
    zeros = [0] * OPENDP_DRAWS
    if isinstance(law, DiscreteLaplace):
        measure = dp.m.make_laplace(domain, dp.l1_distance(T=int), scale=float(scale))
    else:
        measure = dp.m.make_gaussian(domain, dp.l2_distance(T=float), scale=float(scale))
    return _rate(lambda: measure(zeros), OPENDP_DRAWS)


def main() -> None:
    dp.enable_features("contrib")
    print(f"{'law':<18} {'scale':>12} {'here, M draws/s':>16} {'OpenDP, M draws/s':>18}")
    for scale in SCALES:
        for law in (DiscreteLaplace(scale), DiscreteGaussian(scale**2)):
            print(f"{law.name:<18} {scale!s:>12} {_ours(law):>16.2f} {_opendp(law, scale):>18.3f}")


if __name__ == "__main__":
    main()
