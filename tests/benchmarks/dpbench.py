"""Error of every histogram method on the DPBench histograms, beside the best of eight published programs.

Run: python -m tests.benchmarks.dpbench [--data FOLDER] [--trials 10] [--page PAGE.html] [--only programs|counts|spikes]
`programs` takes four histograms of one column. `counts` asks of every histogram of the folder, of one column and of
two, whether counts of a possible table are at most 1.1 times as wrong as the raw estimates that they are made from, and
`spikes` of those of one column that are nearly empty whether the advised method is at most 1.05 times as wrong as DAWA.
What the advice would have taken elsewhere is compared by `tests.benchmarks.advice`.
"""

from __future__ import annotations

import argparse
import sys
from collections import defaultdict
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

import numpy as np
import plotly.graph_objects as go
from plotly.subplots import make_subplots

from mechanisms.accounting import Definition, Loss
from mechanisms.advice.ranking import rank
from mechanisms.domain import Domain, Integer
from mechanisms.histogram.dawa import DawaHistogram
from mechanisms.noise import Noise
from mechanisms.protocol import PlanError
from mechanisms.registry import HISTOGRAMS, mechanism
from tests.benchmarks.advice import Given
from tests.benchmarks.possible import LIMIT, ratios

DATA = Path(__file__).parents[3] / "shared" / "data" / "dpbench"
NAMES = ("ADULTFRANK", "HEPTH", "INCOME", "MEDCOST")
EPSILONS = ("0.01", "0.1", "1")
PURPOSES = ("cells", "totals", "ranges")
RANGES = 1000
CELLS = 4096
# A histogram is one of spikes where so many of its cells are empty and it has at most so many people.
_EMPTY, _FEW = 0.9, 30_000
SPIKES_LIMIT = 1.05
# Least error of Identity, HB, Privelet, DAWA, EFPA, PHP, DPcube and Uniform, measured with the study's programs.
PUBLISHED = {
    "ranges": {
        "ADULTFRANK": (777, 67, 17.6),
        "HEPTH": (1224, 195, 19.5),
        "INCOME": (1632, 195, 19.5),
        "MEDCOST": (367, 88, 13.5),
    },
    "totals": {
        "ADULTFRANK": (1028, 55, 14.7),
        "HEPTH": (912, 149, 14.9),
        "INCOME": (1489, 149, 14.9),
        "MEDCOST": (870, 133, 14.9),
    },
}


@dataclass(frozen=True)
class Setting:
    """One method on one histogram at one ε, asked for one purpose."""

    data: str
    epsilon: str
    method: str
    purpose: str


@dataclass(frozen=True)
class Figures:
    """Root mean square errors in people over all trials; of the raw estimates and of the possible table."""

    raw: dict[str, float]
    counts: dict[str, float]

    def better(self, purpose: str) -> tuple[float, str]:
        return min((self.raw[purpose], "raw"), (self.counts[purpose], "counts"))


def figures(setting: Setting, folder: Path, trials: int) -> Figures | None:
    """Measure a setting; None where the method refuses it."""
    true = np.load(folder / f"{setting.data}.npy").astype(np.int64)
    domain = Domain((Integer("x", upper=true.size - 1),))
    method = mechanism(setting.method)
    named = {p.name for p in method.parameters}
    parameters = {"purpose": setting.purpose} if "purpose" in named else {}
    try:
        plan = method.plan(domain, parameters, Loss(Definition.PURE, Fraction(setting.epsilon)))
    except PlanError:
        return None
    squares: dict[str, dict[str, float]] = {"raw": defaultdict(float), "counts": defaultdict(float)}
    for _ in range(trials):
        result = method.reconstruct(plan, method.measure(plan, true, Noise()))
        for kind, released in (("raw", result.raw), ("counts", result.counts)):
            for purpose, error in _mean_squares(released - true).items():
                squares[kind][purpose] += error / trials
    root = {kind: {p: float(np.sqrt(s)) for p, s in sums.items()} for kind, sums in squares.items()}
    return Figures(**root)


