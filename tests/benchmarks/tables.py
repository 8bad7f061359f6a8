"""How fast a table is read, stored and counted, with DuckDB's own COPY and counts, polars and pandas beside it.

Run: python -m tests.benchmarks.tables --rows 10_000_000 [--folder DIRECTORY] [--skip-pandas]
or: python -m tests.benchmarks.tables --files 10_000_000 30_000_000 100_000_000 [--folder DIRECTORY]
The second reads CSV and Parquet files of so many rows and 5 columns (an identifier among them) on one thread and on
two, beside DuckDB's COPY of the same file; the largest take 10 GB of disk.
The table has 4 columns (age, sex, region, income) and is made here; every step runs in a process of its own,
whose peak resident memory is that of the step. The seconds of the processor are those of the work itself, without
starting Python; only of storing they are all of the reading process. The rivals count columns that have types already.
polars needs a package of its own: pip install -r tests/benchmarks/rivals/requirements-polars.txt.
"""

from __future__ import annotations

import argparse
import multiprocessing
import resource
import time
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory

import duckdb
import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.csv

from dpportal.platform import cores
from dpportal.tables import ImportContext, Limits, Persons, convert, count_cells
from mechanisms.domain import Categorical, Domain, Integer, Real

CHUNK_ROWS = 1_000_000
KEY = b"a key of 32 bytes for benchmarks"
THREADS = cores.used()
REGIONS = tuple(f"Region {i:02d}" for i in range(15))
# 100 × 3 × 16 cells: sex and region have a cell for other values.
COLUMNS = (
    Integer("age", lower=0, upper=99),
    Categorical("sex", values=("Female", "Male")),
    Categorical("region", values=REGIONS),
)
SMALL = Domain((*COLUMNS[:1], *COLUMNS[2:], Real("income", lower=0.0, upper=100_000.0, bins=8)))
ALL_FOUR = Domain((*COLUMNS, Real("income", lower=0.0, upper=100_000.0, bins=3)))
WIDE = Domain((*COLUMNS, Real("income", lower=0.0, upper=100_000.0, bins=2_000)))


def write_csv(path: Path, rows: int) -> None:
    random = np.random.default_rng(1)
    with path.open("wb") as file:
        for start in range(0, rows, CHUNK_ROWS):
            n = min(CHUNK_ROWS, rows - start)
            table = pa.table(
                {
                    "age": random.integers(0, 100, n),
                    "sex": np.array(["Female", "Male"])[random.integers(0, 2, n)],
                    "region": np.array(REGIONS)[random.integers(0, len(REGIONS), n)],
                    "income": random.gamma(2, 20_000, n).round(2),
                }
            )
            pyarrow.csv.write_csv(table, file, pyarrow.csv.WriteOptions(include_header=start == 0))


def store(csv: Path, parquet: Path, sketch_key: bytes) -> str:
    facts = convert(csv, parquet, csv.name, context=ImportContext(sketch_key=sketch_key))
    return f"digest {facts.content_digest[:8]}, {parquet.stat().st_size / 2**20:,.0f} MB stored"


def copy(csv: Path, typed: Path, types: str) -> str:
    with duckdb.connect(config={"threads": THREADS}) as connection:
        connection.execute("SET enable_progress_bar = false")
        connection.execute(f"COPY (SELECT * FROM read_csv('{csv}'{types})) TO '{typed}' (FORMAT parquet)")
    return f"{typed.stat().st_size / 2**20:,.0f} MB stored"


def copy_and_digest(csv: Path, texts: Path) -> str:
    """The least that this engine needs for what is stored: all as texts, and an MD5 of each row."""
    said = copy(csv, texts, ", all_varchar=true")
    row = "concat(age, chr(31), income, chr(31), region, chr(31), sex)"
    with duckdb.connect(config={"threads": THREADS}) as connection:
        connection.execute("SET enable_progress_bar = false")
        connection.execute(f"SELECT sum(md5_number({row})::DOUBLE) FROM '{texts}'").fetchall()
    return said


def write_file(path: Path, rows: int) -> str:
    """A table with an identifier of each row's person, by DuckDB."""
    drawn = f"""
        SELECT (hash(row) % {rows})::BIGINT AS person, (hash(row + 1) % 100)::BIGINT AS age,
               CASE WHEN hash(row + 2) % 2 = 0 THEN 'Female' ELSE 'Male' END AS sex,
               'Region ' || lpad((hash(row + 3) % 15)::VARCHAR, 2, '0') AS region,
               (hash(row + 4) % 10000000) / 100.0 AS income
        FROM range({rows}) AS drawn(row)"""
    kind = "PARQUET" if path.suffix == ".parquet" else "CSV, HEADER"
    with duckdb.connect(config={"threads": THREADS}) as connection:
        connection.execute("SET enable_progress_bar = false")
        connection.execute(f"COPY ({drawn}) TO '{path}' (FORMAT {kind})")
    return f"{path.stat().st_size / 2**20:,.0f} MB"


def read_file(path: Path, target: Path, threads: int) -> str:
    facts = convert(
        path, target, path.name, context=ImportContext(sketch_key=KEY), limits=Limits(threads=threads)
    )
    return f"digest {facts.content_digest[:8]}, {target.stat().st_size / 2**20:,.0f} MB stored"


