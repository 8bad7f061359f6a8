"""How far the recommended method's rows are behind the best method's, on real tables of few people.

Samples of 500, 1,000 and 5,000 rows of Adult and of two tables of statsmodels (answers of 6,366 women about their
marriages, Fair 1978; 20,190 years of people in the RAND health insurance experiment), at ε = 0.1, 1 and 10 (δ = 10^-9,
as zCDP). The recommendation sees the shape and the number of rows alone. Behind: by how much the recommended method's
distance of all pairs, the mean of some releases, is above the least of any method's. The two tables need statsmodels:
pip install statsmodels.

Run: python -m tests.benchmarks.recommendation [--tables adult] [--rows 500] [--releases 3] [--leave-out NAME ...]
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Callable
from fractions import Fraction
from importlib import util
from pathlib import Path

# Before numpy is loaded: products of small matrices are fastest, and always the same, on one thread.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import numpy as np
import pandas as pd

from mechanisms.accounting import Definition, Loss
from mechanisms.domain import Boolean, Domain, Integer
from mechanisms.microdata.simulation import Shape, ranked, simulated
from mechanisms.protocol import PlanError
from mechanisms.registry import MICRODATA
from tests.benchmarks.synthesis import RHO, adult, ours, pair_distance

# Of each column the cells that public knowledge would give it: the lowest value, the highest, the step.
FAIR = {
    "rate_marriage": (1, 5, 1),
    "age": (17, 42, 1),
    "yrs_married": (0, 23, 1),
    "children": (0, 6, 1),
    "religious": (1, 4, 1),
    "educ": (9, 20, 1),
    "occupation": (1, 6, 1),
    "occupation_husb": (1, 6, 1),
    "affairs": (0, 60, 1),
}
HEALTH = {
    "mdvis": (0, 79, 1),
    "lncoins": (0, 5, 0.5),
    "idp": (0, 1, 1),
    "lpi": (0, 8, 0.5),
    "fmde": (0, 9, 0.5),
    "physlm": (0, 1, 1),
    "disea": (0, 60, 4),
    "hlthg": (0, 1, 1),
    "hlthf": (0, 1, 1),
    "hlthp": (0, 1, 1),
}


def data_of(package: str, *path: str) -> Path:
    """A file of an installed package."""
    found = util.find_spec(package)
    if found is None or found.origin is None:
        raise SystemExit(f"pip install {package}, or name other --tables.")
    return Path(found.origin).parent.joinpath(*path)


def binned(folder: str, columns: dict[str, tuple[float, float, float]]) -> tuple[Domain, np.ndarray]:
    """A table of statsmodels in cells of the stated widths."""
    table = pd.read_csv(data_of("statsmodels", "datasets", folder, f"{folder}.csv"))
    return in_cells(table, columns)


def in_cells(
    table: pd.DataFrame, columns: dict[str, tuple[float, float, float]]
) -> tuple[Domain, np.ndarray]:
    rows, attributes = [], []
    for name, (lowest, highest, step) in columns.items():
        cells = int((highest - lowest) // step) + 1
        in_range = table[name].clip(lowest, highest)
        rows.append(((in_range - lowest) // step).clip(0, cells - 1).astype(np.int64))
        attributes.append(Boolean(name) if cells == 2 else Integer(name, lower=0, upper=cells - 1))
    return Domain(tuple(attributes)), np.column_stack(rows)


TABLES: dict[str, Callable[[], tuple[Domain, np.ndarray]]] = {
    "adult": adult,
    "fair": lambda: binned("fair", FAIR),
    "health": lambda: binned("randhie", HEALTH),
}


def lines(table: str, people: int, releases: int, left_out: list[str]) -> None:
    """Print a line for each ε."""
    domain, everybody = TABLES[table]()
    methods = {m.name: m for m in MICRODATA if not m.missing and m.name not in left_out}
    found = list(simulated(Shape.of(domain), people, Loss(Definition.ZCDP, Fraction(1)), methods))
    for epsilon, rho in RHO.items():
        errors: dict[str, list[float]] = {}
        for number in range(releases):
            rows = np.random.default_rng(number).choice(everybody, people, replace=False)
            for name in methods:
                try:
                    made = ours(name, domain, rows, Fraction(rho)).rows
                except PlanError:
                    continue
                errors.setdefault(name, []).append(pair_distance(domain, rows, made))
        means = {name: float(np.mean(values)) for name, values in errors.items()}
        order = ranked(found, float(rho), people)
        recommended, best = order[0][0], min(means, key=means.__getitem__)
        behind = means[recommended] / means[best] - 1
        all_ = ", ".join(f"{name} {means[name]:.3f} ({simulated_:.3f})" for name, simulated_ in order)
        print(
            f"| {table} | {people:,} | {epsilon} | {recommended} | {best} | {behind:.1%} | {all_} |",
            flush=True,
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--tables", nargs="+", default=list(TABLES), choices=list(TABLES))
    parser.add_argument("--rows", nargs="+", type=int, default=[500, 1000, 5000])
    parser.add_argument("--releases", type=int, default=3)
    parser.add_argument("--leave-out", nargs="*", default=[])
    given = parser.parse_args()
    print(
        "| table | rows | ε | recommended | best | behind | errors of pairs (simulated) |\n"
        + "|---" * 7
        + "|"
    )
    for table in given.tables:
        for people in given.rows:
            lines(table, people, given.releases, given.leave_out)


if __name__ == "__main__":
    main()
