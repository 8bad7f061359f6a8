"""How much a pair of columns would tell: the L1 distance of its table from what is already believed."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np

from mechanisms.accounting import Definition, Loss
from mechanisms.arrays import Floats, Integers
from mechanisms.microdata.margins import Margins
from mechanisms.microdata.plan import MicrodataPlan
from mechanisms.microdata.tables import Grouping, Pair
from mechanisms.sensitivity import histogram_sensitivity

Belief = Callable[[Pair], Floats]
RAKING_ROUNDS = 20
_TINY = 1e-9


def scores(
    plan: MicrodataPlan, counts: Integers, grouping: Grouping, believed: Belief, pairs: Sequence[Pair]
) -> Integers:
    """‖C - round(Ĉ)‖₁ of each pair's table over groups, (pairs,) int64.

    believed: a pair's (groups, groups) counts as far as they are known, a function of noisy answers alone. Integers all
    through: a person changes C by ΔC, and a score by at most ‖ΔC‖₁.
    """
    points = []
    for pair in pairs:
        table = grouping.table(plan.tables.table(counts, pair), pair)
        points.append(int(np.abs(table - np.rint(believed(pair)).astype(np.int64)).sum()))
    return np.array(points, dtype=np.int64)


def independent(grouping: Grouping, margins: Margins) -> Belief:
    """What independence believes: the product of single columns' counts over groups.

    Where nobody can be in some of them, the nearest table in relative entropy with these counts and zeros there.
    """
    counts = grouped(grouping, margins)

    def believed(pair: Pair) -> Floats:
        table: Floats = np.outer(counts[pair[0]], counts[pair[1]]) / margins.total
        if pair in grouping.nobody:
            table[grouping.nobody[pair]] = 0
            for _ in range(RAKING_ROUNDS):
                table *= (counts[pair[0]] / np.maximum(table.sum(axis=1), _TINY))[:, None]
                table *= counts[pair[1]] / np.maximum(table.sum(axis=0), _TINY)
        return table

    return believed


def grouped(grouping: Grouping, margins: Margins) -> list[Floats]:
    """The columns' counts over groups."""
    return [grouping.vector(counts, j) for j, counts in enumerate(margins.counts)]


def distortion(cells: Sequence[int], loss: Loss) -> float:
    """The expected L1 error of tables that together cost `loss`, shared as `spending.table_shares` does; 0 of none."""
    moved = histogram_sensitivity(loss.unit)
    if loss.definition is Definition.PURE:
        return float(moved.l1 / loss.amount) * math.fsum(c**0.5 for c in cells) ** 2
    deviation = math.sqrt(moved.l2_squared / float(2 * loss.amount))
    return math.sqrt(2 / math.pi) * deviation * float(math.fsum(c ** (2 / 3) for c in cells) ** 1.5)


def parts(columns: int, pairs: Sequence[Pair]) -> list[int]:
    """For each column the part that it is in, where pairs join columns."""
    part = list(range(columns))
    for a, b in pairs:
        old, new = part[a], part[b]
        part = [new if p == old else p for p in part]
    return part


def spanning_tree(
    columns: int, pairs: Sequence[Pair], values: Sequence[float], given: Sequence[Pair] = ()
) -> list[Pair]:
    """A tree over all columns of largest total value that holds the given pairs, but for circles (Kruskal)."""
    best_first = sorted(zip(pairs, values, strict=True), key=lambda item: -item[1])
    chosen: list[Pair] = []
    part = parts(columns, chosen)
    for a, b in [*given, *(pair for pair, _value in best_first)]:
        if part[a] != part[b]:
            chosen.append((a, b))
            part = parts(columns, chosen)
    return chosen
