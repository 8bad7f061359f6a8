"""AIM: pairs chosen and measured one after the other, a graphical model of mbi fitted to all of them each time.

A pair is chosen by the exponential mechanism, by how far its table is from the model less what noise would add, among
those that keep the model small. Where a measurement told little, later ones get four times the loss. Besides the paper:
cells are put together as in latent classes, the loss is planned for one round a column (`ROUNDS`) instead of 16, and
the candidates are pairs, which are the workload. Counts, scores and noise are whole numbers, by the portal's sampler.

Source: McKenna, Mullins, Sheldon, Miklau 2022 (AIM); McKenna, Sheldon, Miklau 2019 for the model.
"""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np

from mechanisms.arrays import Integers
from mechanisms.domain import Domain
from mechanisms.noise import DiscreteGaussian, Noise
from tests.benchmarks.rivals.graphical import Growing, choose
from tests.benchmarks.rivals.starting import MARGIN_SHARE, start

ROUNDS = 1
CHOICE_SHARE = Fraction(1, 10)
# The largest model, in MiB as mbi counts them; it may grow as ρ is spent.
MODEL = 1


def synthesise(domain: Domain, rows: np.ndarray, rho: Fraction) -> np.ndarray:
    """(noisy total, d) cells made for (n, d) cells of people, ρ-zCDP."""
    noise = Noise()
    begun = start(domain, rows, rho, noise)
    growing = Growing(begun)
    counts = growing.tables.of_rows(begun.secret)
    left = rho * (1 - MARGIN_SHARE)
    step = left / (ROUNDS * len(domain.shape))
    while left:
        step = left if left < 2 * step else step
        left -= step
        limit = MODEL * float(1 - left / rho)
        if not _round(growing, counts, step, limit, noise):
            step *= 4
    return growing.rows(begun)


def _round(growing: Growing, counts: Integers, rho: Fraction, limit: float, noise: Noise) -> bool:
    """Choose a pair, measure it and fit again, for ρ in all. Whether the model moved by more than noise would."""
    law = DiscreteGaussian(1 / (2 * rho * (1 - CHOICE_SHARE)))
    typical = math.sqrt(2 / math.pi * law.variance)
    pairs = [pair for pair in growing.tables.pairs if growing.fits(pair, limit)]
    cells = [growing.tables.table(counts, pair).size for pair in pairs]
    points = [
        growing.distance(counts, pair) - round(typical * c) for pair, c in zip(pairs, cells, strict=True)
    ]
    number = choose(points, rho * CHOICE_SHARE, noise)
    pair, before = pairs[number], growing.believed(pairs[number])
    growing.measure(counts, pair, law, noise)
    growing.fit()
    return float(np.abs(growing.believed(pair) - before).sum()) > typical * cells[number]
