"""Means, deviations and medians of rows, beside the demonstration table's own: by its cells alone, and with noise.

First values made from the true cells: no noise, so all that differs is where in its cell a value lies. Beside the
demonstration's declaration the same without its single values, and wider bins with and without round numbers. Then
releases of all columns at ε = 0.1, 1 and 10 (δ = 10^-9, as zCDP), which also shows what noise does to a mean; and the
same of coarse bins that hide common values, without and with sums of columns. The last column says whether mean (1 %),
deviation (2 %) and median are kept.

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

from mechanisms.accounting import Definition, Loss
from mechanisms.domain import Categorical, Domain, Integer, attribute_from_json
from mechanisms.microdata.column_means import target_means
from mechanisms.microdata.column_sums import sums_plan
from mechanisms.microdata.constraints import Wishes
from mechanisms.microdata.plan import MicrodataPlan
from mechanisms.moments.mechanism import exact_sums
from mechanisms.noise import Noise
from mechanisms.registry import microdata
from mechanisms.synthesis.table import rows, rows_of_cells
from tests.benchmarks.synthesis import RHO
from tests.mechanisms.microdata.building import counted

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
# As one who knows little may declare.
COARSE: dict[str, dict[str, object]] = {
    "age": {"width": 10},
    "education-num": {"width": 4},
    "capital-gain": {"single_values": ()},
    "capital-loss": {"single_values": ()},
    "hours-per-week": {"width": 10},
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


def coarse(domain: Domain) -> Domain:
    """The demonstration's columns in bins that hide common values."""
    return Domain(tuple(replace(a, **COARSE.get(a.name, {})) for a in domain.attributes))


def exact(plan: MicrodataPlan, table: pd.DataFrame) -> np.ndarray:
    """The true sums of columns that a plan measures; none where it has none."""
    if not plan.sums:
        return np.empty(0, dtype=np.int64)
    sums, powers = sums_plan(plan), []
    for own in sums.columns:
        lower, steps = own.column.attribute.lower, own.column.steps
        v = ((table[own.column.attribute.name].to_numpy() - lower) // int(own.column.step)).astype(object)
        powers.append([[len(v), v.sum(), (v**2).sum(), 0, (v == 0).sum(), (v == steps).sum()]])
    return exact_sums(sums, np.array(powers, dtype=object)).ravel()


def released(
    name: str, epsilon: str, releases: int, domain: Domain, *, sums: bool = False
) -> list[list[Kept]]:
    """Of each numeric column, what each of some releases of the whole table keeps."""
    method, table = microdata(name), demonstration()[1]
    plan = method.plan(domain, Wishes(), Loss(Definition.ZCDP, Fraction(RHO[epsilon])), sums=sums)
    cells = np.stack([cells_of(a, table[a.name]) for a in domain.attributes], axis=1).astype(np.int64)
    counts = np.concatenate([counted(plan, cells), exact(plan, table)])
    found = []
    for digest in DIGESTS[:releases]:
        result = method.reconstruct(plan, method.measure(plan, counts, Noise()))
        means = target_means(plan, result)
        drawn = pd.concat(rows_of_cells(domain, result.rows, digest, means=means))
        columns = [a for a in domain.attributes if isinstance(a, Integer)]
        found.append([Kept.of(a, drawn[a.name].to_numpy(float), table[a.name].to_numpy()) for a in columns])
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
            declared = demonstration()[0]
            wider = coarse(declared)
            for words, domain, sums in (
                ("", declared, False),
                ("coarse", wider, False),
                ("sums", wider, True),
            ):
                for of_column in released(method, epsilon, arguments.releases, domain, sums=sums):
                    print(line(f"{method}, ε = {epsilon}: {of_column[0].column} {words}", of_column))


if __name__ == "__main__":
    main()
