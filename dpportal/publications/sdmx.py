"""A table of counts or totals as SDMX-CSV, which statistical offices exchange: a line for each observation.

Codes are those of the CSV file beside it. A structure message says what dimensions and codes there are.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from csv import DictReader
from datetime import datetime
from pathlib import Path

import pyarrow as pa
from pyarrow import csv

from dpportal.publications.archive import BundleFile
from dpportal.publications.sdmx_structure import structure_file
from dpportal.publications.table import Table
from mechanisms.tabular.sdmx import AGENCY, MOST_CODES, VERSION, Layout, Observed, dataflow, structure_of
from mechanisms.tabular.sdmx_structure import Structure
from mechanisms.tabular.workbook_parts import MOST_LINES

_TEXT = pa.string()


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
    flow = f"{AGENCY}:{dataflow(table.path.stem, name)}({VERSION})"
    lines = 1
    with csv.CSVWriter(path, pa.schema([(column, _TEXT) for column in layout.header])) as writer:
        for batch in _batches(table, layout, flow):
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


def _structure(table: Table, name: str) -> Structure:
    """What the observations of a table are made of."""
    layout, flow = _layout(table), dataflow(table.path.stem, name)
    titles = {str(field["name"]): str(field.get("title", field["name"])) for field in table.fields}
    named = {column: (titles[column], _values(table.path, column)) for column in layout.dimensions.values()}
    return structure_of(layout, table.observed, flow, table.about, named)


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


def _layout(table: Table) -> Layout:
    names = [str(field["name"]) for field in table.fields]
    return Layout.of(names, table.observed, table.aside, _first_begins(table.path))


def _first_begins(path: Path) -> str:
    """When the period of the first line begins; empty where lines have none."""
    with path.open(encoding="utf-8", newline="") as file:
        return next(DictReader(file), {}).get("begins", "")


def _as_texts(columns: Sequence[str]) -> csv.ConvertOptions:
    return csv.ConvertOptions(
        column_types=dict.fromkeys(columns, _TEXT), strings_can_be_null=False, include_columns=list(columns)
    )


def _batches(table: Table, layout: Layout, flow: str) -> Iterator[pa.RecordBatch]:
    """The observations of one statistic after the other."""
    for each in table.observed:
        wanted = dict.fromkeys([*layout.dimensions.values(), *each.columns])
        with _opened(table.path, list(wanted)) as reader:
            for batch in reader:
                yield _lines(batch, each, layout, flow)


def _lines(batch: pa.RecordBatch, each: Observed, layout: Layout, flow: str) -> pa.RecordBatch:
    def always(text: str) -> pa.Array:
        return pa.array([text] * batch.num_rows, _TEXT)

    def column(name: str) -> pa.Array:
        return batch.column(name) if name else always("")

    columns = [always("dataflow"), always(flow), always("I")]
    columns += [column(name) for name in layout.dimensions.values()]
    columns += [always(each.statistic.upper())] if layout.has_statistics else []
    columns += [column(name) for name in (each.value, each.lower, each.upper, each.error)]
    return pa.RecordBatch.from_arrays(columns, names=layout.header)
