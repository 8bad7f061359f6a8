"""The portal's synthetic rows beside those of published programs, on four public tables with the same budget.

Adult and three tables of statsmodels (pip install statsmodels): 6,366 women's answers about their marriages, 20,190
years of people in the RAND health insurance experiment, 944 voters of 1996. Every program is given the same declared
domain and ρ, at ε = 0.1, 1 and 10 (δ = 10^-9), and its rows are held against the true ones in the same way: total
variation, the mean over all pairs and over all triples of columns. AIM and MST are run over mbi, AIM, MST and PrivBayes
by dpmm, where these are installed (`rivals`). Each run is in a process of its own and is ended after `--limit` seconds;
its figures are added to a file at once, and what is in the file is not run again.

What came out stands in mechanisms/microdata/README.md. In one release each, latent classes were ahead of every program
in pairs and in triples, but for two settings: MST in pairs on the health insurance at ε = 0.1, AIM on the voters at 1.

Run: python -m tests.benchmarks.published_programs runs.csv [--tables NAME ...] [--programs NAME ...] [--seeds 5]
"""

from __future__ import annotations

import argparse
import csv
import multiprocessing
import os
from fractions import Fraction
from itertools import combinations, product
from multiprocessing.connection import Connection
from pathlib import Path

# Before numpy is loaded: products of small matrices are fastest, and always the same, on one thread.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import numpy as np
import pandas as pd

from mechanisms.domain import Domain
from mechanisms.microdata.quality import table_of_rows
from tests.benchmarks.recommendation import TABLES, data_of, in_cells
from tests.benchmarks.rivals import SETTINGS, how_to_add, ready, rival
from tests.benchmarks.synthesis import RHO, ours

OURS = ("latent-classes", "tree-of-pairs", "independent-columns")
VOTERS = {
    "popul": (0, 1000, 50),
    "TVnews": (0, 7, 1),
    "selfLR": (1, 7, 1),
    "ClinLR": (1, 7, 1),
    "DoleLR": (1, 7, 1),
    "PID": (0, 6, 1),
    "age": (18, 98, 5),
    "educ": (1, 7, 1),
    "income": (1, 24, 1),
    "vote": (0, 1, 1),
}
RUN, FIGURES = ["table", "epsilon", "program", "seed"], ["pairs", "triples", "seconds"]


def voters() -> tuple[Domain, np.ndarray]:
    file = data_of("statsmodels", "datasets", "anes96", "anes96.csv")
    return in_cells(pd.read_csv(file, sep="\t", quotechar="'"), VOTERS)


OF_PEOPLE = {**{name: TABLES[name] for name in ("adult", "fair", "health")}, "voters": voters}


def distance(shape: tuple[int, ...], true: np.ndarray, made: np.ndarray, columns: int) -> float:
    """Total variation of so many columns' tables, the mean over all of them."""
    each = []
    for chosen in combinations(range(len(shape)), columns):
        one, other = (table_of_rows(rows, shape, list(chosen)) / len(rows) for rows in (true, made))
        each.append(np.abs(one - other).sum() / 2)
    return float(np.mean(each))


def run(connection: Connection, table: str, epsilon: str, program: str) -> None:
    domain, rows = OF_PEOPLE[table]()
    rho = Fraction(RHO[epsilon])
    made = rival(program)(domain, rows, rho) if program in SETTINGS else ours(program, domain, rows, rho).rows
    seconds = sum(os.times()[:4])
    connection.send([distance(domain.shape, rows, made, columns) for columns in (2, 3)] + [seconds])


def alone(table: str, epsilon: str, program: str, limit: float) -> list[float] | None:
    """The figures of one run in a process of its own; None if it took longer."""
    context = multiprocessing.get_context("spawn")
    here, there = context.Pipe(duplex=False)
    process = context.Process(target=run, args=(there, table, epsilon, program))
    process.start()
    there.close()
    try:
        return here.recv() if here.poll(limit) else None
    except EOFError:
        raise SystemExit(f"{program} failed; what it said is above.") from None
    finally:
        process.kill()
        process.join()


def run_all(path: Path, runs: list[tuple[str, str, str, str]], limit: float) -> None:
    """Those that are not in the file yet."""
    if not path.exists():
        path.write_text(",".join(RUN + FIGURES) + "\n")
    with path.open() as file:
        finished = {tuple(line[name] for name in RUN) for line in csv.DictReader(file)}
    for table, epsilon, program, seed in runs:
        if (table, epsilon, program, seed) in finished:
            continue
        figures = alone(table, epsilon, program, limit) or [""] * len(FIGURES)
        with path.open("a") as file:
            csv.writer(file).writerow([table, epsilon, program, seed, *figures])


def show(path: Path) -> None:
    """Means of the runs that ended."""
    found = pd.read_csv(path, dtype={"epsilon": str, "seed": str})
    print("| table | ε | program | runs | pairs | triples | seconds |\n|---|---|---|---|---|---|---|")
    for (table, epsilon, program), lines in found.groupby(RUN[:3], sort=False):
        ended = lines.dropna()
        means, figures = ended[FIGURES].mean(), "did not end | |"
        if len(ended):
            figures = f"{means.pairs:.4f} | {means.triples:.4f} | {means.seconds:.0f}"
        print(f"| {table} | {epsilon} | {program} | {len(ended)} | {figures} |")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("results", type=Path)
    parser.add_argument("--tables", nargs="+", default=list(OF_PEOPLE), choices=list(OF_PEOPLE))
    parser.add_argument("--programs", nargs="+", default=[*OURS, *SETTINGS])
    parser.add_argument("--epsilons", nargs="+", default=list(RHO), choices=list(RHO))
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--limit", type=float, default=3600, help="seconds after which a run is ended")
    given = parser.parse_args()
    missing = [name for name in given.programs if name in SETTINGS and not ready(name)]
    programs = [name for name in given.programs if name not in missing]
    seeds = map(str, range(given.seeds))
    runs = [
        (table, epsilon, program, seed)
        for seed, table, epsilon, program in product(seeds, given.tables, given.epsilons, programs)
    ]
    run_all(given.results, runs, given.limit)
    show(given.results)
    for name in missing:
        print(how_to_add(name))


if __name__ == "__main__":
    main()
