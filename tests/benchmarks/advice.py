"""How good the advice on histogram methods is: the advised method's error over the best method's, on drawn tables.

Run: python -m tests.benchmarks.advice [--tables 60] [--trials 20] [--data FOLDER]
Its best method is the one that had the least error in other releases of the same table than those that judge it, so
that luck makes no method the best; that makes the ratio a little too small, and the one over the least error seen,
shown beside it, a little too large. Compares with taking the same method always. With --data also on the DPBench
histograms of that folder, which nobody looked at when the table and its constants were made.

The shipped table is made by: python -m tests.benchmarks.advice --write (at most two hours on two processors), and one
kind of its tables alone with, say, --columns 2 --losses pure.
"""

from __future__ import annotations

import argparse
import csv
import hashlib
import math
from collections.abc import Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from importlib.resources import files
from itertools import pairwise, product
from pathlib import Path

import numpy as np

from mechanisms.accounting import Definition
from mechanisms.advice import table
from mechanisms.advice.answers import PURPOSES
from mechanisms.advice.ranking import rank
from mechanisms.advice.table import Trials
from mechanisms.arrays import Integers
from mechanisms.histogram import unevenness
from mechanisms.histogram.private_selection import (
    CANDIDATES,
    SHARE,
    ChosenHistogram,
    Seen,
    mean_ratio,
    statistic_stages,
)
from mechanisms.noise import Noise, repeatable
from mechanisms.registry import HISTOGRAMS
from tests.benchmarks.trial import Trial

CHOSEN = ChosenHistogram.name
# Tables of the shipped file, by columns and kind of loss, and releases of each.
TABLES = {
    (1, Definition.PURE): 1200,
    (2, Definition.PURE): 1400,
    (1, Definition.ZCDP): 500,
    (2, Definition.ZCDP): 400,
}
TRIALS = 3
# Methods that are never advised, and slow, are tried on every fourth table.
SELDOM = 4
CHECKED, CHECKED_TRIALS = 60, 20
EPSILONS = ("0.01", "0.1", "1")
STATISTICS = 2 + len(unevenness.CUTS)


@dataclass(frozen=True)
class Tried:
    """A drawn table with the methods' errors on it, by purpose and method, and its exact statistics in rows times ε."""

    trial: Trial
    errors: dict[str, dict[str, float]]
    statistics: tuple[float, ...]

    @property
    def epsilon(self) -> float:
        return self.trial.strength / self.trial.people


def log_ratios(errors: Mapping[str, float]) -> dict[str, float]:
    """From the methods' errors on one table, the natural logarithms of their ratios to the least."""
    least = max(1e-9, min(errors.values()))
    return {name: min(table.WORST, math.log(max(1e-9, error) / least)) for name, error in errors.items()}


def tried(trial: Trial) -> Tried:
    """One table of the shipped file."""
    seldom = trial.number % SELDOM == 0
    methods = [m for m in HISTOGRAMS if m.name != CHOSEN and (seldom or m.may_be_advised)]
    return Tried(trial, trial.errors(methods, TRIALS), statistics_of(trial))


def statistics_of(trial: Trial) -> tuple[float, ...]:
    """In rows times ε; those that the shape does not have are 0."""
    epsilon, shape = trial.strength / trial.people, trial.shape
    exact = unevenness.measured(trial.counts, shape)
    found = [epsilon * v / s.unit for v, s in zip(exact, unevenness.statistics(shape), strict=True)]
    return (*found, *[0.0] * (STATISTICS - len(found)))


def lines(tables: Sequence[Tried]) -> list[list[str]]:
    """Lines of the shipped file, with the private choice's ratio on each table from what the others tell."""
    rows = [
        [
            str(t.trial.columns),
            t.trial.definition.value,
            str(math.prod(t.trial.shape)),
            f"{t.trial.strength:.4g}",
            *(f"{v:.4g}" for v in t.statistics),
        ]
        for t in tables
    ]
    ratios = [{p: log_ratios(t.errors[p]) for p in PURPOSES} for t in tables]
    known = Trials(
        cells=np.array([float(math.prod(t.trial.shape)) for t in tables]),
        strength=np.array([t.trial.strength for t in tables]),
        statistics=np.array([t.statistics for t in tables]),
        ratios={
            p: {m.name: np.array([r[p].get(m.name, math.nan) for r in ratios]) for m in CANDIDATES}
            for p in PURPOSES
        },
    )
    for place, (t, row) in enumerate(zip(tables, rows, strict=True)):
        chosen = choice_without(known, place, t)
        for purpose in PURPOSES:
            found = {**ratios[place][purpose], CHOSEN: chosen[purpose]}
            row += [f"{100 * found[m.name]:.0f}" if m.name in found else "" for m in HISTOGRAMS]
    return [["drawn", *row] for row in rows]


