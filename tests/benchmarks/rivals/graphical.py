"""A graphical model of mbi, fitted to noisy tables of columns and pairs, and the choice among pairs."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction

import mbi
import numpy as np
from mbi.junction_tree import hypothetical_model_size

from mechanisms.accounting import pure_within_zcdp
from mechanisms.microdata.tables import Pair, PairTables
from mechanisms.noise import DiscreteGaussian, Noise
from mechanisms.selection.choosing import ExponentialMechanism
from tests.benchmarks.rivals.starting import Start

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

    def distance(self, counts: np.ndarray, pair: Pair) -> int:
        """‖C - round(Ĉ)‖₁; a person moves it by 1."""
        believed = np.rint(self.believed(pair)).astype(np.int64)
        return int(np.abs(self.tables.table(counts, pair) - believed).sum())

    def rows(self, begun: Start) -> np.ndarray:
        """(noisy total, d) cells drawn from the model."""
        made = self.model.synthetic_data(rows=begun.rows).to_dict()
        return begun.cells(np.column_stack([made[name] for name in self.domain.attributes]).astype(np.int64))

    def fits(self, pair: Pair, limit: float) -> bool:
        cliques = [m.clique for m in self.measured]
        return hypothetical_model_size(self.domain, [*cliques, _clique(pair)]) <= limit

    def measure(self, counts: np.ndarray, pair: Pair, law: DiscreteGaussian, noise: Noise) -> None:
        """Add a pair's noisy table to what is measured."""
        table = self.tables.table(counts, pair)
        noisy = table.ravel() + noise.draw(law, table.size)
        self.measured.append(
            mbi.LinearMeasurement(noisy.astype(float), _clique(pair), math.sqrt(law.variance))
        )

    def fit(self, steps: int = ITERATIONS) -> None:
        """The model of all that is measured."""
        self.model = mbi.estimation.MirrorDescent().estimate(
            self.domain, self.measured, known_total=self.total, iters=steps, warm_start=self.model
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


def choose(points: Sequence[int], rho: Fraction, noise: Noise) -> int:
    """Of candidates by their points, by the exponential mechanism, ε²/8-zCDP, at rate ε/2."""
    rate = pure_within_zcdp(4 * rho) / 2
    everyone = np.ones((1, len(points)), dtype=bool)
    return int(ExponentialMechanism().choose(rate, np.array(points, dtype=np.int64), everyone, noise)[0])
