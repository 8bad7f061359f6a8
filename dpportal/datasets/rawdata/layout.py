"""How a stored table lies in its Parquet file: every field as its text, plain numbers beside it as doubles.

Column number i of the table is stored as c<i>, VARCHAR, with NULL for an empty field; its name, which can be any text,
stands in the file's own metadata. n<i>, DOUBLE, exists where the first rows looked like numbers: it holds the number of
a text of the form `reading.PLAIN_NUMBER` and NULL for every other text, so it depends on nothing but its own field.
"""
# ruff: noqa: S608 names and values are quoted by engine.identifier and engine.literal

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import duckdb

from dpportal.datasets.rawdata.engine import column_types, identifier, literal
from dpportal.datasets.rawdata.reading import PLAIN_NUMBER

NAMES_KEY = "columns"
# Bytes of a column's dictionary in a part of the file, and in all parts together, up to which it has few texts.
SHORT_DICTIONARY, ALL_DICTIONARIES = 2**18, 2**26
# Columns whose texts one query looks up: with dozens the engine thinks for minutes about the order of the joins.
LOOKED_UP = 10
# Columns of a table up to which that is done: each look-up carries all of them, in memory that is reserved at once.
NARROW = 60
# Digits, or digits and a sign, of whole numbers that are plain ones and that a double keeps.
WHOLE_DIGITS = 15


@dataclass(frozen=True)
class StoredColumn:
    """SQL of a column's fields. number: its place in the table.

    all_plain: whether every text has its plain number, so that no text need be read. few: whether it has so few
    different texts that what they mean is better looked up.
    """

    number: int
    text: str
    plain: str | None = None
    all_plain: bool = False
    few: bool = False


def text_name(number: int) -> str:
    return f"c{number}"


def plain_name(number: int) -> str:
    return f"n{number}"


def plain_number(text: str) -> str:
    """SQL: the double of a text in plain notation, NULL for any other text."""
    return f"CASE WHEN regexp_full_match({text}, {literal(PLAIN_NUMBER)}) THEN TRY_CAST({text} AS DOUBLE) END"


def plain_number_mostly_whole(text: str) -> str:
    """SQL: the same, in half of the time where most texts are whole numbers.

    A whole number of few digits that is written as its text is a plain one.
    """
    whole = f"TRY_CAST({text} AS BIGINT)"
    written = f"strlen({text}) <= {WHOLE_DIGITS} AND {whole}::VARCHAR = {text}"
    return f"CASE WHEN {written} THEN {whole}::DOUBLE ELSE {plain_number(text)} END"


def names_metadata(names: Sequence[str]) -> str:
    return json.dumps(list(names))


def layout(connection: duckdb.DuckDBPyConnection, path: Path) -> dict[str, StoredColumn]:
    """A stored table's columns by name, in order.

    A table without names in its metadata is of an earlier version, whose columns of text are called by their names.
    """
    found = connection.execute(
        f"SELECT decode(value) FROM parquet_kv_metadata({literal(str(path))}) WHERE decode(key) = '{NAMES_KEY}'"
    ).fetchone()
    footer = _footer(connection, path)
    if found is None:
        return {
            name: StoredColumn(number, identifier(name), few=_few(footer.get(name)))
            for number, name in enumerate(column_types(connection, path))
        }
    return {name: _column(number, footer) for number, name in enumerate(json.loads(found[0]))}


@dataclass(frozen=True)
class _Written:
    """What a file says of a column. absent: its NULLs. longest, all: bytes of its dictionaries. None: not said."""

    absent: int | None
    longest: int | None
    all: int | None


def _column(number: int, footer: dict[str, _Written]) -> StoredColumn:
    text, plain = footer[text_name(number)], footer.get(plain_name(number))
    found = StoredColumn(number, text_name(number), few=_few(text))
    if plain is None:
        return found
    known = text.absent is not None and text.absent == plain.absent
    return replace(found, plain=plain_name(number), all_plain=known)


def _few(text: _Written | None) -> bool:
    if text is None or text.longest is None or text.all is None:
        return False
    return text.longest <= SHORT_DICTIONARY and text.all <= ALL_DICTIONARIES


def _footer(connection: duckdb.DuckDBPyConnection, path: Path) -> dict[str, _Written]:
    known = "CASE WHEN count({0}) = count(*) THEN {1}({0})::BIGINT END"
    terms = (("absent", "sum"), ("bytes", "max"), ("bytes", "sum"))
    said = connection.execute(
        f"SELECT name, {', '.join(known.format(*term) for term in terms)} FROM (SELECT path_in_schema AS name, "
        "stats_null_count AS absent, data_page_offset - dictionary_page_offset AS bytes "
        f"FROM parquet_metadata({literal(str(path))})) GROUP BY name"
    ).fetchall()
    return {name: _Written(*numbers) for name, *numbers in said}
