"""A CSV or TSV file to a stored table."""
# ruff: noqa: S608 names and values are quoted by engine.identifier and engine.literal

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

import duckdb

from dpportal.datasets.rawdata import encoding
from dpportal.datasets.rawdata.dialect import Dialect, detect_dialect, sample_lines, sampled_records
from dpportal.datasets.rawdata.engine import connect, identifier, literal
from dpportal.datasets.rawdata.faults import UploadFault
from dpportal.datasets.rawdata.kinds import MISFIT, FieldReader
from dpportal.datasets.rawdata.locating import fits, refuse_broken_record
from dpportal.datasets.rawdata.options import MAX_LINE_BYTES, Limits, ReadOptions
from dpportal.datasets.rawdata.progress import Report
from dpportal.datasets.rawdata.table import Column, Kind, checked_names
from dpportal.datasets.rawdata.watching import watched

ROW_GROUP_ROWS = 122_880
WIDENINGS: dict[Kind, tuple[Kind, ...]] = {"integer": ("integer", "real")}


@dataclass(frozen=True)
class TextTable:
    """A text file that is understood: in UTF-8, its dialect, its names, each column's kind by the sample."""

    path: Path
    dialect: Dialect
    encoding: str
    header: bool
    names: tuple[str, ...]
    kinds: tuple[Kind, ...]
    reader: FieldReader
    remarks: tuple[str, ...]
    bytes_per_row: float

    @property
    def fields(self) -> list[str]:
        """SQL names of the fields as they are read, before they have a kind."""
        return [f"c{number}" for number in range(len(self.names))]

    def source(self) -> str:
        """SQL: the file's fields, all as text, in file order."""
        columns = ", ".join(f"'{field}': 'VARCHAR'" for field in self.fields)
        return (
            f"read_csv({literal(str(self.path))}, auto_detect=false, strict_mode=true, "
            f"columns={{{columns}}}, delim={literal(self.dialect.delimiter)}, quote='\"', escape='\"', "
            f"skip={self.dialect.skip}, header={str(self.header).lower()}, max_line_size={MAX_LINE_BYTES})"
        )

    def selection(self) -> str:
        """SQL: every column by name, as its kind."""
        columns = zip(self.kinds, self.fields, self.names, strict=True)
        return ", ".join(f"{self.reader.value(k, f)} AS {identifier(n)}" for k, f, n in columns)

    @property
    def expected_rows(self) -> int:
        return int(self.path.stat().st_size / self.bytes_per_row)

    def columns(self) -> tuple[Column, ...]:
        return tuple(map(Column, self.names, self.kinds, self.remarks))


def convert_csv(
    source: Path, target: Path, file_name: str, options: ReadOptions, limits: Limits, report: Report
) -> tuple[TextTable, int]:
    """Store a text file as Parquet; returns what was understood and the number of rows.

    Raises UploadFault with the row that cannot be read.
    """
    path, encoding_name = _as_text(source, target, options, report)
    table = understand(path, encoding_name, file_name, options, limits)
    with connect(target.parent, memory_bytes=limits.engine_bytes, threads=limits.threads) as connection:
        try:
            return _store(connection, table, target, report)
        except (duckdb.InvalidInputException, duckdb.ConversionException):
            # Mixed line ends or a late byte that is not UTF-8, perhaps: both are gone in a plain copy.
            path, encoding_name = _plain_copy(table, target, options, report)
        table = understand(path, encoding_name, file_name, options, limits)
        try:
            return _store(connection, table, target, report)
        except (duckdb.InvalidInputException, duckdb.ConversionException):
            # The engine's own words quote cells, so none of them is passed on.
            refuse_broken_record(table.path, table.dialect, len(table.names))


