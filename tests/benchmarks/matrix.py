"""Searched strategies: error beside identity, hierarchy, the singular value bound and published figures, and time.

Run: python -m tests.benchmarks.matrix [--largest 8192] [--only bounds|published|large]

Errors are root mean squared errors of one answer for noise of variance 1 per unit of sensitivity: Gaussian with σ = 1,
or Laplace at ε = √2. Published: McKenna et al. 2018 and the results of their program (HDMM); for marginals Xiao et
al. 2023 (ResidualPlanner), at ρ = 1/2. "gap" is how far the total error may be above the least possible, by the
search's own proof. "grid" is what the total error gains when the strategy is put on the integer grid. Seconds are of
processor time, with OPENBLAS_NUM_THREADS=1 those of one core.

A second table takes 28 workloads, the best of all strategies that the portal offers for each, on the integer grid, and
HDMM's error (`tests.benchmarks.workloads` says how that was found). "ratio" is ours over HDMM's; "bound" that of the
singular values, which Laplace noise does not come near; seconds are those of all searches for the workload together.

A third table takes up to 2^20 cells, each line in a process of its own: seconds of the plan, and by how much it grew.
"""

from __future__ import annotations

import argparse
import math
import multiprocessing
import resource
import time
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from fractions import Fraction
from string import ascii_lowercase

import numpy as np
import scipy.sparse

from mechanisms import registry
from mechanisms.accounting import Definition, Loss
from mechanisms.calibration import law_for
from mechanisms.domain import Domain, Integer
from mechanisms.linear.tree import fitted_tree
from mechanisms.matrix.fixed_strategies import UploadedStrategy
from mechanisms.matrix.marginals.residual import ResidualPlanner
from mechanisms.matrix.mechanism import QueryPlan
from mechanisms.matrix.optimise.bound import nuclear_norm
from mechanisms.matrix.optimise.gaussian import gaussian_optimum
from mechanisms.matrix.optimise.low_rank import low_rank
from mechanisms.matrix.optimise.p_identity import p_identity
from mechanisms.matrix.strategy.hierarchy import energies
from mechanisms.matrix.strategy.weights import MatrixRows
from mechanisms.matrix.workload.factor import AllRange, Explicit, Factor, Prefix
from mechanisms.matrix.workload.text import Matrices, read_workload
from mechanisms.matrix.workload.union import Term, Workload
from mechanisms.protocol import PlanError
from mechanisms.sensitivity import Sensitivity
from tests.benchmarks.marginals import ADULT, PUBLISHED, all_marginals, domain_of
from tests.benchmarks.workloads import CASES, Case

EPSILON = Loss(Definition.PURE, Fraction(1))
SIZES = (64, 256, 1024, 2048, 8192)
KINDS: tuple[type[Prefix] | type[AllRange], ...] = (Prefix, AllRange)
# (error, seconds) where they are published.
HDMM: dict[tuple[Definition, str, int], tuple[float | None, float | None]] = {
    (Definition.ZCDP, "Prefix", 256): (2.5282, None),
    (Definition.ZCDP, "Prefix", 1024): (3.0653, 25.8),
    (Definition.ZCDP, "Prefix", 2048): (5.0018, 141.0),
    (Definition.ZCDP, "AllRange", 256): (2.9022, None),
    (Definition.ZCDP, "AllRange", 1024): (3.5681, None),
    (Definition.ZCDP, "AllRange", 2048): (3.8502, None),
    (Definition.PURE, "AllRange", 256): (5.7364, None),
    (Definition.PURE, "Prefix", 8192): (None, 987.0),
}
# Cells up to which the strategy is also put on the grid and inverted there.
_ON_GRID = 1024
NOISE = {Definition.PURE: "Laplace", Definition.ZCDP: "Gaussian"}


@dataclass(frozen=True)
class Line:
    """One line of the table; errors are totals of squares ("loss"), None where unknown."""

    name: str
    noise: str
    queries: int
    loss: float
    seconds: float
    identity: float | None = None
    hierarchy: float | None = None
    bound: float | None = None
    published: tuple[float | None, float | None] = (None, None)
    gap: float | None = None
    grid: float | None = None

    def __str__(self) -> str:
        cells = [
            self._root(self.loss),
            self._root(self.identity),
            self._root(self.hierarchy),
            self._root(self.bound),
        ]
        error, seconds = self.published
        cells += [_number(error, ".4f"), _number(self.gap, ".0e"), _number(self.grid, ".0e")]
        cells += [f"{self.seconds:.2f}", _number(seconds, ".1f")]
        return f"{self.name:<24}{self.noise:<9}" + "".join(f"{c:>11}" for c in cells)

    def _root(self, loss: float | None) -> str:
        return _number(None if loss is None else math.sqrt(loss / self.queries), ".4f")


