"""MST: a tree of pairs chosen by the exponential mechanism and measured, a graphical model of mbi fitted to it.

Of all pairs that join two parts of the tree one is taken, by how far its table is from independence, until all columns
hang together. Besides the paper: cells are put together as in latent classes. Counts, scores and noise are whole
numbers, by the portal's sampler.

Source: McKenna, Miklau, Sheldon 2021; McKenna, Sheldon, Miklau 2019 for the model.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from mechanisms.arrays import Integers
from mechanisms.domain import Domain
from mechanisms.microdata.tables import Pair
from mechanisms.noise import DiscreteGaussian, Noise
from tests.benchmarks.rivals.graphical import Growing, choose
from tests.benchmarks.rivals.starting import MARGIN_SHARE, start

CHOICE_SHARE = Fraction(1, 3)
STEPS = 1_000


def synthesise(domain: Domain, rows: np.ndarray, rho: Fraction) -> np.ndarray:
    """(noisy total, d) cells made for (n, d) cells of people, ρ-zCDP."""
    noise = Noise()
    begun = start(domain, rows, rho, noise)
    growing = Growing(begun)
    counts = growing.tables.of_rows(begun.secret)
    edges = len(domain.shape) - 1
    law = DiscreteGaussian(edges / (2 * rho * (1 - MARGIN_SHARE - CHOICE_SHARE)))
    for pair in _tree(growing, counts, rho * CHOICE_SHARE / edges, noise):
        growing.measure(counts, pair, law, noise)
    growing.fit(STEPS)
    return growing.rows(begun)


def _tree(growing: Growing, counts: Integers, rho: Fraction, noise: Noise) -> list[Pair]:
    """Each edge for ρ."""
    points = {pair: growing.distance(counts, pair) for pair in growing.tables.pairs}
    part, edges = list(range(len(growing.tables.shape))), list[Pair]()
    while len(set(part)) > 1:
        joining = [(a, b) for a, b in points if part[a] != part[b]]
        a, b = joining[choose([points[pair] for pair in joining], rho, noise)]
        edges.append((a, b))
        part = [part[a] if of == part[b] else of for of in part]
    return edges
