"""Counts of a possible table against the raw estimates they were made from: error over error, by method and purpose.

Run: python -m tests.benchmarks.possible [--tables 40] [--trials 3] [--data FOLDER]
On drawn tables; with --data also on every histogram of a folder (*.npy, one or two columns, as the DPBench study has
them), each at ε = 0.03, 0.1 and 1. The counts should be at most 1.1 times as wrong.
"""

from __future__ import annotations

import argparse
import math
from collections import defaultdict
from collections.abc import Iterable, Iterator
from pathlib import Path

import numpy as np

from mechanisms.accounting import Definition
from mechanisms.advice.answers import PURPOSES, answers, root_mean_square
from mechanisms.noise import Noise
from mechanisms.protocol import Mechanism, PlanError
from mechanisms.registry import HISTOGRAMS
from tests.benchmarks.advice import Given
from tests.benchmarks.trial import Trial

LIMIT = 1.1
EPSILONS = ("0.03", "0.1", "1")
# Whole people are not spread thinner than one by one: where few are in many cells, errors of half a row are alike.
_HALF = 0.5


def ratios(trial: Trial, method: Mechanism, trials: int) -> Iterator[tuple[str, float]]:
    """For each purpose, the error of the counts over that of the estimates; nothing where the method refuses."""
    planned = any(p.name == "purpose" for p in method.parameters)
    for purposes in [(p,) for p in PURPOSES] if planned else [PURPOSES]:
        try:
            plan = method.plan(trial.domain, {"purpose": purposes[0]} if planned else {}, trial.loss)
        except PlanError:
            return
        noise = Noise(np.random.default_rng(trial.number).bytes)
        results = [method.reconstruct(plan, method.measure(plan, trial.counts, noise)) for _ in range(trials)]
        for purpose in purposes:
            sums = answers(purpose, trial.shape)
            raw = root_mean_square([sums(result.raw - trial.counts) for result in results])
            counts = root_mean_square([sums(result.counts - trial.counts) for result in results])
            yield purpose, max(counts, _HALF) / max(raw, _HALF)


def print_ratios(title: str, tables: Iterable[Trial], trials: int) -> None:
    found = defaultdict(list)
    for trial in tables:
        for method in HISTOGRAMS:
            if trial.definition in method.definitions:
                for purpose, ratio in ratios(trial, method, trials):
                    found[method.name, purpose].append(ratio)
    print(f"\n{title}\n{'':<32}{'tables':>8}{'mean':>8}{'9 in 10':>9}{'worst':>8}{f'above {LIMIT}':>11}")
    for (method, purpose), of in found.items():
        mean, above = math.exp(np.mean(np.log(of))), sum(r > LIMIT for r in of)
        print(
            f"{method:<24}{purpose:<8}{len(of):>8}{mean:>8.2f}{np.quantile(of, 0.9):>9.2f}{max(of):>8.2f}{above:>11}"
        )


def drawn(columns: int, tables: int) -> list[Trial]:
    return [Trial("possible", number, columns, Definition.PURE) for number in range(tables)]


def given(folder: Path, columns: int) -> Iterator[Trial]:
    for number, path in enumerate(sorted(folder.glob("*.npy"))):
        if np.load(path, mmap_mode="r").ndim == columns:
            for e in EPSILONS:
                yield Given(f"{path.stem} {e}", number, columns, Definition.PURE, path, e)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tables", type=int, default=40)
    parser.add_argument("--trials", type=int, default=3)
    parser.add_argument("--data", type=Path)
    asked = parser.parse_args()
    for columns in (1, 2):
        print_ratios(f"{columns} column(s), drawn tables", drawn(columns, asked.tables), asked.trials)
        if asked.data:
            print_ratios(f"{columns} column(s), given tables", given(asked.data, columns), asked.trials)


if __name__ == "__main__":
    main()
