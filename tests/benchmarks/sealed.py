"""What sealing costs: the processor's time of storing and counting a table, sealed and plain.

Run: python -m tests.benchmarks.sealed [--rows 1_000_000] [--repeats 5] [--folder DIRECTORY]
The table is that of `tables`; each row of the print is a median over the repeats, sealed and plain by turns.
"""

from __future__ import annotations

import argparse
import resource
import statistics
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

from dpportal.platform.sealed_files import FilePath, SealedPath, new_key
from dpportal.tables import Persons, convert, count_cells
from mechanisms.domain import Domain
from tests.benchmarks.tables import ALL_FOUR, COLUMNS, KEY, SMALL, write_csv

STEPS: dict[str, Callable[[FilePath], object]] = {
    "count one column": lambda table: count_cells(table, Domain(COLUMNS[:1])),
    "count two columns": lambda table: count_cells(table, Domain(COLUMNS[1:])),
    "count three columns, one of them real": lambda table: count_cells(table, SMALL),
    "count four columns": lambda table: count_cells(table, ALL_FOUR),
    "count by person (spills a scratch file)": lambda table: count_cells(
        table, Domain(COLUMNS[:1]), persons=Persons("region", 1000, False), key=KEY
    ),
}


def seconds(act: Callable[[], object]) -> float:
    """The processor's time of this process and of those that it waited for, in seconds."""
    before = _used()
    act()
    return _used() - before


def _used() -> float:
    both = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return sum(each.ru_utime + each.ru_stime for each in both)


def table_of(rows: int, folder: Path) -> tuple[Path, Path, SealedPath, SealedPath]:
    """The CSV file and the stored table, each plain and sealed."""
    csv, plain = folder / "table.csv", folder / "plain.parquet"
    write_csv(csv, rows)
    sealed = SealedPath(folder / "sealed.parquet", new_key(), "records/a/table.parquet")
    upload = replace(sealed, path=folder / "sealed.original", bound_to="records/a/upload.original")
    with csv.open("rb") as source, upload.open("wb") as target:
        while piece := source.read(1 << 20):
            target.write(piece)
    return csv, plain, upload, sealed


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--folder", type=Path)
    given = parser.parse_args()
    with TemporaryDirectory(dir=given.folder) as folder:
        csv, plain, upload, sealed = table_of(given.rows, Path(folder))
        print(f"{given.rows:,} rows; seconds of the processor")
        print(f"{'':<42}{'plain':>8}{'sealed':>8}{'more':>7}")
        stored = lambda source, target: lambda: convert(source, target, "table.csv")  # noqa: E731
        show("read CSV and store", stored(csv, plain), stored(upload, sealed), given.repeats)
        for name, step in STEPS.items():
            show(name, lambda step=step: step(plain), lambda step=step: step(sealed), given.repeats)


def show(name: str, plain: Callable[[], object], sealed: Callable[[], object], repeats: int) -> None:
    """Print a row, after one repeat that is not counted."""
    pairs = [(seconds(plain), seconds(sealed)) for _ in range(repeats + 1)][1:]
    one, other = (statistics.median(column) for column in zip(*pairs, strict=True))
    print(f"{name:<42}{one:>8.3f}{other:>8.3f}{other / one - 1:>7.0%}")


if __name__ == "__main__":
    main()