def copy_file(path: Path, target: Path, threads: int) -> str:
    with duckdb.connect(config={"threads": threads}) as connection:
        connection.execute("SET enable_progress_bar = false")
        connection.execute(f"COPY (SELECT * FROM '{path}') TO '{target}' (FORMAT parquet)")
    return f"{target.stat().st_size / 2**20:,.0f} MB stored"


def count(parquet: Path, domain: Domain) -> str:
    counts = count_cells(parquet, domain)
    return f"{domain.size:,} cells, {counts.sum():,} rows"


def count_units(parquet: Path) -> str:
    counts = count_cells(parquet, ALL_FOUR, persons=Persons("income", 2), key=b"benchmark")
    return f"{ALL_FOUR.size:,} cells, {counts.sum():,} rows kept"


def duckdb_count(typed: Path) -> str:
    income = "least(greatest(floor(income / 12500), 0), 7)"
    with duckdb.connect(config={"threads": THREADS}) as connection:
        connection.execute("SET enable_progress_bar = false")
        query = f"SELECT age, region, {income} AS bin, count(*) FROM '{typed}' GROUP BY ALL"
        return f"{len(connection.execute(query).fetchall()):,} cells met"


def polars_count(typed: Path) -> str:
    import polars

    income = (polars.col("income") / 12_500).floor().clip(0, 7)
    counted = polars.scan_parquet(typed).group_by("age", "region", income).len().collect()
    return f"{len(counted):,} cells met"


def pandas_count(csv: Path) -> str:
    frame = pd.read_csv(csv)
    frame["income"] = np.clip(frame["income"] // 33_333.4, 0, 2)
    return f"{len(frame.value_counts()):,} cells met"


def measured(step: Callable[..., str], *arguments: object) -> tuple[float, float, float, str]:
    """Seconds by the clock and of processor, peak memory in MB (of the step or its child), and what it says."""
    whose = resource.RUSAGE_CHILDREN if step in (store, read_file) else resource.RUSAGE_SELF
    before, start = resource.getrusage(whose), time.perf_counter()
    said = step(*arguments)
    seconds, used = time.perf_counter() - start, resource.getrusage(whose)
    processor = used.ru_utime + used.ru_stime - before.ru_utime - before.ru_stime
    return seconds, processor, used.ru_maxrss / 1024, said


def report(name: str, rows: int, step: Callable[..., str], *arguments: object) -> None:
    with ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn")) as pool:
        seconds, processor, memory, said = pool.submit(measured, step, *arguments).result()
    figures = f"{seconds:7.2f} | {processor:7.2f} | {rows / seconds / 1e6:6.2f} | {memory:7,.0f}"
    print(f"| {name:<34} | {figures} | {said} |", flush=True)


def report_files(folder: Path, sizes: list[int]) -> None:
    """Read files of each size and format on one thread and on two."""
    target = folder / "stored.parquet"
    print_head()
    for rows in sizes:
        for suffix in (".csv", ".parquet"):
            path = folder / f"table{suffix}"
            report(f"{rows:,} rows: write {suffix}", rows, write_file, path, rows)
            for threads in (1, 2):
                report(f"COPY {suffix}, threads: {threads}", rows, copy_file, path, target, threads)
                report(f"read {suffix}, threads: {threads}", rows, read_file, path, target, threads)
            path.unlink()


def print_head() -> None:
    print("| step | seconds | processor seconds | million rows/s | peak MB | |")
    print("|---|---:|---:|---:|---:|---|")


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--files", type=int, nargs="+", metavar="ROWS")
    parser.add_argument("--folder", type=Path)
    parser.add_argument("--skip-pandas", action="store_true")
    options = parser.parse_args()
    rows = options.rows
    with TemporaryDirectory(dir=options.folder) as folder:
        if options.files:
            report_files(Path(folder), options.files)
            return
        csv, parquet = Path(folder) / "table.csv", Path(folder) / "table.parquet"
        write_csv(csv, rows)
        print(f"{rows:,} rows × 4 columns, {csv.stat().st_size / 2**20:,.0f} MB of CSV\n")
        print_head()
        typed = Path(folder) / "typed.parquet"
        report("DuckDB's COPY, all as texts", rows, copy, csv, typed, ", all_varchar=true")
        report("the same, and an MD5 of each row", rows, copy_and_digest, csv, typed)
        report("DuckDB's COPY", rows, copy, csv, typed, "")
        report("CSV to stored Parquet with digest", rows, store, csv, parquet, b"")
        report("the same with sketch", rows, store, csv, parquet, KEY)
        report("DuckDB's count of three columns", rows, duckdb_count, typed)
        if find_spec("polars"):
            report("polars' count of three columns", rows, polars_count, typed)
        report("count three columns", rows, count, parquet, SMALL)
        report("count four columns", rows, count, parquet, ALL_FOUR)
        report("count four columns, many cells", rows, count, parquet, WIDE)
        report("count at most 2 rows of each unit", rows, count_units, parquet)
        if not options.skip_pandas:
            report("pandas read_csv + value_counts", rows, pandas_count, csv)


if __name__ == "__main__":
    main()
