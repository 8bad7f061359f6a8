"""AIM: pairs chosen and measured one after the other, a graphical model of mbi fitted to all of them each time.

A pair is chosen by the exponential mechanism, by how far its table is from the model less what noise would add, among
those that keep the model small. Where a measurement told little, later ones get four times the loss. Besides the paper:
cells are put together as in latent classes, the loss is planned for one round a column (`ROUNDS`) instead of 16, and
the candidates are pairs, which are the workload. Counts, scores and noise are whole numbers, by the portal's sampler.

Source: McKenna, Mullins, Sheldon, Miklau 2022 (AIM); McKenna, Sheldon, Miklau 2019 for the model.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction

import mbi
import numpy as np
from mbi.junction_tree import hypothetical_model_size

from mechanisms.accounting import pure_within_zcdp
from mechanisms.domain import Domain
from mechanisms.microdata.tables import Pair, PairTables
from mechanisms.noise import DiscreteGaussian, Noise
from mechanisms.selection.choosing import ExponentialMechanism
from tests.benchmarks.rivals.starting import MARGIN_SHARE, Start, start

ROUNDS = 1
CHOICE_SHARE = Fraction(1, 10)
# The largest model, in MiB as mbi counts them; it may grow as ρ is spent.
MODEL = 1
ITERATIONS = 100


class Growing:
    """What is measured so far and the model fitted to it."""

    def __init__(self, begun: Start) -> None:
        sizes = begun.grouping.sizes
        self.total = begun.margins.total
        self.domain = mbi.Domain([str(j) for j in range(len(sizes))], list(sizes))
        self.tables = PairTables(sizes)
        self.measured = [self._column(begun, j) for j in range(len(sizes))]
        self.model = mbi.estimation.MirrorDescent().estimate(
            self.domain, self.measured, known_total=self.total, iters=ITERATIONS
        )

    def _column(self, begun: Start, column: int) -> mbi.LinearMeasurement:
        cells = len(begun.grouping.groups[column]) / begun.grouping.sizes[column]
        deviation = math.sqrt(cells * begun.margins.variances[column])
        return mbi.LinearMeasurement(begun.shares(column) * self.total, (str(column),), deviation)

    def believed(self, pair: Pair) -> np.ndarray:
        """(g_a, g_b) counts by the model; mbi's own projection would compile a program for each pair of each round."""
        potentials = [
            (tuple(map(int, clique)), np.asarray(factor.values, dtype=float))
            for clique, factor in self.model.potentials.tables.items()
        ]
        table = margin([(columns, np.exp(p - p.max())) for columns, p in potentials], pair)
        return table * (self.total / table.sum())

    def fits(self, pair: Pair, limit: float) -> bool:
        cliques = [m.clique for m in self.measured]
        return hypothetical_model_size(self.domain, [*cliques, _clique(pair)]) <= limit

    def learn(self, pair: Pair, noisy: np.ndarray, deviation: float) -> None:
        self.measured.append(mbi.LinearMeasurement(noisy.ravel().astype(float), _clique(pair), deviation))
        self.model = mbi.estimation.MirrorDescent().estimate(
            self.domain, self.measured, known_total=self.total, iters=ITERATIONS, warm_start=self.model
        )


def margin(factors: list[tuple[tuple[int, ...], np.ndarray]], pair: Pair) -> np.ndarray:
    """Sums of the product of some factors, each over its columns, over all columns but a pair's; up to a constant.

    Columns go one after the other, next the one that meets fewest others (variable elimination).
    """
    left = {j for columns, _values in factors for j in columns} - set(pair)
    while left:
        column = min(left, key=lambda j: len({k for columns, _v in factors if j in columns for k in columns}))
        concerned = [f for f in factors if column in f[0]]
        rest = tuple(sorted({j for columns, _values in concerned for j in columns} - {column}))
        summed = np.einsum(*(part for f in concerned for part in (f[1], list(f[0]))), list(rest))
        factors = [*(f for f in factors if column not in f[0]), (rest, summed / summed.max())]
        left.remove(column)
    return np.asarray(np.einsum(*(part for f in factors for part in (f[1], list(f[0]))), list(pair)))


def _clique(pair: Pair) -> tuple[str, str]:
    return str(pair[0]), str(pair[1])


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
    made = growing.model.synthetic_data(rows=begun.rows).to_dict()
    return begun.cells(np.column_stack([made[str(j)] for j in range(len(domain.shape))]).astype(np.int64))


def _round(growing: Growing, counts: np.ndarray, rho: Fraction, limit: float, noise: Noise) -> bool:
    """Choose a pair, measure it and fit again, for ρ in all. Whether the model moved by more than noise would."""
    law = DiscreteGaussian(1 / (2 * rho * (1 - CHOICE_SHARE)))
    typical = math.sqrt(2 / math.pi * law.variance)
    pairs = [pair for pair in growing.tables.pairs if growing.fits(pair, limit)]
    points = [_points(growing, counts, pair, typical) for pair in pairs]
    pair = pairs[_chosen(points, rho * CHOICE_SHARE, noise)]
    table, before = growing.tables.table(counts, pair), growing.believed(pair)
    growing.learn(pair, table + noise.draw(law, table.size).reshape(table.shape), math.sqrt(law.variance))
    return float(np.abs(growing.believed(pair) - before).sum()) > typical * table.size


def _points(growing: Growing, counts: np.ndarray, pair: Pair, typical: float) -> int:
    """‖C - round(Ĉ)‖₁ less what noise adds; a person moves it by 1."""
    table = growing.tables.table(counts, pair)
    far = np.abs(table - np.rint(growing.believed(pair)).astype(np.int64)).sum()
    return int(far) - round(typical * table.size)


def _chosen(points: Sequence[int], rho: Fraction, noise: Noise) -> int:
    """By the exponential mechanism, ε²/8-zCDP, at rate ε/2."""
    rate = pure_within_zcdp(4 * rho) / 2
    everyone = np.ones((1, len(points)), dtype=bool)
    return int(ExponentialMechanism().choose(rate, np.array(points, dtype=np.int64), everyone, noise)[0])
