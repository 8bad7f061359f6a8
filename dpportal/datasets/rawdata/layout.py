"""How a stored table lies in its Parquet file: every field as its text, plain numbers beside it as doubles.

Column number i of the table is stored as c<i>, VARCHAR, with NULL for an empty field; its name, which can be any text,
stands in the file's own metadata. n<i>, DOUBLE, exists where the first rows looked like numbers: it holds the number of
a text of the form `reading.PLAIN_NUMBER` and NULL for every other text, so it depends on nothing but its own field.
"""
# ruff: noqa: S608 names and values are quoted by engine.identifier and engine.literal

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import duckdb

from dpportal.datasets.rawdata.engine import column_types, identifier, literal
from dpportal.datasets.rawdata.reading import PLAIN_NUMBER

NAMES_KEY = "columns"


@dataclass(frozen=True)
class StoredColumn:
    """SQL of a column's fields. all_plain: whether every text has its plain number, so that no text need be read."""

    text: str
    plain: str | None = None
    all_plain: bool = False


def text_name(number: int) -> str:
    return f"c{number}"


def plain_name(number: int) -> str:
    return f"n{number}"


def plain_number(text: str) -> str:
    """SQL: the double of a text in plain notation, NULL for any other text."""
    return f"CASE WHEN regexp_full_match({text}, {literal(PLAIN_NUMBER)}) THEN TRY_CAST({text} AS DOUBLE) END"


def names_metadata(names: Sequence[str]) -> str:
    return json.dumps(list(names))


def layout(connection: duckdb.DuckDBPyConnection, path: Path) -> dict[str, StoredColumn]:
    """A stored table's columns by name, in order.

    A table without names in its metadata is of an earlier version, whose columns of text are called by their names.
    """
    stored = column_types(connection, path)
    found = connection.execute(
        f"SELECT decode(value) FROM parquet_kv_metadata({literal(str(path))}) WHERE decode(key) = '{NAMES_KEY}'"
    ).fetchone()
    if found is None:
        return {name: StoredColumn(identifier(name)) for name in stored}
    absent = _absent(connection, path)
    return {name: _column(number, stored, absent) for number, name in enumerate(json.loads(found[0]))}


def _column(number: int, stored: dict[str, str], absent: dict[str, int | None]) -> StoredColumn:
    text, plain = text_name(number), plain_name(number)
    if plain not in stored:
        return StoredColumn(text)
    known = absent[text] is not None and absent[text] == absent[plain]
    return StoredColumn(text, plain, known)


def _absent(connection: duckdb.DuckDBPyConnection, path: Path) -> dict[str, int | None]:
    """The number of NULLs by column, None where the file does not say."""
    counted = connection.execute(
        "SELECT path_in_schema, sum(stats_null_count), count(stats_null_count) = count(*) "
        f"FROM parquet_metadata({literal(str(path))}) GROUP BY ALL"
    ).fetchall()
    return {name: int(count) if known else None for name, count, known in counted}
