"""Uploads that are converted as the portal does, in a process of its own."""

from __future__ import annotations

from pathlib import Path

import openpyxl
import pyarrow as pa
import pyarrow.parquet as pq

from dpportal.datasets.rawdata import ReadOptions, convert, first_rows


class Stored:
    """An upload that was converted: its facts, its rows of texts as they are stored, and the proposed kinds."""

    def __init__(self, folder: Path, content: bytes, name: str = "table.csv", **options) -> None:
        source, self.path = folder / "upload", folder / "table.parquet"
        source.write_bytes(content)
        self.facts = convert(source, self.path, name, ReadOptions(**options))
        self.rows = [tuple(row) for row in first_rows(self.path, 10**6)]
        self.kinds = [column.kind for column in self.facts.columns]
        self.oddities = self.facts.oddities


def workbook(folder: Path, *rows) -> bytes:
    book = openpyxl.Workbook()
    for row in rows:
        book.active.append(row)
    book.save(folder / "made.xlsx")
    return (folder / "made.xlsx").read_bytes()


def parquet(folder: Path, table: pa.Table) -> bytes:
    pq.write_table(table, folder / "made.parquet")
    return (folder / "made.parquet").read_bytes()
