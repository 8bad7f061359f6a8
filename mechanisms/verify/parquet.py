"""Whether a Parquet file has the rows of its CSV file: columns, types, values, and nothing else said of them.

A value of a dictionary that no row has, or bytes within a page, no reader shows. So the rows are written anew, and the
file has to be the same but for the version of the program that wrote it.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterator, Mapping
from typing import Any

from mechanisms.inert_text import inert
from mechanisms.verify.bundle import Bundle
from mechanisms.verify.finding import Finding, State

ENDING = ".parquet"
OTHERWISE = "it has more in it than its rows, or was packed by another program than here by pyarrow"
NEEDS = "it takes the package pyarrow: pip install pyarrow"
# The first and the last bytes, and the size of what stands between the last column and these.
_MAGIC, _TAIL = 4, 8
# How a portal packs columns, and how a file names its program, after the length of that.
_PACKED, _PROGRAM = "zstd", re.compile(rb".parquet-cpp-arrow version [0-9.]+", re.DOTALL)
_TYPES = {"integer": "int64", "number": "double", "boolean": "bool", "date": "date32[day]"}


def check(bundle: Bundle, name: str, kinds: Mapping[str, str]) -> Finding:
    """kinds: of the columns of its CSV file, as its data package says."""
    table = name.removesuffix(ENDING) + ".csv"
    try:
        import pyarrow.parquet
    except ImportError:
        return Finding(name, State.NOT_CHECKED, NEEDS)
    if table not in bundle.entries:
        return Finding.of(name, "there is no table that it is the same as", "")
    content, is_same = bundle.content(name), True
    try:
        file = pyarrow.parquet.ParquetFile(io.BytesIO(content))
        fault = _fault_of_frame(file, content, bundle) or _fault_of_rows(file, bundle, table, kinds)
        is_same = bool(fault) or _without_program(content) == _without_program(_rewritten(file))
    except (pyarrow.ArrowException, OSError):
        fault = "it cannot be read"
    if not is_same:
        return Finding(name, State.NOT_CHECKED, f"{OTHERWISE} {pyarrow.__version__}")
    return Finding.of(
        name, fault, f"{file.metadata.num_rows:,} rows are those of {table}" if not fault else ""
    )


def _fault_of_frame(file: Any, content: bytes, bundle: Bundle) -> str:
    """Whether nothing is said beside the rows, and no byte stands between them."""
    about = file.metadata
    if set(about.metadata or {}) - {b"ARROW:schema"} or file.schema_arrow.metadata:
        return "it has further texts"
    if any(
        field.metadata for field in file.schema_arrow if set(field.metadata or {}) - {b"PARQUET:field_id"}
    ):
        return "a column has further texts"
    if about.created_by != f"parquet-cpp-arrow version {bundle.release['versions']['pyarrow']}":
        return "it was written by another program than release.json says"
    at = _MAGIC
    for group in range(about.num_row_groups):
        for place in range(about.num_columns):
            chunk = about.row_group(group).column(place)
            begin = chunk.dictionary_page_offset if chunk.has_dictionary_page else chunk.data_page_offset
            # A column without a row may have no page, and then begins nowhere.
            if chunk.total_compressed_size and begin != at:
                return "there are bytes between its columns"
            at += chunk.total_compressed_size
            if fault := _fault_of_statistics(file, group, place):
                return fault
    return "" if at + about.serialized_size + _TAIL == len(content) else "there are bytes beside its columns"


def _rewritten(file: Any) -> bytes:
    """The same rows as a portal writes them."""
    import pyarrow
    import pyarrow.parquet

    schema = pyarrow.schema([field.remove_metadata() for field in file.schema_arrow])
    written = io.BytesIO()
    with pyarrow.parquet.ParquetWriter(written, schema, compression=_PACKED) as writer:
        for group in range(file.num_row_groups):
            rows = file.read_row_group(group).columns
            writer.write_table(pyarrow.Table.from_arrays(rows, schema=schema))
    return written.getvalue()


def _without_program(content: bytes) -> tuple[bytes, bytes]:
    """Its columns, and what is said of them at its end, but for the version of the program that wrote it."""
    size = int.from_bytes(content[-_TAIL:-_MAGIC], "little")
    end = len(content) - _TAIL - size
    return content[:end], _PROGRAM.sub(b"", content[end:-_TAIL])


def _fault_of_statistics(file: Any, group: int, place: int) -> str:
    """Readers leave out rows by these."""
    import pyarrow.compute as pc

    stated = file.metadata.row_group(group).column(place).statistics
    if stated is None:
        return ""
    values = file.read_row_group(group, columns=[file.schema_arrow.names[place]]).column(0)
    ends = pc.min_max(values).as_py()
    if stated.has_null_count and stated.null_count != values.null_count:
        return "it states another number of missing values"
    if stated.has_min_max and [stated.min, stated.max] != [ends["min"], ends["max"]]:
        return "it states another least or largest value"
    return ""


def _fault_of_rows(file: Any, bundle: Bundle, table: str, kinds: Mapping[str, str]) -> str:
    names = [str(name) for name in file.schema_arrow.names]
    with bundle.opened(table) as opened:
        lines = csv.reader(io.TextIOWrapper(opened, encoding="utf-8", newline=""))
        if next(lines) != names:
            return f"it has other columns than {table}"
        for field in file.schema_arrow:
            if str(field.type) not in {_TYPES.get(kinds.get(field.name, ""), "string"), "large_string"}:
                return f"{field.name} is of another type"
        for number, own in enumerate(_rows(file), start=1):
            if next(lines, None) != own:
                return f"row {number:,} is not that of {table}"
        return f"{table} has more rows" if next(lines, None) is not None else ""


def _rows(file: Any) -> Iterator[list[str]]:
    """As the CSV file has them."""
    for batch in file.iter_batches():
        for values in zip(*(column.to_pylist() for column in batch.columns), strict=True):
            yield [_text(value) for value in values]


def _text(value: object) -> str:
    if value is None:
        return ""
    if isinstance(value, bool):
        return str(value).lower()
    return inert(value) if isinstance(value, str) else str(value)
