"""Means, deviations and medians of rows, beside the demonstration table's own: by its cells alone, and with noise.

First values made from the true cells: no noise, so all that differs is where in its cell a value lies. Beside the
demonstration's declaration the same without its single values, and wider bins with and without round numbers. Then
releases of all columns at ε = 0.1, 1 and 10 (δ = 10^-9, as zCDP), which also shows what noise does to a mean. The last
column says whether mean (1 %), deviation (2 %) and median are kept.

Run: python -m tests.benchmarks.values_in_cells [--releases 5] [--methods NAME ...] [--epsilons 0.1 1 10]
"""

from __future__ import annotations

import argparse
import gzip
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cache
from pathlib import Path

import numpy as np
import pandas as pd

from mechanisms.domain import Categorical, Domain, Integer, attribute_from_json
from mechanisms.synthesis.table import rows, rows_of_cells
from tests.benchmarks.synthesis import RHO, ours

FOLDER = Path(__file__).resolve().parents[2] / "dpportal" / "datasets" / "demonstration"
DIGESTS = [bytes([number]) * 32 for number in range(5)]
MOST_OFF = {"mean": 0.01, "deviation": 0.02}
# Wider bins than the demonstration's, and what a curator may answer about round numbers.
WIDER: dict[str, list[dict[str, object]]] = {
    "age": [{"width": 5}, {"width": 10}],
    "capital-gain": [{"width": 1000}, {"width": 10_000}],
    "hours-per-week": [
        {"width": 10},
        {"width": 10, "single_values": (40,)},
        {"width": 10, "single_values": (*range(10, 100, 10),)},
    ],
}


@dataclass(frozen=True)
class Kept:
    """How far mean and deviation are off, as shares of the true ones, and both medians."""

    column: str
    cells: int
    mean: float
    deviation: float
    median: float
    true_median: float

    @classmethod
    def of(cls, attribute: Integer, drawn: np.ndarray, true: np.ndarray) -> Kept:
        return cls(
            attribute.name,
            attribute.size,
            float(drawn.mean() / true.mean() - 1),
            float(drawn.std() / true.std() - 1),
            float(np.median(drawn)),
            float(np.median(true)),
        )


@cache
def demonstration() -> tuple[Domain, pd.DataFrame]:
    """What is declared of the demonstration's table, and the table."""
    book = json.loads((FOLDER / "codebook.json").read_text())
    attributes = tuple(attribute_from_json({"name": name, **entry}) for name, entry in book.items())
    with gzip.open(FOLDER / "adult.csv.gz") as file:
        return Domain(attributes), pd.read_csv(file, keep_default_na=False)


def numeric_columns() -> Iterator[tuple[Integer, np.ndarray]]:
    """The declared numbers of the demonstration, with what the table holds."""
    domain, table = demonstration()
    for attribute in domain.attributes:
        if isinstance(attribute, Integer):
            yield attribute, table[attribute.name].to_numpy()


def cells_of(attribute: Integer | Categorical, values: pd.Series) -> np.ndarray:
    """(n,) cells; all values lie within the bounds or are listed."""
    if isinstance(attribute, Integer):
        return np.searchsorted(attribute.starts, values.to_numpy(), "right") - 1
    return values.astype(str).map({value: cell for cell, value in enumerate(attribute.values)}).to_numpy()


def kept(attribute: Integer, true: np.ndarray, digest: bytes) -> Kept:
    """What values made from the true cells keep of the true ones, all of which lie within the bounds."""
    counts = np.bincount(cells_of(attribute, pd.Series(true)), minlength=attribute.size)
    [*frames] = rows(Domain((attribute,)), counts, digest)
    return Kept.of(attribute, pd.concat(frames)[attribute.name].to_numpy(dtype=float), true)


def released(method: str, epsilon: str, releases: int) -> list[list[Kept]]:
    """Of each numeric column, what each of some releases of the whole table keeps."""
    domain, table = demonstration()
    cells = np.stack([cells_of(a, table[a.name]) for a in domain.attributes], axis=1).astype(np.int64)
    found = []
    for digest in DIGESTS[:releases]:
        made = ours(method, domain, cells, Fraction(RHO[epsilon]))
        drawn = pd.concat(rows_of_cells(domain, made, digest))
        columns = [(a, drawn[a.name].to_numpy(dtype=float), true) for a, true in numeric_columns()]
        found.append([Kept.of(*column) for column in columns])
    return [list(of_column) for of_column in zip(*found, strict=True)]


def line(name: str, found: Sequence[Kept]) -> str:
    """A column's errors, root mean squares of all, and a middle median."""
    mean, deviation = (
        float(np.sqrt(np.mean([getattr(each, key) ** 2 for each in found]))) for key in ("mean", "deviation")
    )
    median = sorted(each.median for each in found)[len(found) // 2]
    reached = mean <= MOST_OFF["mean"] and deviation <= MOST_OFF["deviation"]
    reached = reached and median == found[0].true_median
    medians = f"{median:g} ({found[0].true_median:g})"
    return f"{name:44s} {found[0].cells:5d} {mean:8.2%} {deviation:9.2%}  {medians:14s} {'yes' if reached else 'no'}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--releases", type=int, default=len(DIGESTS))
    parser.add_argument(
        "--methods", nargs="*", default=["latent-classes", "tree-of-pairs", "independent-columns"]
    )
    parser.add_argument("--epsilons", nargs="*", default=list(RHO))
    arguments = parser.parse_args()
    print(f"{'':44s} cells     mean deviation  median (true)  kept")
    for attribute, true in numeric_columns():
        for changes in ({}, {"single_values": ()}, *WIDER.get(attribute.name, [])):
            declared = replace(attribute, **changes)
            if not changes or declared != attribute:
                words = ", ".join(f"{key} {value}" for key, value in changes.items())
                print(line(f"{attribute.name} {words}"[:44], [kept(declared, true, d) for d in DIGESTS]))
    for method in arguments.methods:
        for epsilon in arguments.epsilons:
            for of_column in released(method, epsilon, arguments.releases):
                print(line(f"{method}, ε = {epsilon}: {of_column[0].column}", of_column))


if __name__ == "__main__":
    main()
