"""What a synthetic table takes, step by step, from a stored table to its pages, beside what is foreseen.

    python -m tests.benchmarks.microdata [--shapes 14x30x1_000_000 60x10x50_000 ...] [--method NAME ...] [--rho 0.015]

A shape is columns × values × people, who are made up (`mechanisms.microdata.simulated_rows`). Every release runs in a
process of its own, as a worker's job does, with the steps of a job in their order: what it counts, all files of its
download, its pages and the curator's. Seconds are the processor's, peaks of resident memory. The last columns are what
a curator is told beforehand, over what was taken; each step has its seconds and its peak, and is printed as it ends.
"""

from __future__ import annotations

import argparse
import json
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
from mechanisms.microdata.cell_rows import empty_rows
from mechanisms.microdata.constraints import Wishes
from mechanisms.microdata.plan import MicrodataPlan, MicrodataResult
from mechanisms.microdata.quality import table_of_rows
from mechanisms.microdata.simulated_rows import simulated_rows
from mechanisms.microdata.tables import PairTables
from mechanisms.microdata.whole_rows import WholeRows
from mechanisms.protocol import Measurement, PlanError
from mechanisms.registry import MICRODATA, microdata
from tests.benchmarks.cells import AT, Step, Steps, know_the_portal

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
    rows = simulated_rows(domain, people, np.random.default_rng(1))
    pyarrow.csv.write_csv(pa.table({name: rows[:, j] for j, name in enumerate(domain.names)}), path)


def planned(name: str, domain: Domain, rho: str) -> MicrodataPlan:
    """Raises PlanError if the method is not offered."""
    return microdata(name).plan(domain, Wishes(), Loss(Definition.ZCDP, Fraction(rho)))


def release(plan: MicrodataPlan, table: Path, folder: Path | None, people: int) -> list[Step]:
    """The steps of one release. folder: for its files, if they are to be written."""
    know_the_portal()
    from dpportal.releases.products.microdata import comparison, page
    from mechanisms.noise.secret import secret_noise

    steps, method = Steps(), microdata(plan.mechanism)
    further = (plan.domain.project(list(columns)) for columns in comparison.further_tables(plan))
    end = plan.cells + sum(table.size for table in further)
    counts = steps("count", lambda: count(plan, table))
    used = np.concatenate([counts[: plan.cells], counts[end:]]) if method.whole_rows else counts[: plan.cells]
    values = steps("measure", lambda: method.measure(plan, used, secret_noise()).values)
    result = steps("reconstruct", lambda: method.reconstruct(plan, Measurement(values)))
    if folder is not None:
        write_files(plan, result, folder, steps)
    kept = plan.of_columns(result.columns).domain
    steps("public page", lambda: json.dumps(page.page(plan, result, None, bytes(32))))
    steps("compare page", lambda: json.dumps(comparison.build(plan, result, counts[:end])))
    steps("nearest rows", lambda: nearest(kept, result, table, people))
    return steps.found


def write_files(plan: MicrodataPlan, result: MicrodataResult, folder: Path, steps: Steps) -> None:
    """Those of the download whose size follows from the data."""
    from dpportal.publications.archive import BundleFile, write_zip
    from dpportal.publications.workbook import workbook
    from dpportal.releases.products.microdata import measured, tables
    from mechanisms.tabular.headers import Headers

    written = steps("tables", lambda: tables.write(plan, result, bytes(32), folder))
    kept = plan.of_columns(result.columns).domain
    written += steps("counts", lambda: measured.write(kept, result, Headers.of(plan.domain), folder))
    books = steps("workbooks", lambda: [workbook(each) for each in written])
    files = [*map(BundleFile.of, written), *filter(None, books)]
    steps("zip", lambda: write_zip(folder / "release.zip", files, AT, "release"))