def choice_without(known: Trials, place: int, t: Tried) -> dict[str, float]:
    """By purpose, the logarithm of the private choice's ratio on one of the tables, chosen by the other tables.

    The method that it takes has the rest of the loss: its error is at most 1/(1 - share) times what it was.
    """
    share = Fraction(int(SHARE.default), 100)
    laws = [s.law for s in statistic_stages(t.trial.domain, t.trial.loss, share)]
    seed = hashlib.sha256(f"choice {t.trial.number} {t.trial.columns}".encode()).digest()
    noise = Noise(repeatable(seed).bytes)
    noisy = [
        v + int(noise.draw(law, 1)[0])
        for v, law in zip(unevenness.measured(t.trial.counts, t.trial.shape), laws, strict=True)
    ]
    seen = Seen.of(t.trial.domain, noisy, [law.standard_error for law in laws], t.epsilon)
    weights = seen.likeness(known)
    weights[place] = 0
    found = {}
    for purpose in PURPOSES:
        ratios = known.ratios[purpose]
        measured = [name for name in ratios if not np.isnan(ratios[name][place])]
        best = min(measured, key=lambda name: mean_ratio(ratios[name], weights))
        found[purpose] = min(table.WORST, float(ratios[best][place]) - math.log(1 - share))
    return found


@dataclass(frozen=True)
class Judged:
    """One purpose on one fresh table: logarithms of (error / the best method's), of the advised one and others."""

    purpose: str
    strength: float
    advised: str
    best: str
    ratio: float
    always: dict[str, float]