HEADER = f"{'workload':<24}{'noise':<9}" + "".join(
    f"{name:>11}"
    for name in (
        "error",
        "identity",
        "hierarchy",
        "bound",
        "published",
        "gap",
        "grid",
        "seconds",
        "published",
    )
)


def _number(value: float | None, form: str) -> str:
    return "-" if value is None else f"{value:{form}}"


def _squared_norm(norm: float, squared: float, definition: Definition) -> float:
    return norm**2 if definition is Definition.PURE else squared


def hierarchy_loss(factor: Factor, definition: Definition) -> float:
    """‖WA⁺‖² Δ² of the best hierarchy over a power of two of cells."""
    tree = fitted_tree(energies(factor), definition)
    variance = sum(c / v for c, v in zip(energies(factor), tree.eigenvalues, strict=True))
    return _squared_norm(tree.column.l1, tree.column.l2_squared, definition) * variance


def bound(factor: Factor) -> float:
    norm = nuclear_norm(Workload((factor.size,), (Term(1.0, {0: factor}),), ""))
    assert norm is not None
    return norm**2 / factor.size


def searched(factor: Factor, definition: Definition) -> tuple[np.ndarray, float, float | None]:
    """The strategy, its loss, and the proved gap where there is one."""
    if definition is Definition.PURE:
        found = p_identity(factor)
        return found.strategy(), found.loss, None
    best = gaussian_optimum(factor)
    return best.strategy, best.loss, best.gap


def on_grid(strategy: np.ndarray, factor: Factor, definition: Definition, loss: float) -> float:
    """The relative gain in loss from the integer grid."""
    rows = MatrixRows.of(strategy, 20, definition)
    norm = _squared_norm(rows.column.l1, rows.column.l2_squared, definition)
    return norm * rows.trace(factor) / loss - 1


def ranges(factor: Factor, definition: Definition) -> Line:
    start = time.process_time()
    strategy, loss, gap = searched(factor, definition)
    seconds, kind = time.process_time() - start, type(factor).__name__
    return Line(
        f"{kind} {factor.size}",
        NOISE[definition],
        factor.queries,
        loss,
        seconds,
        factor.squares(),
        hierarchy_loss(factor, definition),
        bound(factor),
        HDMM.get((definition, kind, factor.size), (None, None)),
        gap,
        on_grid(strategy, factor, definition, loss) if factor.size <= _ON_GRID else None,
    )


def squared(line: Line, name: str) -> Line:
    """The same queries over each of two columns: all losses multiply."""

    def twice(value: float | None) -> float | None:
        return None if value is None else value**2

    return Line(
        name,
        line.noise,
        line.queries**2,
        line.loss**2,
        line.seconds,
        twice(line.identity),
        twice(line.hierarchy),
        twice(line.bound),
        (twice(line.published[0]), None),
        None if line.gap is None else (1 + line.gap) ** 2 - 1,
    )


def adult_marginals(columns: int) -> Line:
    workload, domain = all_marginals(ADULT, [columns]), domain_of(ADULT)
    start = time.process_time()
    plan = ResidualPlanner().plan(domain, workload, Loss(Definition.ZCDP, Fraction(1, 2)))
    seconds = time.process_time() - start
    return Line(
        f"Adult {columns}-way marginals",
        "Gaussian",
        workload.queries,
        plan.total_error,
        seconds,
        bound=plan.lower_bound,
        published=(PUBLISHED[columns,], None),
    )


def low_rank_line(queries: int, rank: int, cells: int) -> Line:
    random = np.random.default_rng(1)
    workload = random.normal(size=(queries, rank)) @ random.normal(size=(rank, cells))
    start = time.process_time()
    found = low_rank(workload)
    seconds, factor = time.process_time() - start, Explicit(workload)
    name = f"rank {rank}: {queries} x {cells}"
    grid = on_grid(found.strategy, factor, Definition.PURE, found.loss)
    return Line(
        name, "Laplace", queries, found.loss, seconds, factor.squares(), None, bound(factor), grid=grid
    )


