"""A table of counts or totals as SDMX-CSV, which statistical offices exchange: a line for each observation.

Every column that names cells is a dimension; an estimate is OBS_VALUE, and its interval and standard error are
attributes. Codes are those of the CSV file beside it. A structure message says what dimensions and codes there are.

Source: SDMX 3.0, SDMX-CSV 2.0.0 field guide.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from csv import DictReader
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

import pyarrow as pa
from pyarrow import csv

from dpportal.publications.archive import BundleFile
from dpportal.publications.sdmx_structure import MEASURE, TIME, Dimension, Structure, structure_file
from dpportal.publications.table import Observed, Table
from dpportal.publications.workbook import MOST_LINES

AGENCY, VERSION = "DPPORTAL", "1.0.0"
STRUCTURE = ("STRUCTURE", "STRUCTURE_ID", "ACTION")
ABOUT_ATTRIBUTES = {
    "LOWER_BOUND": "Lower end of the 95 % interval",
    "UPPER_BOUND": "Upper end of the 95 % interval",
    "STANDARD_ERROR": "Standard error of the noise",
}
ATTRIBUTES = (MEASURE, *ABOUT_ATTRIBUTES)
# Names of columns that are no dimension.
TAKEN = {*STRUCTURE, "STATISTIC", *ATTRIBUTES}
# What an identifier of SDMX may be.
_IDENTIFIER = re.compile(r"[A-Za-z][A-Za-z0-9_]*")
_DAYS = re.compile(r"[0-9]{4}-[0-9]{2}(-[0-9]{2})?")
_TEXT = pa.string()
# Of a dimension with more values they are not listed.
MOST_CODES = 10_000


@dataclass(frozen=True)
class _Layout:
    """dimensions: columns of the CSV file, by the identifiers that they get."""

    dimensions: dict[str, str]
    has_statistics: bool

    @property
    def header(self) -> list[str]:
        statistic = ["STATISTIC"] if self.has_statistics else []
        return [*STRUCTURE, *self.dimensions, *statistic, *ATTRIBUTES]


def with_observations(tables: Sequence[Table], name: str, prepared: datetime) -> list[BundleFile]:
    """The files of all tables that hold observations, each with its structure.

    name: of the bundle, which the dataflow is called after. prepared: when what they hold was made.
    """
    files: list[BundleFile] = []
    for table in tables:
        if table.observed and (file := observations(table, name)) is not None:
            files += [file, structure_file(_structure(table, name), file.path.with_suffix(".json"), prepared)]
    return files


def observations(table: Table, name: str) -> BundleFile | None:
    """The observations of a table beside it; None if they are more than a spreadsheet holds lines."""
    path = table.path.with_suffix(".sdmx.csv")
    layout = _layout(table)
    dataflow = f"{AGENCY}:{_dataflow(table, name)}({VERSION})"
    lines = 1
    with csv.CSVWriter(path, pa.schema([(column, _TEXT) for column in layout.header])) as writer:
        for batch in _batches(table, layout, dataflow):
            lines += batch.num_rows
            if lines > MOST_LINES:
                break
            writer.write_batch(batch)
    if lines > MOST_LINES:
        path.unlink()
        return None
    return BundleFile(path, about_observations(table.path.name))


def about_observations(table: str) -> str:
    """What the file of observations beside a table is."""
    return f"The same as {table}, as statistical offices exchange it (SDMX-CSV)"


def _dataflow(table: Table, name: str) -> str:
    return _identifier(f"{name}_{table.path.stem}", "TABLE")


def _structure(table: Table, name: str) -> Structure:
    """What the observations of a table are made of."""
    layout = _layout(table)
    titles = {str(field["name"]): str(field.get("title", field["name"])) for field in table.fields}
    dimensions = [
        Dimension(own, titles[column], _values(table.path, column))
        for own, column in layout.dimensions.items()
    ]
    if layout.has_statistics:
        statistics = tuple(each.statistic.upper() for each in table.observed)
        dimensions.append(Dimension("STATISTIC", "What is estimated", statistics))
    return Structure(AGENCY, _dataflow(table, name), VERSION, table.about, dimensions, ABOUT_ATTRIBUTES)


def _values(path: Path, column: str) -> tuple[str, ...]:
    """The values of a column, in their order; none where one is missing, or where they are very many."""
    found: dict[str, None] = {}
    with _opened(path, [column]) as reader:
        for batch in reader:
            found |= dict.fromkeys(batch.column(0).unique().to_pylist())
            if len(found) > MOST_CODES:
                return ()
    return () if "" in found else tuple(found)


def _opened(path: Path, columns: Sequence[str]) -> csv.CSVStreamingReader:
    """Some columns of a table, as texts."""
    return csv.open_csv(
        path,
        parse_options=csv.ParseOptions(newlines_in_values=True, ignore_empty_lines=False),
        convert_options=_as_texts(columns),
    )


def _layout(table: Table) -> _Layout:
    numbers = {column for each in table.observed for column in each.columns}
    known = {"begins": TIME} if _first_begins(table.path) else {}
    named = [
        str(f["name"]) for f in table.fields if f["name"] not in numbers and f["name"] not in table.aside
    ]
    dimensions: dict[str, str] = {}
    for place, name in enumerate(named, 1):
        own = known.get(name, _identifier(name, f"DIMENSION_{place}"))
        while own in dimensions or own in TAKEN:
            own = f"{own}_{place}"
        dimensions[own] = name
    return _Layout(dimensions, len(table.observed) > 1)


def _first_begins(path: Path) -> bool:
    """Whether the first line says when a period begins, as SDMX writes times."""
    with path.open(encoding="utf-8", newline="") as file:
        first = next(DictReader(file), {})
    return bool(_DAYS.fullmatch(first.get("begins", "")))


def _identifier(name: str, otherwise: str) -> str:
    plain = re.sub(r"[-.]", "_", name)
    return plain.upper() if _IDENTIFIER.fullmatch(plain) else otherwise


def _as_texts(columns: Sequence[str]) -> csv.ConvertOptions:
    return csv.ConvertOptions(
        column_types=dict.fromkeys(columns, _TEXT), strings_can_be_null=False, include_columns=list(columns)
    )


def _batches(table: Table, layout: _Layout, dataflow: str) -> Iterator[pa.RecordBatch]:
    """The observations of one statistic after the other."""
    for each in table.observed:
        wanted = dict.fromkeys([*layout.dimensions.values(), *each.columns])
        with _opened(table.path, list(wanted)) as reader:
            for batch in reader:
                yield _lines(batch, each, layout, dataflow)


def _lines(batch: pa.RecordBatch, each: Observed, layout: _Layout, dataflow: str) -> pa.RecordBatch:
    def always(text: str) -> pa.Array:
        return pa.array([text] * batch.num_rows, _TEXT)

    def column(name: str) -> pa.Array:
        return batch.column(name) if name else always("")

    columns = [always("dataflow"), always(dataflow), always("I")]
    columns += [column(name) for name in layout.dimensions.values()]
    columns += [always(each.statistic.upper())] if layout.has_statistics else []
    columns += [column(name) for name in (each.value, each.lower, each.upper, each.error)]
    return pa.RecordBatch.from_arrays(columns, names=layout.header)
