"""How many rows a privately chosen quantile is off, by three scores of the same sensitivity; exact, no simulation.

Run: python -m tests.benchmarks.quantiles
The depth is the product's score. The two others: rows outside, where every candidate that holds the quantile is as
good as another; and mid-ranks, where half of a candidate's rows count as below it. Each by permute-and-flip, from the
chances of all candidates. Off is how many rows lie between the chosen candidate and the quantile, 0 if it holds it.

No score is best of every quantile of every table. Where a quantile lies few rows inside a light candidate beside a
heavy one, mid-ranks take the light one nearly always; but then so they do when it lies as few rows inside the heavy
one, since these tables are few rows apart. So the goal asks for the mean over all whole per cents of a column.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd

from mechanisms.arrays import Integers
from mechanisms.selection.odds import permute_and_flip

DATA = Path(__file__).parents[1] / "data"
ADULT = ("age", "hours-per-week", "education-num", "fnlwgt", "capital-gain")
EPSILONS = (0.001, 0.01, 0.1)
EVERY_LEVEL = tuple(Fraction(k, 100) for k in range(1, 100))
LEVELS = tuple(Fraction(level) for level in ("1/10", "1/4", "1/2", "3/4", "9/10"))

# Of a row: what two means differ by that are alike.
_A_HUNDREDTH = 0.01


class Ranks(NamedTuple):
    """Of the level-quantile, for each cell, in points (b a row): how far above the cell's start, below its end."""

    above_start: Integers
    below_end: Integers


def ranks(counts: Integers, level: Fraction) -> Ranks:
    ends = np.cumsum(counts)
    target = level.numerator * ends[-1]
    return Ranks(target - level.denominator * (ends - counts), level.denominator * ends - target)


SCORES: dict[str, Callable[[Ranks], np.ndarray]] = {
    "depth": lambda r: np.minimum(r.above_start, r.below_end),
    "rows outside": lambda r: np.minimum(0, np.minimum(r.above_start, r.below_end)),
    "mid-ranks": lambda r: -np.abs(r.above_start - r.below_end) / 2,
}


def rows_off(counts: Integers, level: Fraction, epsilon: float) -> dict[str, float]:
    """By score, the expected number of rows."""
    a, b = level.numerator, level.denominator
    found = ranks(counts, level)
    off = -SCORES["rows outside"](found) / b
    rate = epsilon / (2 * max(a, b - a))
    scores = {name: score(found) for name, score in SCORES.items()}
    return {name: float(permute_and_flip(rate, s.max() - s) @ off) for name, s in scores.items()}


def adult() -> dict[str, Integers]:
    table = pd.read_csv(DATA / "adult_coded.csv.gz")
    sizes = json.loads((DATA / "adult_coded_domain.json").read_text())
    return {name: np.bincount(table[name], minlength=sizes[name]) for name in ADULT}


def drawn() -> dict[str, Integers]:
    """Columns that are smooth, heaped and full of holes."""
    random = np.random.default_rng(26)
    bell = np.exp(-(((np.arange(200) - 80) / 40) ** 2))
    heaps = bell * np.where(np.arange(200) % 10 == 0, 1, 0.02)
    holes = bell * (random.random(200) < 0.2)
    shapes = {"bell": bell, "heaps of ten": heaps, "holes": holes, "heavy tail": random.pareto(1, 200)}
    return {name: random.multinomial(20_000, s / s.sum()).astype(np.int64) for name, s in shapes.items()}


def main() -> None:
    columns = {**adult(), **drawn()}
    print(f"{'column':<16}{'level':>6}{'ε':>7}" + "".join(f"{name:>14}" for name in SCORES))
    logs: dict[str, list[float]] = {name: [] for name in SCORES}
    for name, counts in columns.items():
        for level in LEVELS:
            for epsilon in EPSILONS:
                off = rows_off(counts, level, epsilon)
                print(f"{name:<16}{level!s:>6}{epsilon:>7}" + "".join(f"{v:>14.2f}" for v in off.values()))
                for score, value in off.items():
                    logs[score].append(np.log((value + 1) / (off["depth"] + 1)))
    print_ratios(logs)
    print_goals(columns)


def print_ratios(logs: dict[str, list[float]]) -> None:
    print("\n(rows off + 1) over that of the depth: geometric mean, least, greatest")
    for score, ratios in logs.items():
        print(
            f"{score:<16}{np.exp(np.mean(ratios)):>8.3f}{np.exp(min(ratios)):>8.3f}{np.exp(max(ratios)):>8.3f}"
        )


def print_goals(columns: dict[str, Integers]) -> None:
    """For each column and ε, whether the depth is behind no other score in the mean over all levels."""
    print(
        f"\n{'mean of all levels':<22}" + "".join(f"{name:>14}" for name in SCORES) + f"{'behind none':>14}"
    )
    behind = 0
    for name, counts in columns.items():
        for epsilon in EPSILONS:
            off = [rows_off(counts, level, epsilon) for level in EVERY_LEVEL]
            mean = {score: float(np.mean([o[score] for o in off])) for score in SCORES}
            best = mean["depth"] <= min(mean.values()) + _A_HUNDREDTH
            behind += not best
            figures = "".join(f"{v:>14.2f}" for v in mean.values())
            print(f"{name:<15}{epsilon:>7}{figures}{'yes' if best else 'no':>14}")
    print(f"\nGoal: behind neither anywhere: {'no' if behind else 'yes'} ({behind} behind)")


if __name__ == "__main__":
    main()