def lines(largest: int) -> Iterator[Line]:
    for definition in Definition:
        for kind in KINDS:
            for n in (size for size in SIZES if size <= largest):
                line = ranges(kind(n), definition)
                yield line
                if (kind, n) == (AllRange, 256):
                    yield squared(line, "AllRange 256 x 256")
    for shape in ((64, 8, 256), (64, 16, 512), (64, 32, 1024)):
        yield low_rank_line(*shape)
    for columns in (2, 3):
        yield adult_marginals(columns)


def plans(domain: Domain, workload: Workload) -> Iterator[QueryPlan]:
    """By every strategy that suits the workload and needs no upload."""
    for mechanism in registry.QUERIES:
        if mechanism.name == UploadedStrategy.name or mechanism.refusal(domain, workload, EPSILON.definition):
            continue
        found = None
        if mechanism.optimises:
            found = mechanism.optimise(domain, workload, EPSILON.definition, lambda _done, _all: None)
        try:
            yield mechanism.plan(domain, workload, EPSILON, found)
        except PlanError:
            # Some strategies cannot answer some workloads, or not in memory; others are there to compare.
            continue


def beside_hdmm(case: Case) -> str:
    domain = Domain(tuple(Integer(c, upper=n - 1) for c, n in zip(ascii_lowercase, case.shape, strict=False)))
    workload = read_workload(case.text, domain)
    start = time.process_time()
    best = min(plans(domain, workload), key=lambda plan: plan.total_error)
    seconds = time.process_time() - start
    error = math.sqrt(best.total_error / best.noise.variance / workload.queries) * best.sensitivity.l1
    unit = law_for(EPSILON, Sensitivity(1, 1)).variance * workload.queries
    least = None if best.lower_bound is None else math.sqrt(best.lower_bound / unit)
    cells = [_number(n, ".4f") for n in (error, least, case.hdmm, error / case.hdmm)]
    return f"{case.name:<34}{best.mechanism:<24}" + "".join(f"{c:>10}" for c in (*cells, f"{seconds:.2f}"))


LARGE = (
    ("hierarchy-strategy", 'prefix("a")'),
    ("haar-strategy", 'prefix("a")'),
    ("hierarchy-strategy", 'width(365, "a")'),
    ("haar-strategy", 'width(365, "a")'),
    ("workload-strategy", 'prefix("a")'),
    ("workload-strategy", 'width(365, "a")'),
)


DIGEST = "ab" * 32
UPLOADED = ((20, 2**13), (1_000, 2**13), (20, 2**20))


def uploaded(queries: int, cells: int) -> str:
    """Queries from a file themselves, each of a random hundredth of the cells."""
    matrix = scipy.sparse.random_array(
        (queries, cells), density=0.01, rng=np.random.default_rng(1), format="csr"
    )
    matrix.data[:] = 1
    return large(
        "workload-strategy",
        f'uploaded("{DIGEST}", "a")',
        cells,
        {DIGEST: Explicit(matrix)},
        f"{queries:,} uploaded",
    )


def large(
    name: str, text: str, cells: int = 2**20, matrices: Matrices | None = None, called: str = ""
) -> str:
    domain = Domain((Integer("a", upper=cells - 1),))
    workload, mechanism = read_workload(text, domain, matrices), registry.query_mechanism(name)
    before, start = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, time.process_time()
    plan = mechanism.plan(domain, workload, EPSILON)
    seconds = time.process_time() - start
    grown = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024
    error = math.sqrt(plan.total_error / workload.queries)
    return f"{name:<24}{called or text:<20}{cells:>10,}{error:>14,.2f}{seconds:>10.2f}{grown:>10,.0f}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--largest", type=int, default=max(SIZES))
    parser.add_argument("--only", choices=("bounds", "published", "large"))
    arguments = parser.parse_args()
    if arguments.only in (None, "bounds"):
        print(HEADER)
        for line in lines(arguments.largest):
            print(line, flush=True)
    if arguments.only in (None, "published"):
        names = ("error", "bound", "HDMM", "ratio", "seconds")
        print(f"{'workload':<34}{'best strategy':<24}" + "".join(f"{name:>10}" for name in names))
        for case in CASES:
            print(beside_hdmm(case), flush=True)
    if arguments.only in (None, "large"):
        print(f"{'strategy':<24}{'workload':<20}{'cells':>10}{'error':>14}{'seconds':>10}{'MB':>10}")
        for measured, *of in (*((large, *line) for line in LARGE), *((uploaded, *line) for line in UPLOADED)):
            with ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn")) as pool:
                print(pool.submit(measured, *of).result(), flush=True)


if __name__ == "__main__":
    main()