def count(plan: MicrodataPlan, table: Path) -> np.ndarray:
    """As the product counts. table: as it is stored, or people as they are made up."""
    from dpportal.releases.products.microdata import comparison
    from dpportal.tables import count_tables, packed_rows

    whole_rows, further = microdata(plan.mechanism).whole_rows, comparison.further_tables(plan)
    if table.suffix == ".parquet":
        counts = count_tables(table, plan.domain, [*plan.counted, *further])
        return np.concatenate([counts, packed_rows(table, plan.domain)]) if whole_rows else counts
    rows, names = np.load(table, mmap_mode="r"), plan.domain.names
    pairs = PairTables(plan.domain.shape)
    of_pairs = pairs.of_rows(rows)
    counts = of_pairs if plan.pairwise else np.concatenate([pairs.columns(of_pairs), of_pairs])
    triples = [[names.index(name) for name in columns] for columns in further if len(columns) == 3]
    counts = np.concatenate([counts, *(table_of_rows(rows, plan.domain.shape, c).ravel() for c in triples)])
    return np.concatenate([counts, WholeRows(plan.domain.shape).pack(rows)]) if whole_rows else counts


def write_people(path: Path, domain: Domain, people: int) -> None:
    """In as little memory as synthetic rows."""
    rows = empty_rows(people, domain.shape)
    rows[:] = simulated_rows(domain, people, np.random.default_rng(1))
    np.save(path, rows)


def nearest(domain: Domain, result: MicrodataResult, table: Path, people: int) -> None:
    """What the compare page says of real rows."""
    from dpportal.releases.products.microdata import assessment
    from dpportal.tables import sample_cells
    from dpportal.tables.meaning.parse_options import ReadOptions

    if table.suffix == ".parquet":
        real = sample_cells(table, domain, ReadOptions().settled(), rows=people, most=assessment.MOST_ROWS)
    else:
        real = np.load(table, mmap_mode="r")[: assessment.MOST_ROWS].astype(np.int64)
    assessment.assess(domain, "", result.rows, real)


def attempted(plan: MicrodataPlan, table: Path, folder: str | None, people: int) -> list[Step]:
    if folder is None:
        return release(plan, table, None, people)
    with TemporaryDirectory(dir=folder) as own:
        return release(plan, table, Path(own), people)


def foreseen(plan: MicrodataPlan, people: int) -> tuple[float, float]:
    """Seconds and MiB that a curator is told."""
    know_the_portal()
    from dpportal.releases.products.microdata.cost_estimate import job_cost

    about = job_cost(plan, people)
    return about.seconds, about.memory / 2**20


def report(shape: str, plan: MicrodataPlan, people: int, table: Path, folder: str | None) -> None:
    with ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn")) as pool:
        found = pool.submit(attempted, plan, table, folder, people).result()
    seconds, peak = sum(step.processor for step in found), max(step.peak for step in found)
    told = foreseen(plan, people)
    each = ", ".join(f"{step.name} {step.processor:.1f} ({step.peak:.0f})" for step in found)
    time = f"{seconds:.1f} | {told[0]:.1f} | {told[0] / seconds:.2f}"
    memory = f"{peak:.0f} | {told[1]:.0f} | {told[1] / peak:.2f}"
    print(f"| {shape} | {plan.mechanism} | {time} | {memory} | {each} |", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--shapes", nargs="+", default=SHAPES)
    parser.add_argument("--method", nargs="+", default=OFFERED)
    parser.add_argument("--no-files", action="store_true", help="leave out the files of the download")
    parser.add_argument(
        "--no-table", action="store_true", help="count people as they are made up; read nothing"
    )
    parser.add_argument("--rho", default="0.014973058")
    options = parser.parse_args()
    print(
        "| shape | method | seconds | foreseen | ratio | peak MiB | foreseen | ratio | steps: seconds (peak MiB) |"
    )
    print("|---|---|---:|---:|---:|---:|---:|---:|---|")
    know_the_portal()
    from dpportal.tables import convert

    for shape in options.shapes:
        columns, values, people = map(int, shape.split("x"))
        with TemporaryDirectory() as folder:
            domain, table = domain_of(columns, values), Path(folder) / "people.npy"
            if options.no_table:
                write_people(table, domain, people)
            else:
                csv, table = Path(folder) / "table.csv", Path(folder) / "table.parquet"
                write_table(csv, domain, people)
                convert(csv, table, csv.name)
            for name in options.method:
                try:
                    plan = planned(name, domain, options.rho)
                except PlanError as refusal:
                    print(f"| {shape} | {name} | not offered: {refusal} |")
                    continue
                report(shape, plan, people, table, None if options.no_files else folder)


if __name__ == "__main__":
    main()
