"""What a histogram of many cells takes, step by step, from a stored table to its pages.

    python -m tests.benchmarks.cells --cells 1_000_000 10_000_000 100_000_000 [--rows 1_000_000] [--method NAME ...]

Every method that is offered at a size runs in a process of its own; the steps are those of a release's job, in its
order. Peaks are of resident memory during the step, with what the steps before it left. The last line of a method is
what a curator is told beforehand; a method that is not offered says why.
"""

from __future__ import annotations

import argparse
import hashlib
import multiprocessing
import os
import re
import sys
import time
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from datetime import UTC, datetime
from fractions import Fraction
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

import django
import numpy as np
import pyarrow as pa
import pyarrow.csv

from mechanisms import registry
from mechanisms.accounting import Definition, Loss, Neighbours, PrivacyUnit
from mechanisms.domain import Domain, Integer
from mechanisms.protocol import Plan, PlanError

UNIT = PrivacyUnit(Neighbours.ADD_REMOVE, 1)
AT = datetime(2026, 1, 1, tzinfo=UTC)


def domain_of(cells: int) -> Domain:
    """Three columns of whole numbers with about so many cells, such as 1000 × 1000 × 100."""
    side = round((cells * 10) ** (1 / 3))
    sizes = (side, side, max(1, round(cells / side**2)))
    names = ("east", "north", "height")
    return Domain(tuple(Integer(name, lower=0, upper=n - 1) for name, n in zip(names, sizes, strict=True)))


def write_table(path: Path, domain: Domain, rows: int) -> None:
    """A cloud of rows around the middle, as CSV."""
    random = np.random.default_rng(1)
    columns = {
        name: np.clip(random.normal(n / 2, n / 8, rows), 0, n - 1).astype(np.int64)
        for name, n in zip(domain.names, domain.shape, strict=True)
    }
    pyarrow.csv.write_csv(pa.table(columns), path)


def forget_peak() -> None:
    Path("/proc/self/clear_refs").write_text("5")


def peak_mb() -> float:
    """Largest resident memory since `forget_peak`."""
    found = re.search(r"VmHWM:\s+(\d+) kB", Path("/proc/self/status").read_text())
    assert found is not None
    return int(found[1]) / 1024


class Step(NamedTuple):
    """What a step took: seconds by the clock, seconds of processor, largest resident memory in MB."""

    name: str
    seconds: float
    processor: float
    peak: float


class Steps:
    """Runs steps and keeps what they took."""

    def __init__(self) -> None:
        self.found: list[Step] = []

    def __call__(self, name: str, step: Callable[[], Any]) -> Any:
        forget_peak()
        start, worked = time.perf_counter(), time.process_time()
        result = step()
        seconds, processor = time.perf_counter() - start, time.process_time() - worked
        self.found.append(Step(name, seconds, processor, peak_mb()))
        print(f"    {name}: {processor:.1f} s, {peak_mb():.0f} MiB", file=sys.stderr, flush=True)
        return result


def know_the_portal() -> None:
    os.environ["DJANGO_SETTINGS_MODULE"] = "tests.settings"
    django.setup()


def planned(name: str, domain: Domain) -> Plan:
    """Raises PlanError if the method is not offered."""
    mechanism = registry.mechanism(name)
    definition = Definition.PURE if Definition.PURE in mechanism.definitions else Definition.ZCDP
    return mechanism.plan(domain, {}, Loss(definition, Fraction(1), UNIT))


def foreseen(name: str, domain: Domain, rows: int) -> Step:
    """What a curator is told beforehand."""
    know_the_portal()
    from dpportal.releases.products.histogram.cost_estimate import job_cost

    about = job_cost(planned(name, domain), rows)
    return Step("foreseen", about.seconds, about.seconds, about.memory / 2**20)


def release(name: str, domain: Domain, table: Path, folder: Path) -> list[Step]:
    """The steps of one release. Raises PlanError if the method is not offered."""
    know_the_portal()
    from dpportal.publications.archive import BundleFile, write_zip
    from dpportal.releases.products.histogram import comparison, page, tables
    from dpportal.tables import count_cells
    from mechanisms.noise.secret import secret_noise
    from mechanisms.protocol import Measurement

    steps, mechanism = Steps(), registry.mechanism(name)
    plan = steps("plan", lambda: planned(name, domain))
    measured, true = folder / "measured.npy", folder / "true.npy"

    def measure(counts: np.ndarray) -> None:
        values = mechanism.measure(plan, counts, secret_noise()).values
        np.save(true, counts)
        np.save(measured, values)

    steps("count", lambda: np.save(true, count_cells(table, domain)))
    steps("measure, keep", lambda: measure(np.load(true)))
    values = np.asarray(np.load(measured, mmap_mode="r"))
    result = steps("reconstruct", lambda: mechanism.reconstruct(plan, Measurement(values)))
    seed = hashlib.sha256(b"benchmark").digest()
    written = steps("tables", lambda: tables.write(plan, result, seed, folder, mechanism.is_plain))
    files = [BundleFile.of(t) for t in written]
    steps("zip", lambda: write_zip(folder / "release.zip", files, AT, "release"))
    steps("public page", lambda: page.page(plan, result, None))
    steps("compare page", lambda: comparison.build(plan, result, np.asarray(np.load(true, mmap_mode="r"))))
    return steps.found


def attempted(name: str, domain: Domain, table: Path, folder: str) -> list[Step] | str:
    try:
        with TemporaryDirectory(dir=folder) as own:
            return release(name, domain, table, Path(own))
    except PlanError as refusal:
        return str(refusal)


def report(domain: Domain, name: str, table: Path, rows: int, folder: str) -> None:
    with ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn")) as pool:
        found = pool.submit(attempted, name, domain, table, folder).result()
    if isinstance(found, str):
        print(f"| {domain.size:,} | {name} | not offered | | | {found} |", flush=True)
        return
    whole = Step(
        "**all**", *(sum(step[i] for step in found) for i in (1, 2)), max(step.peak for step in found)
    )
    for step in [*found, whole, foreseen(name, domain, rows)]:
        figures = f"{step.seconds:.2f} | {step.processor:.2f} | {step.peak:,.0f}"
        print(f"| {domain.size:,} | {name} | {step.name} | {figures} |", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--cells", type=int, nargs="+", default=[10**6])
    parser.add_argument("--rows", type=int, default=10**6)
    parser.add_argument("--method", nargs="+", default=[m.name for m in registry.HISTOGRAMS])
    parser.add_argument("--folder")
    options = parser.parse_args()
    print("| cells | method | step | seconds | processor seconds | peak MB |\n|---:|---|---|---:|---:|---:|")
    with TemporaryDirectory(dir=options.folder) as folder:
        for cells in options.cells:
            from dpportal.tables import convert

            domain, csv, table = domain_of(cells), Path(folder) / "table.csv", Path(folder) / "table.parquet"
            write_table(csv, domain, options.rows)
            convert(csv, table, csv.name)
            for name in options.method:
                report(domain, name, table, options.rows, folder)


if __name__ == "__main__":
    main()
