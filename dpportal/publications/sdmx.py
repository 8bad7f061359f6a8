"""A table of counts or totals as SDMX-CSV, which statistical offices exchange: a line for each observation.

Codes are those of the CSV file beside it, and those of `sdmx_codes` where it leaves a field empty. A structure message
says what dimensions and codes there are.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from csv import DictReader
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path

import pyarrow as pa
from pyarrow import compute, csv

from dpportal.publications.archive import BundleFile
from dpportal.publications.sdmx_structure import structure_file
from dpportal.publications.table import Table
from mechanisms.tabular.sdmx import AGENCY, MOST_CODES, VERSION, Layout, Observed, dataflow, structure_of
from mechanisms.tabular.sdmx_codes import ALIKE, EmptyFields
from mechanisms.tabular.sdmx_structure import Structure
from mechanisms.tabular.workbook_parts import MOST_LINES

_TEXT = pa.string()


@dataclass
class _Values:
    """What a column has. own: its values in order, as an ordered set; None where they are very many.

    alike: those that a code for empty fields could be taken for.
    """

    own: dict[str, None] | None = field(default_factory=dict)
    alike: set[str] = field(default_factory=set)

    def take(self, lines: pa.Array) -> None:
        """Take in more lines."""
        values = lines.unique().to_pylist()
        self.alike.update(filter(ALIKE.fullmatch, values))
        if self.own is not None:
            self.own |= dict.fromkeys(values)
            self.own = self.own if len(self.own) <= MOST_CODES else None


@dataclass(frozen=True)
class _ObservedTable:
    """A table whose observations are written. empty, codes: by column; no codes where they are very many."""

    table: Table
    layout: Layout
    flow: str
    empty: Mapping[str, EmptyFields]
    codes: Mapping[str, tuple[str, ...]]


def with_observations(tables: Sequence[Table], name: str, prepared: datetime) -> list[BundleFile]:
    """The files of all tables that hold observations, each with its structure.

    name: of the bundle, which the dataflow is called after. prepared: when what they hold was made.
    """
    files: list[BundleFile] = []
    for table in tables:
        if table.observed and (source := _source(table, name)) is not None:
            file = _observations(source)
            files += [file, structure_file(_structure(source), file.path.with_suffix(".json"), prepared)]
    return files


def _source(table: Table, name: str) -> _ObservedTable | None:
    """None for a table of more observations than a spreadsheet holds lines."""
    names = [str(field["name"]) for field in table.fields]
    layout = Layout.of(names, table.observed, table.aside, _first_begins(table.path))
    values = {column: _Values() for column in layout.dimensions.values()}
    lines = 1
    with _opened(table.path, list(values) or names[:1]) as reader:
        for batch in reader:
            lines += batch.num_rows * len(table.observed)
            if lines > MOST_LINES:
                return None
            for column, each in values.items():
                each.take(batch.column(column))
    empty = {name: table.empty.get(name, EmptyFields()).without(each.alike) for name, each in values.items()}
    codes = {name: empty[name].codes(each.own or ()) for name, each in values.items()}
    return _ObservedTable(table, layout, dataflow(table.path.stem, name), empty, codes)


def _observations(source: _ObservedTable) -> BundleFile:
    path = source.table.path.with_suffix(".sdmx.csv")
    with csv.CSVWriter(path, pa.schema([(column, _TEXT) for column in source.layout.header])) as writer:
        for batch in _batches(source):
            writer.write_batch(batch)
    return BundleFile(path, about_observations(source.table.path.name))


def about_observations(table: str) -> str:
    """What the file of observations beside a table is."""
    return (
        f"The same as {table}, as statistical offices exchange it (SDMX-CSV): _U for a missing value, _T for all "
        "groups together, _Z where nothing can be named"
    )


def _structure(source: _ObservedTable) -> Structure:
    """What the observations of a table are made of."""
    table, layout = source.table, source.layout
    titles = {str(field["name"]): str(field.get("title", field["name"])) for field in table.fields}
    named = {
        column: (titles[column], source.codes[column], source.empty[column])
        for column in layout.dimensions.values()
    }
    return structure_of(layout, table.observed, source.flow, table.about, named)


def _opened(path: Path, columns: Sequence[str]) -> csv.CSVStreamingReader:
    """Some columns of a table, as texts."""
    return csv.open_csv(
        path,
        parse_options=csv.ParseOptions(newlines_in_values=True, ignore_empty_lines=False),
        convert_options=_as_texts(columns),
    )


def _first_begins(path: Path) -> str:
    """When the period of the first line begins; empty where lines have none."""
    with path.open(encoding="utf-8", newline="") as file:
        return next(DictReader(file), {}).get("begins", "")


def _as_texts(columns: Sequence[str]) -> csv.ConvertOptions:
    return csv.ConvertOptions(
        column_types=dict.fromkeys(columns, _TEXT), strings_can_be_null=False, include_columns=list(columns)
    )


def _batches(source: _ObservedTable) -> Iterator[pa.RecordBatch]:
    """The observations of one statistic after the other."""
    for each in source.table.observed:
        columns = dict.fromkeys([*source.layout.dimensions.values(), *each.columns])
        with _opened(source.table.path, list(columns)) as reader:
            for batch in reader:
                yield _lines(batch, each, source)


def _lines(batch: pa.RecordBatch, each: Observed, source: _ObservedTable) -> pa.RecordBatch:
    def always(text: str) -> pa.Array:
        return pa.array([text] * batch.num_rows, _TEXT)

    layout = source.layout
    columns = [always("dataflow"), always(f"{AGENCY}:{source.flow}({VERSION})"), always("I")]
    columns += [_coded(batch, name, source.empty[name]) for name in layout.dimensions.values()]
    columns += [always(each.statistic.upper())] if layout.has_statistics else []
    numbers = (each.value, each.lower, each.upper, each.error)
    columns += [batch.column(name) if name else always("") for name in numbers]
    return pa.RecordBatch.from_arrays(columns, names=layout.header)


def _coded(batch: pa.RecordBatch, name: str, empty: EmptyFields) -> pa.Array:
    """A column with codes in its empty fields."""
    lines = batch.column(name)
    codes = pa.scalar(empty.code)
    if empty.by:
        is_other = compute.is_in(batch.column(empty.by), pa.array(sorted(empty.values)))
        codes = compute.if_else(is_other, empty.other, empty.code)
    return compute.if_else(compute.equal(lines, ""), codes, lines)
