"""The figures of the guide's claims about what synthetic rows are good for: how far rows are off, by what is asked.

Adult, coded, latent classes, at ε = 0.1, 1 and 10 (δ = 10^-9, as zCDP), the mean of some releases. Total variation of
single columns, of measured pairs, of pairs that are only modelled, and of all triples; of the ten pairs that hang
together most (Cramér's V), how many are among the ten of the rows; of values and pairs of values that 50 to 200 people
have, by what part of itself a count is off, the median.

Run: python -m tests.benchmarks.good_for [--releases 3] [--method latent-classes] [--epsilons 0.1 1 10]
"""

from __future__ import annotations

import argparse
import os
from fractions import Fraction

# Before numpy is loaded: products of small matrices are fastest, and always the same, on one thread.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import numpy as np

from mechanisms.domain import Domain
from mechanisms.microdata.association import cramers_v
from mechanisms.microdata.tables import Pair, PairTables
from tests.benchmarks.synthesis import RHO, adult, ours, triple_distance

STRONGEST, SMALL = 10, (50, 200)
TITLES = (
    "single columns",
    "measured pairs",
    "modelled pairs",
    "triples",
    f"of the {STRONGEST} strongest pairs",
    "small groups, off by",
)


def figures(domain: Domain, rows: np.ndarray, made: np.ndarray, measured: set[Pair]) -> list[float]:
    """In the order of the titles."""
    tables = PairTables(domain.shape)
    counted, other = tables.of_rows(rows), tables.of_rows(made) * (len(rows) / len(made))
    true, synthetic = ({p: tables.table(each, p) for p in tables.pairs} for each in (counted, other))
    apart = {p: float(np.abs(true[p] - synthetic[p]).sum() / 2 / len(rows)) for p in tables.pairs}
    singles = [
        np.abs(
            np.bincount(rows[:, j], minlength=c) / len(rows)
            - np.bincount(made[:, j], minlength=c) / len(made)
        ).sum()
        / 2
        for j, c in enumerate(domain.shape)
    ]
    return [
        float(np.mean(singles)),
        _mean([apart[p] for p in apart if p in measured]),
        _mean([apart[p] for p in apart if p not in measured]),
        triple_distance(domain, made),
        float(len(_strongest(true) & _strongest(synthetic))),
        _off(true, synthetic),
    ]


def _mean(values: list[float]) -> float:
    return float(np.mean(values)) if values else float("nan")


def _strongest(tables: dict[Pair, np.ndarray]) -> set[Pair]:
    return set(sorted(tables, key=lambda pair: -cramers_v(tables[pair]))[:STRONGEST])


def _off(true: dict[Pair, np.ndarray], synthetic: dict[Pair, np.ndarray]) -> float:
    """Of the cells of all pairs that so few people are in."""
    parts = []
    for pair, table in true.items():
        few = (table >= SMALL[0]) & (table <= SMALL[1])
        parts.append(np.abs(synthetic[pair][few] - table[few]) / table[few])
    return float(np.median(np.concatenate(parts)))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--releases", type=int, default=3)
    parser.add_argument("--method", default="latent-classes")
    parser.add_argument("--epsilons", nargs="*", default=list(RHO), choices=list(RHO))
    given = parser.parse_args()
    domain, rows = adult()
    print("| ε | " + " | ".join(TITLES) + " |\n" + "|---" * (len(TITLES) + 1) + "|")
    for epsilon in given.epsilons:
        found = []
        for _ in range(given.releases):
            result = ours(given.method, domain, rows, Fraction(RHO[epsilon]))
            found.append(figures(domain, rows, result.rows, {table.pair for table in result.tables}))
        print(
            f"| {epsilon} | " + " | ".join(f"{mean:.3f}" for mean in np.mean(found, axis=0)) + " |",
            flush=True,
        )


if __name__ == "__main__":
    main()