def judged(trial: Trial, trials: int) -> list[Judged]:
    """Every purpose on a fresh table. Two sets of releases: each names the best method for the other to judge."""
    halves = [trial.errors(HISTOGRAMS, trials // 2, part) for part in ("first half", "second half")]
    found = []
    for purpose in PURPOSES:
        logs = [{m: math.log(max(1e-9, e)) for m, e in half[purpose].items()} for half in halves]
        ranking = rank(HISTOGRAMS, trial.domain, trial.loss, purpose, trial.people)
        advised = next(r.mechanism for r in ranking.methods if r.mechanism in logs[0])
        best = [min(half, key=lambda m: half[m]) for half in logs]
        least = (logs[0][best[1]] + logs[1][best[0]]) / 2
        mean = {m: (logs[0][m] + logs[1][m]) / 2 for m in logs[0]}
        always = {m: error - least for m, error in mean.items()}
        found.append(Judged(purpose, trial.strength, advised, best[0], mean[advised] - least, always))
    return found


@dataclass(frozen=True)
class Given(Trial):
    """A histogram of the DPBench study in place of a drawn table; neighbouring cells of one column are added up."""

    path: Path
    epsilon: str
    cells: int = 512

    @cached_property
    def _sampled(self) -> tuple[tuple[int, ...], int, Fraction, Integers]:
        counts = np.load(self.path).astype(np.int64)
        if counts.ndim == 1:
            counts = counts.reshape(self.cells, -1).sum(axis=1)
        return counts.shape, int(counts.sum()), Fraction(self.epsilon), counts.ravel()


def given(folder: Path) -> list[Given]:
    """Every histogram of the folder at every ε: one column at 512 cells, two columns as they are."""
    found = []
    for number, path in enumerate(sorted(folder.glob("*.npy"))):
        columns = np.load(path, mmap_mode="r").ndim
        found += [Given(f"{path.stem} {e}", number, columns, Definition.PURE, path, e) for e in EPSILONS]
    return found


def print_given(folder: Path, trials: int) -> None:
    """Ranges of the DPBench histograms: the advised method beside the best."""
    asked = given(folder)
    with ProcessPoolExecutor(2) as pool:
        every = list(pool.map(judged, asked, [trials] * len(asked)))
    print(f"\n{'data, ε':<28}{'cells':>7} {'advised for ranges':<24}{'best':<24}{'ratio':>6}{'chosen':>8}")
    ratios: dict[int, list[float]] = {1: [], 2: []}
    for trial, found in zip(asked, every, strict=True):
        (ranges,) = (j for j in found if j.purpose == "ranges")
        ratios[trial.columns].append(ranges.ratio)
        print(
            f"{trial.family:<28}{trial.domain.size:>7} {ranges.advised:<24}{ranges.best:<24}"
            f"{math.exp(ranges.ratio):>6.2f}{math.exp(ranges.always[CHOSEN]):>8.2f}"
        )
    for columns, logs in ratios.items():
        if logs:
            print(
                f"{columns} column(s): geometric mean {math.exp(np.mean(logs)):.3f}, worst {math.exp(max(logs)):.2f}"
            )


def fresh(columns: int, definition: Definition, tables: int, family: str = "fresh") -> list[Trial]:
    """Tables that the shipped file was not made from."""
    return [Trial(family, number, columns, definition) for number in range(tables)]


def check(columns: int, definition: Definition, tables: int, trials: int) -> list[Judged]:
    asked = fresh(columns, definition, tables)
    with ProcessPoolExecutor(2) as pool:
        return [j for found in pool.map(judged, asked, [trials] * tables, chunksize=2) for j in found]


def print_check(columns: int, definition: Definition, found: Sequence[Judged]) -> None:
    """By purpose and n·ε: the geometric mean of the advised method's ratio; and of always taking one method."""
    ends = [10.0**k for k in range(1, 8)]
    print(
        f"\n{columns} column(s), {definition.value}, {len(found) // len(PURPOSES)} tables: × the best method's error"
    )
    spans = "".join(f"{f'{low:.0e}':>9}" for low in ends[:-1])
    print(f"{'':<9}{'all':>7}{'over least':>11}{'1 in 10':>9}  by n·ε from{spans}   always one method")
    for purpose in PURPOSES:
        of = [j for j in found if j.purpose == purpose]
        ratios = np.array([j.ratio for j in of])
        parts = ""
        for low, high in pairwise(ends):
            inside = [j.ratio for j in of if low <= j.strength < high]
            parts += f"{math.exp(np.mean(inside)):>9.2f}" if inside else f"{'-':>9}"
        names = set.intersection(*(set(j.always) for j in of))
        always = sorted((math.exp(np.mean([j.always[m] for j in of])), m) for m in names)
        shown = ", ".join(f"{m} {r:.2f}" for r, m in always[:4])
        least = math.exp(over_least(of))
        print(
            f"{purpose:<9}{math.exp(ratios.mean()):>7.3f}{least:>11.3f}{math.exp(np.quantile(ratios, 0.9)):>9.2f}  "
            f"{'':<11}{parts}   {shown}"
        )


def over_least(found: Sequence[Judged]) -> float:
    """The mean logarithm of the advised method's ratio to the least error seen: luck makes some method the best."""
    return float(np.mean([j.always[j.advised] - min(j.always.values()) for j in found]))


def checked_lines(columns: int, definition: Definition, found: Sequence[Judged]) -> list[list[str]]:
    rows = []
    for purpose in PURPOSES:
        ratios = np.array([j.ratio for j in found if j.purpose == purpose])
        figures = (
            ratios.mean(),
            over_least([j for j in found if j.purpose == purpose]),
            np.quantile(ratios, 0.9),
        )
        shown = [f"{math.exp(figure):.3f}" for figure in figures]
        rows.append(["checked", str(columns), definition.value, purpose, str(ratios.size), *shown])
    return rows


def write(path: Path, rows: Sequence[list[str]]) -> None:
    """The shipped file, with a head for readers."""
    head = table.head([m.name for m in HISTOGRAMS], STATISTICS)
    with path.open("w", encoding="utf-8", newline="") as file:
        file.write(
            "# How the histogram methods did on drawn tables. Made by: python -m tests.benchmarks.advice --write\n"
            "# drawn: columns, kind of loss, cells, n·ε; statistics of unevenness in rows times ε; for every purpose\n"
            "# and method 100 ln(error / least error of all methods), empty where it was not tried.\n"
            "# checked: columns, kind of loss, purpose; tables drawn afterwards; geometric mean of (error of the\n"
            "# advised method / error of the best), the best named by other releases, and by the same ones; and what\n"
            "# one table in ten exceeds of the former.\n"
        )
        csv.writer(file, lineterminator="\n").writerows([head, *rows])
    for cached in (table.trials, table.checked):
        cached.cache_clear()


def replaced(
    path: Path, what: str, columns: int, definition: Definition, rows: Sequence[list[str]]
) -> list[list[str]]:
    """The file's lines with others for what was drawn, or checked, of one kind of table."""
    text = (line for line in path.read_text(encoding="utf-8").splitlines() if not line.startswith("#"))
    own = [what, str(columns), definition.value]
    return [*(row for row in csv.reader(text) if row[0] != "head" and row[:3] != own), *rows]


def make(path: Path, kinds: Sequence[tuple[int, Definition]]) -> None:
    """Of these kinds, draw the tables and check the advice on fresh ones; both take the place of those before."""
    for kind in kinds:
        with ProcessPoolExecutor(2) as pool:
            asked = [Trial("advice", k, *kind) for k in range(TABLES[kind])]
            drawn = lines(list(pool.map(tried, asked, chunksize=8)))
        write(path, replaced(path, "drawn", *kind, drawn))
        found = check(*kind, CHECKED, CHECKED_TRIALS)
        print_check(*kind, found)
        write(path, replaced(path, "checked", *kind, checked_lines(*kind, found)))


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--tables", type=int, default=CHECKED)
    parser.add_argument("--trials", type=int, default=CHECKED_TRIALS)
    parser.add_argument("--write", action="store_true", help="make the shipped table anew")
    parser.add_argument("--columns", type=int, nargs="*", default=[1, 2], help="only of so many columns")
    parser.add_argument(
        "--losses", type=Definition, nargs="*", default=list(Definition), help="only under these"
    )
    parser.add_argument("--data", type=Path, help="folder of DPBench histograms, *.npy")
    asked = parser.parse_args()
    kinds = list(product(asked.columns, asked.losses))
    if asked.write:
        make(Path(str(files("mechanisms.advice") / table.FILE)), kinds)
        return
    if asked.data:
        print_given(asked.data, asked.trials)
    for columns, definition in kinds:
        print_check(columns, definition, check(columns, definition, asked.tables, asked.trials))


if __name__ == "__main__":
    main()
