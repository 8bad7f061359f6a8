"""Uploads that are converted as the portal does, in a process of its own."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

import openpyxl
import pyarrow as pa
import pyarrow.parquet as pq

from dpportal.tables import ReadOptions, convert, first_rows
from dpportal.tables.layout import otherwise_name, plain_name, text_name
from dpportal.tables.meaning.number_syntax import PLAIN_NUMBER


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


def number_columns(place: int, texts: Sequence[str | None]) -> dict[str, pa.Array]:
    """A column of which some texts are numbers, as it is stored."""
    numbers = [float(text) if text and re.fullmatch(PLAIN_NUMBER, text) else None for text in texts]
    pairs = list(zip(texts, numbers, strict=True))
    others = [text if number is None else None for text, number in pairs]
    otherwise = [None if number is None or text == written(number) else text for text, number in pairs]
    return {
        text_name(place): pa.array(others, pa.string()),
        otherwise_name(place): pa.array(otherwise, pa.string()),
        plain_name(place): pa.array(numbers, pa.float64()),
    }


def earlier_number_columns(place: int, texts: Sequence[str | None]) -> dict[str, pa.Array]:
    """The same as earlier versions stored it: all texts, and numbers beside them."""
    stored = number_columns(place, texts)
    return {text_name(place): pa.array(texts, pa.string()), plain_name(place): stored[plain_name(place)]}


def written(number: float) -> str:
    """A plain number's text. Small fractions have none here, since they may be written with an exponent."""
    if number == int(number):
        return str(int(number))
    return repr(number) if abs(number) >= 0.001 else ""
