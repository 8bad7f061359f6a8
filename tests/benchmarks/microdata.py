"""What a synthetic table takes, step by step, from a stored table to its pages, beside what is foreseen.

    python -m tests.benchmarks.microdata [--shapes 14x30x1_000_000 60x10x50_000 ...] [--method NAME ...] [--rho 0.015]

A shape is columns × values × people, who are made up (`mechanisms.microdata.made_up_people`). Every release runs in a
process of its own, as a worker's job does, with the steps of a job in their order. Seconds are the processor's, peaks
of resident memory. The last columns are what a curator is told beforehand, over what was taken.
"""

from __future__ import annotations

import argparse
import multiprocessing
import os
from concurrent.futures import ProcessPoolExecutor
from fractions import Fraction
from pathlib import Path
from tempfile import TemporaryDirectory

# Before numpy is loaded: products of small matrices are fastest on one thread.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import numpy as np
import pyarrow as pa
import pyarrow.csv

from mechanisms.accounting import Definition, Loss
from mechanisms.domain import Attribute, Categorical, Domain, Integer
from mechanisms.microdata.made_up_people import drawn
from mechanisms.microdata.plan import MicrodataPlan
from mechanisms.microdata.wishes import Wishes
from mechanisms.protocol import Measurement, PlanError
from mechanisms.registry import MICRODATA, microdata
from tests.benchmarks.cells import Step, Steps, know_the_portal

SHAPES = (
    "2x200x1_000_000",
    "5x20x1_000",
    "14x30x1_000",
    "14x30x50_000",
    "14x30x1_000_000",
    "30x60x100_000",
    "60x10x50_000",
    "250x4x10_000",
)
OFFERED = [method.name for method in MICRODATA if not method.missing]


def domain_of(columns: int, values: int) -> Domain:
    """Whole numbers and categories in turn."""
    return Domain(tuple(_attribute(f"c{j}", values, j % 2 == 0) for j in range(columns)))


def _attribute(name: str, values: int, ordered: bool) -> Attribute:
    if ordered:
        return Integer(name, lower=0, upper=values - 1)
    return Categorical(name, values=tuple(map(str, range(values))), closed=True, misfits_to=0)


def write_table(path: Path, domain: Domain, people: int) -> None:
    rows = drawn(domain, people, np.random.default_rng(1))
    pyarrow.csv.write_csv(pa.table({name: rows[:, j] for j, name in enumerate(domain.names)}), path)


def planned(name: str, domain: Domain, rho: str) -> MicrodataPlan:
    """Raises PlanError if the method is not offered."""
    return microdata(name).plan(domain, Wishes(), Loss(Definition.ZCDP, Fraction(rho)))


def release(plan: MicrodataPlan, table: Path, folder: Path) -> list[Step]:
    """The steps of one release."""
    know_the_portal()
    from dpportal.datasets.rawdata import count_tables, packed_rows
    from dpportal.releases.products.microdata import comparison, page, tables
    from mechanisms.noise import Noise

    steps, method = Steps(), microdata(plan.mechanism)

    def count() -> np.ndarray:
        counts = count_tables(table, plan.domain, [*plan.counted, *comparison.further_tables(plan)])
        if method.whole_rows:
            counts = np.concatenate([counts[: plan.cells], packed_rows(table, plan.domain)])
        return counts

    counts = steps("count", count)
    used = counts if method.whole_rows else counts[: plan.cells]
    values = steps("measure", lambda: method.measure(plan, used, Noise()).values)
    result = steps("reconstruct", lambda: method.reconstruct(plan, Measurement(values)))
    steps("tables", lambda: tables.write(plan, result, bytes(32), folder))
    steps("public page", lambda: page.page(plan, result))
    if not method.whole_rows:
        steps("compare page", lambda: comparison.build(plan, result, counts))
    return steps.found


def attempted(plan: MicrodataPlan, table: Path, folder: str) -> list[Step]:
    with TemporaryDirectory(dir=folder) as own:
        return release(plan, table, Path(own))


def foreseen(plan: MicrodataPlan, people: int) -> tuple[float, float]:
    """Seconds and MiB that a curator is told."""
    know_the_portal()
    from dpportal.releases.products.microdata.foresight import effort

    about = effort(plan, people)
    return about.seconds, about.memory / 2**20


def report(shape: str, plan: MicrodataPlan, people: int, table: Path, folder: str) -> None:
    with ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn")) as pool:
        found = pool.submit(attempted, plan, table, folder).result()
    seconds, peak = sum(step.processor for step in found), max(step.peak for step in found)
    told = foreseen(plan, people)
    each = ", ".join(f"{step.name} {step.processor:.1f}" for step in found)
    time = f"{seconds:.1f} | {told[0]:.1f} | {told[0] / seconds:.2f}"
    memory = f"{peak:.0f} | {told[1]:.0f} | {told[1] / peak:.2f}"
    print(f"| {shape} | {plan.mechanism} | {time} | {memory} | {each} |", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--shapes", nargs="+", default=SHAPES)
    parser.add_argument("--method", nargs="+", default=OFFERED)
    parser.add_argument("--rho", default="0.014973058")
    options = parser.parse_args()
    print("| shape | method | seconds | foreseen | ratio | peak MiB | foreseen | ratio | seconds of steps |")
    print("|---|---|---:|---:|---:|---:|---:|---:|---|")
    know_the_portal()
    from dpportal.datasets.rawdata import convert

    for shape in options.shapes:
        columns, values, people = map(int, shape.split("x"))
        with TemporaryDirectory() as folder:
            domain, csv, table = (
                domain_of(columns, values),
                Path(folder) / "table.csv",
                Path(folder) / "table.parquet",
            )
            write_table(csv, domain, people)
            convert(csv, table, csv.name)
            for name in options.method:
                try:
                    plan = planned(name, domain, options.rho)
                except PlanError as refusal:
                    print(f"| {shape} | {name} | not offered: {refusal} |")
                    continue
                report(shape, plan, people, table, folder)


if __name__ == "__main__":
    main()