def _mean_squares(error: np.ndarray) -> dict[str, float]:
    """Mean squared error over all cells, all prefixes, and the fixed random ranges."""
    prefixes = np.concatenate([[0], np.cumsum(error)])
    ends = np.random.default_rng(20161).integers(0, error.size, size=(RANGES, 2))
    spans = prefixes[ends.max(axis=1) + 1] - prefixes[ends.min(axis=1)]
    answers = {"cells": error, "totals": prefixes[1:], "ranges": spans}
    return {purpose: float(np.mean(np.square(a, dtype=np.float64))) for purpose, a in answers.items()}


def settings(methods: list[str]) -> Iterator[Setting]:
    """Every method, planned for every purpose that it lets one choose."""
    for data in NAMES:
        for epsilon in EPSILONS:
            for method in methods:
                chosen = any(p.name == "purpose" for p in mechanism(method).parameters)
                for purpose in PURPOSES if chosen else ("",):
                    yield Setting(data, epsilon, method, purpose)


Table = dict[tuple[str, str, str], dict[str, tuple[float, str]]]


def measured(methods: list[str], folder: Path, trials: int) -> Table:
    """By (data, ε, purpose): each method's least error over its plans and answers, and which answer it is."""
    asked = list(settings(methods))
    table: Table = defaultdict(dict)
    with ProcessPoolExecutor(2) as pool:
        found = pool.map(figures, asked, [folder] * len(asked), [trials] * len(asked), chunksize=3)
        for setting, result in zip(asked, found, strict=True):
            for purpose in PURPOSES if result else ():
                row, entry = table[setting.data, setting.epsilon, purpose], result.better(purpose)
                row[setting.method] = min(entry, row.get(setting.method, entry))
    return table


def target(data: str, epsilon: str, purpose: str) -> float | None:
    if purpose not in PUBLISHED:
        return None
    return PUBLISHED[purpose][data][EPSILONS.index(epsilon)]


def print_table(table: Table, methods: list[str]) -> None:
    """One line a setting; * marks a method at or below the best published figure, r its raw answers.

    The figure is the least of a method's: planned for cells, ranges or totals, raw or made a possible table.
    """
    print(f"{'data':<11} {'ε':>5} {'over':<7} {'best known':>10}", *(f"{m[:14]:>16}" for m in methods))
    reached, judged = 0, 0
    for (data, epsilon, purpose), row in sorted(table.items(), key=lambda item: (item[0][2], item[0])):
        goal = target(data, epsilon, purpose)
        cells = [_cell(row.get(m), goal) for m in methods]
        print(f"{data:<11} {epsilon:>5} {purpose:<7} {goal or '':>10}", *cells)
        judged += goal is not None
        reached += goal is not None and min(error for error, _ in row.values()) <= goal
    print(
        f"\nGoal: a method at or below the best published figure: {_answer(reached == judged)} ({reached} of {judged})"
    )


def _cell(entry: tuple[float, str] | None, goal: float | None) -> str:
    if entry is None:
        return f"{'-':>16}"
    error, kind = entry
    mark = "*" if goal is not None and error <= goal else ""
    return f"{error:,.1f}{'r' if kind == 'raw' else ''}{mark}".rjust(16)


def given(folder: Path, columns: int) -> list[Given]:
    """Every histogram of the folder of so many columns, at every ε."""
    paths = [p for p in sorted(folder.glob("*.npy")) if np.load(p, mmap_mode="r").ndim == columns]
    return [
        Given(f"{path.stem} {e}", number, columns, Definition.PURE, path, e, CELLS)
        for number, path in enumerate(paths)
        for e in EPSILONS
    ]


def counts_over_raw(table: Given, methods: list[str], trials: int) -> list[tuple[float, str]]:
    """The ratio of errors of each method for each purpose, with what it is of."""
    return [
        (ratio, f"{name}, {purpose}, {table.family}")
        for name in methods
        for purpose, ratio in ratios(table, mechanism(name), trials)
    ]


