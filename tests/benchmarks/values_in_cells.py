"""What the declaration alone costs: values made from the true cells of the demonstration's table, beside its own.

No noise, so all that differs is where in its cell a value lies. Beside the declaration as it is, the same without its
single values. `python -m tests.benchmarks.values_in_cells` prints a table for every numeric column.
"""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pandas as pd

from mechanisms.domain import Domain, Integer, attribute_from_json
from mechanisms.synthesis.table import rows

FOLDER = Path(__file__).resolve().parents[2] / "dpportal" / "datasets" / "demonstration"
DIGESTS = [bytes([number]) * 32 for number in range(5)]


@dataclass(frozen=True)
class Kept:
    """How far mean and deviation are off, as shares of the true ones, and both medians."""

    column: str
    cells: int
    mean: float
    deviation: float
    median: float
    true_median: float


def numeric_columns() -> Iterator[tuple[Integer, np.ndarray]]:
    """The declared numbers of the demonstration, with what the table holds."""
    with gzip.open(FOLDER / "adult.csv.gz") as file:
        table = pd.read_csv(file)
    for name, entry in json.loads((FOLDER / "codebook.json").read_text()).items():
        attribute = attribute_from_json({"name": name, **entry})
        if isinstance(attribute, Integer):
            yield attribute, table[name].to_numpy()


def kept(attribute: Integer, true: np.ndarray, digest: bytes) -> Kept:
    """What values made from the true cells keep of the true ones, all of which lie within the bounds."""
    cells = np.searchsorted(attribute.starts, true, "right") - 1
    counts = np.bincount(cells, minlength=attribute.size)
    drawn = pd.concat(rows(Domain((attribute,)), counts, digest))[attribute.name].to_numpy(dtype=float)
    return Kept(
        attribute.name,
        attribute.size,
        float(drawn.mean() / true.mean() - 1),
        float(drawn.std() / true.std() - 1),
        float(np.median(drawn)),
        float(np.median(true)),
    )


def main() -> None:
    print("column            cells    mean  deviation  median (true)")
    for attribute, true in numeric_columns():
        for declared in dict.fromkeys((attribute, replace(attribute, single_values=()))):
            found = [kept(declared, true, digest) for digest in DIGESTS]
            mean, deviation = (
                np.mean([abs(getattr(each, name)) for each in found]) for name in ("mean", "deviation")
            )
            medians = f"{found[0].median:g} ({found[0].true_median:g})"
            print(f"{declared.name:16s} {declared.size:6d} {mean:7.2%} {deviation:10.2%}  {medians}")


if __name__ == "__main__":
    main()
