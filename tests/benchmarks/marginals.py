"""ResidualPlanner on many columns: time, memory, and error against published figures.

Run: python -m tests.benchmarks.marginals [--columns 100] [--cells 10] [--rows 10000]

All marginal tables of up to three columns are planned, measured and answered with their standard errors. The tables
of a synthetic table are counted as they are needed, and the answers are used as they come, as whoever writes them to
a file would. Counting is timed apart. The process runs alone, so its peak memory is that of the whole work.
The errors at ρ = 1/2 on a domain of the size of Adult's are compared with those that Xiao et al. 2023 publish.
"""

from __future__ import annotations

import argparse
import resource
import time
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from fractions import Fraction
from itertools import combinations
from typing import cast

import numpy as np

from mechanisms.accounting import Definition, Loss
from mechanisms.domain import Domain, Integer
from mechanisms.matrix.marginals.residual import ResidualPlanner
from mechanisms.matrix.marginals.sets import MarginalSets
from mechanisms.matrix.workload.factor import Identity
from mechanisms.matrix.workload.union import Term, Workload
from mechanisms.noise import Noise

ADULT = (85, 9, 100, 16, 7, 15, 6, 5, 2, 100, 100, 99, 42, 2)
# Root mean squared error by the number of columns of the tables, from the publication.
PUBLISHED = {(1,): 3.047, (2,): 6.359, (3,): 10.515, (0, 1, 2, 3): 10.665}
LOSS = Loss(Definition.ZCDP, Fraction(1, 2))


def domain_of(shape: Sequence[int]) -> Domain:
    return Domain(tuple(Integer(f"c{i}", upper=n - 1) for i, n in enumerate(shape)))


def all_marginals(shape: Sequence[int], sizes: Sequence[int]) -> Workload:
    sets = (s for k in sizes for s in combinations(range(len(shape)), k))
    terms = tuple(Term(1.0, {i: Identity(shape[i]) for i in s}) for s in sets)
    return Workload(tuple(shape), terms, "all marginals")


class Tables:
    """The marginal tables of a table of records, counted when a slice of them is read."""

    def __init__(self, records: np.ndarray, sets: MarginalSets) -> None:
        self._records, self._sets = records.astype(np.int32), sets
        self.shape = (sets.size,)
        self.seconds = 0.0

    def __getitem__(self, span: slice) -> np.ndarray:
        start = time.perf_counter()
        first, last = np.searchsorted(self._sets.starts, [span.start or 0, span.stop])
        counted = np.concatenate([self._count(self._sets.sets[i]) for i in range(first, last)])
        self.seconds += time.perf_counter() - start
        return counted

    def _count(self, axes: tuple[int, ...]) -> np.ndarray:
        shape = self._sets.table_shape(axes)
        cell = self._records[axes[0]]
        for axis, n in zip(axes[1:], shape[1:], strict=True):
            cell = cell * n + self._records[axis]
        return np.bincount(cell, minlength=int(np.prod(shape)))


def many_columns(columns: int, cells: int, rows: int) -> None:
    shape = (cells,) * columns
    records = np.random.default_rng(1).integers(0, cells, (columns, rows))
    planner, seconds = ResidualPlanner(), [time.perf_counter()]
    plan = planner.plan(domain_of(shape), all_marginals(shape, (0, 1, 2, 3)), LOSS)
    seconds.append(time.perf_counter())
    tables = Tables(records, MarginalSets.of(shape, planner.closed(plan).sets[1:]))
    measurement = planner.measure(plan, cast(np.ndarray, tables), Noise())
    seconds.append(time.perf_counter())
    numbers = sum(part.answers.size for part in planner.answered(plan, measurement))
    processor = time.process_time()
    seconds.append(time.perf_counter())
    planned, measured, answered = np.diff(seconds)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    print(f"{columns} columns of {cells} cells, all marginals of up to 3 columns: {numbers:,} answers")
    print(
        f"plan {planned:.1f} s, measure {measured - tables.seconds:.1f} s, answer {answered:.1f} s, together "
        f"{planned + measured - tables.seconds + answered:.1f} s (counting apart: {tables.seconds:.1f} s; "
        f"processor time of the whole process: {processor:.1f} s); "
        f"peak memory {peak:.2f} GiB; expected root mean squared error {plan.root_mean_error:.4f} rows, "
        f"{plan.ratio:.6f} times the lower bound"
    )


def published() -> None:
    print("\nA domain of Adult's size, ρ = 1/2: root mean squared error of an answer, in rows")
    print(f"{'columns of a table':<22}{'here':>10}{'published':>12}{'seconds':>10}")
    for sizes, figure in PUBLISHED.items():
        start = time.perf_counter()
        plan = ResidualPlanner().plan(domain_of(ADULT), all_marginals(ADULT, sizes), LOSS)
        name = " or ".join(map(str, sizes))
        print(f"{name:<22}{plan.root_mean_error:>10.3f}{figure:>12.3f}{time.perf_counter() - start:>10.2f}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--columns", type=int, default=100)
    parser.add_argument("--cells", type=int, default=10)
    parser.add_argument("--rows", type=int, default=10_000)
    options = parser.parse_args()
    with ProcessPoolExecutor(max_workers=1) as alone:
        alone.submit(many_columns, options.columns, options.cells, options.rows).result()
    published()


if __name__ == "__main__":
    main()
