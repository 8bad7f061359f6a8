"""How near synthetic rows are to the truth, beside a floor and a ceiling: for the curator alone."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from scipy.special import gammaln, xlog1py, xlogy

from mechanisms.arrays import Floats, Integers
from mechanisms.microdata.tables import Pair, PairTables

# Tables of three columns that are compared: as many, and as large, at most.
MOST_TRIPLES, MOST_TRIPLE_CELLS = 40, 100_000
MOST_LOOKED_AT = 60


def triples(shape: Sequence[int]) -> list[tuple[int, int, int]]:
    """Which tables of three columns are compared: evenly spread over all that are not too large. Without data.

    Of many columns some are passed over, evenly too.
    """
    spread = np.linspace(0, len(shape) - 1, min(len(shape), MOST_LOOKED_AT)).round().astype(int).tolist()
    small = [
        (a, b, c)
        for a, b, c in combinations(spread, 3)
        if shape[a] * shape[b] * shape[c] <= MOST_TRIPLE_CELLS
    ]
    chosen = np.unique(np.linspace(0, len(small) - 1, min(len(small), MOST_TRIPLES)).round().astype(int))
    return [small[i] for i in chosen]


@dataclass(frozen=True)
class Closeness:
    """Total variation of a table: of the synthetic rows, of independent columns with true counts, of a resample."""

    synthetic: float
    independent: float
    resample: float


def closeness(true: Integers, synthetic: Integers) -> Closeness:
    """Of one table, true and synthetic counts of the same shape with one axis a column.

    resample: the expectation for as many rows drawn from the true ones with replacement: Σ E|Bin(n, p) - np| / (2n).
    """
    people = max(1, int(true.sum()))
    shares = true / people
    independent = np.ones(true.shape)
    for axis in range(true.ndim):
        others = tuple(a for a in range(true.ndim) if a != axis)
        independent = independent * shares.sum(axis=others, keepdims=True)
    return Closeness(
        synthetic=_apart(shares, synthetic / max(1, int(synthetic.sum()))),
        independent=_apart(shares, independent),
        resample=float(mean_deviation(people, shares[shares > 0]).sum() / (2 * people)),
    )


def _apart(one: Floats, other: Floats) -> float:
    return float(np.abs(one - other).sum() / 2)


def mean_deviation(trials: int, chance: Floats) -> Floats:
    """E|Bin(n, p) - np|, exactly: 2(1 - p) k P(Bin(n, p) = k) with k = ⌊np⌋ + 1 (de Moivre)."""
    k = np.minimum(np.floor(trials * chance) + 1, trials)
    ways = gammaln(trials + 1) - gammaln(k + 1) - gammaln(trials - k + 1)
    likely = np.exp(ways + xlogy(k, chance) + xlog1py(trials - k, -chance))
    deviation: Floats = 2 * (1 - chance) * k * likely
    return deviation


def table_of_rows(rows: np.ndarray, shape: Sequence[int], columns: Sequence[int]) -> Integers:
    """Counts of some columns of (n, d) cells, one axis a column."""
    sizes = tuple(shape[j] for j in columns)
    cells = np.ravel_multi_index(tuple(rows[:, j] for j in columns), sizes)
    return np.bincount(cells, minlength=int(np.prod(sizes))).astype(np.int64).reshape(sizes)


def correlations(
    tables: PairTables, counts: Integers, columns: Sequence[int], declared: Sequence[int]
) -> Floats:
    """Correlations of the columns' cell numbers, (k, k), from the tables of pairs; NaN where a column is constant.

    declared: of each of the columns its cells before the one for missing values, which has no place in their order: a
    pair's correlation is that of the rows that have both values.
    """
    result = np.eye(len(columns))
    for i, j in combinations(range(len(columns)), 2):
        pair: Pair = (columns[i], columns[j])
        table = tables.table(counts, pair)[: declared[i], : declared[j]]
        result[i, j] = result[j, i] = _correlation(table.astype(float))
    return result


def _correlation(table: Floats) -> float:
    shares = table / max(1.0, table.sum())
    first, second = (np.arange(size, dtype=float) for size in shares.shape)
    first -= shares.sum(axis=1) @ first
    second -= shares.sum(axis=0) @ second
    spread = float(shares.sum(axis=1) @ first**2) * float(shares.sum(axis=0) @ second**2)
    return float(first @ shares @ second) / spread**0.5 if spread > 0 else float("nan")