def print_counts(folder: Path, methods: list[str], trials: int) -> None:
    """Whether possible counts are as good as raw estimates, and where they are least."""
    for columns in (1, 2):
        asked = given(folder, columns)
        with ProcessPoolExecutor(2) as pool:
            each = pool.map(counts_over_raw, asked, [methods] * len(asked), [trials] * len(asked))
            found = sorted((entry for entries in each for entry in entries), reverse=True)
        above = sum(ratio > LIMIT for ratio, _ in found)
        mean = np.exp(np.mean(np.log([ratio for ratio, _ in found])))
        print(f"\nGoal: counts at most {LIMIT} × raw, {columns} column(s): {_answer(above == 0)}")
        print(f"  {len(found) - above} of {len(found)} settings, geometric mean {mean:.2f}; the worst:")
        for ratio, what in found[:8]:
            print(f"  {ratio:>5.2f}  {what}")


def print_spikes(folder: Path, trials: int) -> None:
    """Nearly empty histograms of one column: the advised method's error over DAWA's."""
    spiky = [t for t in given(folder, 1) if t.people <= _FEW and np.mean(t.counts == 0) >= _EMPTY]
    if not spiky:
        print("\nNo histogram of spikes is in the folder.")
        return
    found = []
    for table in spiky:
        errors = table.errors([m for m in HISTOGRAMS if Definition.PURE in m.definitions], trials)
        for purpose in PURPOSES:
            ranked = rank(HISTOGRAMS, table.domain, table.loss, purpose, table.people).methods
            advised = next(r.mechanism for r in ranked if r.mechanism in errors[purpose])
            ratio = errors[purpose][advised] / errors[purpose][DawaHistogram.name]
            found.append(ratio)
            print(f"  {table.family:<20}{purpose:<8}{advised:<24}{ratio:>6.2f} × DAWA")
    worst, mean = max(found), np.exp(np.mean(np.log(found)))
    goal = f"Goal: spikes advised within {SPIKES_LIMIT} × DAWA: {_answer(worst <= SPIKES_LIMIT)}"
    print(f"{goal}, geometric mean {mean:.2f}, worst {worst:.2f}")


def _answer(reached: bool) -> str:
    return "yes" if reached else "no"


def page(table: Table, methods: list[str]) -> go.Figure:
    """A panel for each purpose and histogram: error against ε on logarithmic axes."""
    titles = [f"{data}, {purpose}" for purpose in PURPOSES for data in NAMES]
    figure = make_subplots(rows=len(PURPOSES), cols=len(NAMES), subplot_titles=titles)
    for i, purpose in enumerate(PURPOSES):
        for j, data in enumerate(NAMES):
            for m in [*methods, "best published"]:
                line = [
                    target(data, e, purpose)
                    if m == "best published"
                    else table[data, e, purpose].get(m, (None,))[0]
                    for e in EPSILONS
                ]
                first = i == j == 0
                dash = "dot" if m == "best published" else None
                trace = go.Scatter(
                    x=EPSILONS, y=line, name=m, legendgroup=m, showlegend=first, line={"dash": dash}
                )
                figure.add_trace(trace, row=i + 1, col=j + 1)
    figure.update_xaxes(type="category", title="ε")
    figure.update_yaxes(type="log", title="RMSE, people")
    return figure.update_layout(height=1200, template="plotly_white", title="DPBench histograms, 4,096 cells")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, default=DATA)
    parser.add_argument("--trials", type=int, default=10)
    parser.add_argument("--methods", nargs="*", default=[m.name for m in HISTOGRAMS])
    parser.add_argument("--page", type=Path)
    parser.add_argument("--only", choices=("programs", "counts", "spikes"))
    asked = parser.parse_args()
    if not all((asked.data / f"{name}.npy").exists() for name in NAMES):
        sys.exit(f"Skipped: the DPBench histograms are not in {asked.data}; give their folder with --data.")
    methods = [m for m in asked.methods if Definition.PURE in mechanism(m).definitions]
    if asked.only in (None, "programs"):
        table = measured(methods, asked.data, asked.trials)
        print_table(table, methods)
        if asked.page:
            page(table, methods).write_html(asked.page)
    if asked.only in (None, "counts"):
        print_counts(asked.data, methods, asked.trials)
    if asked.only in (None, "spikes"):
        print_spikes(asked.data, asked.trials)


if __name__ == "__main__":
    main()
