"""Histograms by blocks: time at 2^20 cells, and error on the study's two-dimensional histograms.

Run: python -m tests.benchmarks.partitions [--data FOLDER] [--trials 5]
"""

from __future__ import annotations

import argparse
import time
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np

from mechanisms.accounting import Definition, Loss
from mechanisms.domain import Domain, Integer
from mechanisms.histogram.clustering import ClusteredHistogram
from mechanisms.histogram.grid import AdaptiveGrid, UniformGrid
from mechanisms.histogram.noisy import LaplaceHistogram
from mechanisms.histogram.privtree import PrivTree
from mechanisms.histogram.quadtree import Quadtree
from mechanisms.noise import Noise
from mechanisms.protocol import Mechanism

DATA = Path(__file__).parents[2] / "../shared/data/dpbench"
FILES = ("Adult_2D_256_256", "BeijingTaxiS_256_256")
EPSILONS = ("0.01", "0.1", "1")
RECTANGLES = 1000
METHODS: dict[str, tuple[Mechanism, dict[str, Any]]] = {
    "noisy histogram": (LaplaceHistogram(), {}),
    "uniform grid": (UniformGrid(), {}),
    "adaptive grid": (AdaptiveGrid(), {}),
    "quadtree": (Quadtree(), {}),
    "quadtree, 6 halvings": (Quadtree(), {"depth": 6}),
    "PrivTree, longest column": (PrivTree(), {}),
    "PrivTree, every column": (PrivTree(), {"split": "every"}),
    "64 clusters": (ClusteredHistogram(), {"clusters": 64}),
    "1,024 clusters": (ClusteredHistogram(), {"clusters": 1024}),
}


def square(width: int) -> Domain:
    return Domain((Integer("x", upper=width - 1), Integer("y", upper=width - 1)))


def loss(epsilon: str) -> Loss:
    return Loss(Definition.PURE, Fraction(epsilon))


def time_table(width: int = 1024) -> None:
    """Seconds for plan, measure and reconstruct, on people gathered in clouds."""
    rng = np.random.default_rng(1)
    points = rng.normal(rng.uniform(0, width, (20, 2))[rng.integers(0, 20, 10**6)], width / 40)
    cell = np.clip(points, 0, width - 1).astype(np.int64)
    counts = np.bincount(cell[:, 0] * width + cell[:, 1], minlength=width * width)
    print(
        f"\n{width} x {width} cells, 10^6 people, ε = 1, seconds\n{'':<26}{'plan':>9}{'measure':>9}{'reconstruct':>13}"
    )
    for name, (method, parameters) in METHODS.items():
        ticks = [time.perf_counter()]
        plan = method.plan(square(width), parameters, loss("1"))
        ticks.append(time.perf_counter())
        measurement = method.measure(plan, counts, Noise())
        ticks.append(time.perf_counter())
        method.reconstruct(plan, measurement)
        ticks.append(time.perf_counter())
        a, b, c = np.diff(ticks)
        print(f"{name:<26}{a:>9.2f}{b:>9.2f}{c:>13.2f}", flush=True)


class Rectangles:
    """Fixed random rectangles of a square."""

    def __init__(self, width: int) -> None:
        ends = np.sort(np.random.default_rng(2).integers(0, width, (RECTANGLES, 2, 2)), axis=1)
        self._lower, self._upper = ends[:, 0], ends[:, 1] + 1
        self._width = width

    def sums(self, cells: np.ndarray) -> np.ndarray:
        table = np.pad(cells.reshape(self._width, self._width).astype(np.float64), ((1, 0), (1, 0)))
        table = table.cumsum(axis=0).cumsum(axis=1)
        (a, b), (c, d) = self._lower.T, self._upper.T
        return table[c, d] - table[a, d] - table[c, b] + table[a, b]


def error_table(name: str, counts: np.ndarray, trials: int) -> None:
    """Root mean square errors in rows: of the estimates, and of the counts made possible."""
    width = round(counts.size**0.5)
    rectangles = Rectangles(width)
    print(f"\n{name}, {trials} trials: root mean square error in rows, estimates | possible counts")
    columns = "".join(f"{f'ε = {e}, {what}':>24}" for e in EPSILONS for what in ("cells", "rectangles"))
    print(f"{'':<26}{columns}")
    truth = rectangles.sums(counts)
    for label, (method, parameters) in METHODS.items():
        row = ""
        for epsilon in EPSILONS:
            plan = method.plan(square(width), parameters, loss(epsilon))
            squares = []
            for _ in range(trials):
                result = method.reconstruct(plan, method.measure(plan, counts, Noise()))
                for found in (result.raw, result.counts):
                    squares.append(
                        [np.mean((found - counts) ** 2), np.mean((rectangles.sums(found) - truth) ** 2)]
                    )
            error = np.sqrt(np.reshape(squares, (trials, 2, 2)).mean(axis=0))
            row += "".join(f"{f'{error[0, i]:.4g} | {error[1, i]:.4g}':>24}" for i in (0, 1))
        print(f"{label:<26}{row}", flush=True)


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--data", type=Path, default=DATA)
    arguments.add_argument("--trials", type=int, default=5)
    asked = arguments.parse_args()
    time_table()
    for name in FILES:
        path = asked.data / f"{name}.npy"
        if path.exists():
            error_table(name, np.load(path).ravel().astype(np.int64), asked.trials)
        else:
            print(f"\n{name}.npy is not in {asked.data}; give its folder with --data.")


if __name__ == "__main__":
    main()