def understand(
    path: Path, encoding_name: str, file_name: str, options: ReadOptions, limits: Limits
) -> TextTable:
    """Find out dialect, names and kinds from samples. Raises UploadFault for names that cannot be."""
    sample = sample_lines(path)
    dialect = detect_dialect(sample, options, file_name)
    records = sampled_records(sample, dialect)
    if not records:
        refuse_broken_record(path, dialect, 1)
    header = (
        records[0] if options.header else [f"column_{number}" for number in range(1, len(records[0]) + 1)]
    )
    names = checked_names(header, limits.columns)
    rows = [record for record in records[options.header :] if fits(record, len(names))]
    reader = FieldReader(options, strip=dialect.strip)
    samples = [[row[number] for row in rows] for number in range(len(names))]
    kinds = tuple(map(reader.suggest, samples))
    remarks = tuple(map(reader.remark, kinds, samples))
    return TextTable(
        path, dialect, encoding_name, options.header, names, kinds, reader, remarks, sample.bytes_per_line
    )


def _as_text(source: Path, target: Path, options: ReadOptions, report: Report) -> tuple[Path, str]:
    """A UTF-8 file of the same text (the source itself if it can be), and the encoding it came from."""
    name = encoding.known_encoding(options.encoding) if options.encoding else encoding.marked_encoding(source)
    if name in (None, "utf-8", "utf-8-sig"):
        encoding.refuse_binary(source)
        if encoding.sample_is_utf8(source):
            return source, "utf-8"
        if name is None:
            return _transcoded(source, target, encoding.FALLBACKS, report)
    return _transcoded(source, target, (str(name),), report)


def _plain_copy(table: TextTable, target: Path, options: ReadOptions, report: Report) -> tuple[Path, str]:
    if options.encoding or encoding.is_utf8(table.path):
        copy, _ = _transcoded(table.path, target, ("utf-8-sig",), report)
        return copy, table.encoding
    return _transcoded(table.path, target, encoding.FALLBACKS, report)


def _transcoded(source: Path, target: Path, names: tuple[str, ...], report: Report) -> tuple[Path, str]:
    """A UTF-8 copy beside the target, read in the first of the encodings that fits."""
    copy = target.with_name(f"{names[0]}-{source.name}")
    *attempts, last = names
    for name in attempts:
        try:
            encoding.transcode(source, copy, name, lambda lines: report(lines, None))
        except UploadFault:
            continue
        return copy, name
    encoding.transcode(source, copy, last, lambda lines: report(lines, None))
    encoding.refuse_binary(copy)
    return copy, last


def _store(
    connection: duckdb.DuckDBPyConnection, table: TextTable, target: Path, report: Report
) -> tuple[TextTable, int]:
    """Write the Parquet file; a column with a value that its sample did not foretell changes its kind."""
    try:
        return table, _copy(connection, table, target, report)
    except duckdb.InvalidInputException as error:
        if str(error) != f"Invalid Input Error: {MISFIT}":
            raise
    table = replace(table, kinds=_fitting_kinds(connection, table, report))
    return table, _copy(connection, table, target, report)


def _copy(connection: duckdb.DuckDBPyConnection, table: TextTable, target: Path, report: Report) -> int:
    statement = (
        f"COPY (SELECT {table.selection()} FROM {table.source()}) TO {literal(str(target))} "
        f"(FORMAT parquet, COMPRESSION snappy, ROW_GROUP_SIZE {ROW_GROUP_ROWS})"
    )
    with watched(connection, report, table.expected_rows):
        [(rows,)] = connection.execute(statement).fetchall()
    return int(rows)


def _fitting_kinds(
    connection: duckdb.DuckDBPyConnection, table: TextTable, report: Report
) -> tuple[Kind, ...]:
    """For each column the narrowest kind that fits all its rows: its own, real for integers, or text."""
    tests = {
        (number, kind): f"count(*) FILTER (WHERE NOT {table.reader.fits(kind, field)})"
        for number, field in enumerate(table.fields)
        for kind in WIDENINGS.get(table.kinds[number], (table.kinds[number],))
        if kind != "text"
    }
    with watched(connection, report, table.expected_rows):
        [misfits] = connection.execute(f"SELECT {', '.join(tests.values())} FROM {table.source()}").fetchall()
    fitting = {key for key, count in zip(tests, misfits, strict=True) if count == 0}
    return tuple(
        next((kind for kind in ("boolean", "integer", "date", "real") if (number, kind) in fitting), "text")
        for number in range(len(table.names))
    )
