"""A small file of any format, for tests that ask the same of each."""

from __future__ import annotations

import io
from collections.abc import Callable, Mapping
from importlib import import_module

import openpyxl
import pyarrow as pa
import pyarrow.parquet as pq
from pyarrow import csv

from dpportal.tables.formats import Format


def _csv(table: pa.Table) -> bytes:
    file = io.BytesIO()
    csv.write_csv(table, file)
    return file.getvalue()


def _parquet(table: pa.Table) -> bytes:
    file = io.BytesIO()
    pq.write_table(table, file)
    return file.getvalue()


def _workbook(table: pa.Table) -> bytes:
    book, file = openpyxl.Workbook(), io.BytesIO()
    for row in (table.column_names, *zip(*table.to_pydict().values(), strict=True)):
        book.active.append(list(row))
    book.save(file)
    return file.getvalue()


WRITERS: Mapping[str, Callable[[pa.Table], bytes]] = {"csv": _csv, "parquet": _parquet, "xlsx": _workbook}


def file_of(known: Format, table: pa.Table) -> bytes:
    """What a file of the format holds; of one that is not above, as `written` of its own tests writes it.

    That raises NotImplementedError for a table that the format cannot hold.
    """
    write = WRITERS.get(known.name)
    if write is None:
        own = import_module(f"tests.dpportal.tables.formats.test_{known.name.replace('-', '_')}")
        write = own.written
    return write(table)
