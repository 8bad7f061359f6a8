"""How a stored table lies in its Parquet file: every field as its text, or as the number that says the text.

Column number i of the table is stored as c<i>, VARCHAR; its name, which can be any text, stands in the file's own
metadata. An empty field is the empty text, since a column that may have NULL takes twice as long to read; earlier
versions stored NULL. Where the first rows looked like numbers, a field lies in three, with NULL for what it has not:
n<i>, DOUBLE, holds the number of a text of the form `reading.PLAIN_NUMBER`; t<i>, VARCHAR, such a text if `written`
makes another of its number, as of 1.50; c<i> then has none but the other texts. All depend on nothing but their own
field. Without t<i>, as earlier versions wrote them, c<i> has all texts.
"""
# ruff: noqa: S608 names and values are quoted by engine.identifier and engine.literal

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace

import duckdb
import pyarrow as pa

from dpportal.platform.sealed_files import FilePath
from dpportal.tables.engines.duckdb.session import column_types, identifier, literal
from dpportal.tables.meaning.number_syntax import PLAIN_NUMBER

NAMES_KEY = "columns"
# Bytes of a column's dictionary in a part of the file, and in all parts together, up to which it has few texts.
SHORT_DICTIONARY, ALL_DICTIONARIES = 2**18, 2**26
# Columns whose texts one query looks up: with dozens the engine thinks for minutes about the order of the joins.
LOOKED_UP = 10
# Digits, or digits and a sign, of whole numbers that are plain ones and that a double keeps.
EXACT_DIGITS = 15


@dataclass(frozen=True)
class StoredColumn:
    """SQL of a column's fields. number: its place in the table.

    all_plain: whether every text has its plain number, so that no text need be read. few: whether it has so few
    different texts that what they mean is better looked up. parts: the file's columns in which a field lies, by which
    texts are told apart, too: its text, the text that is written otherwise than its number, its number, without those
    that are empty in every row.
    """

    number: int
    text: str
    plain: str | None = None
    all_plain: bool = False
    few: bool = False
    parts: tuple[str, ...] = ()


@dataclass(frozen=True)
class StoredFields:
    """A batch of a column as it is stored: texts, and of a column of numbers also those and texts written otherwise.

    texts: strings, or a dictionary of them.
    """

    texts: pa.Array
    otherwise: pa.Array | None = None
    numbers: pa.Array | None = None


def text_name(number: int) -> str:
    """The stored column of a field's text, where no other has it."""
    return f"c{number}"


def plain_name(number: int) -> str:
    """The stored column of the number that a text in plain notation says."""
    return f"n{number}"


def otherwise_name(number: int) -> str:
    """The stored column of a text that `written` makes another of its number."""
    return f"t{number}"


def or_null(text: str) -> str:
    """SQL: a stored text, NULL for that of an empty field."""
    return f"nullif({text}, '')"


def written(number: str) -> str:
    """SQL: the text that is written for a plain number."""
    return f"CASE WHEN {number} = floor({number}) THEN {number}::BIGINT::VARCHAR ELSE {number}::VARCHAR END"


def plain_number(text: str) -> str:
    """SQL: the double of a text in plain notation, NULL for any other text."""
    return f"CASE WHEN regexp_full_match({text}, {literal(PLAIN_NUMBER)}) THEN TRY_CAST({text} AS DOUBLE) END"


def names_metadata(names: Sequence[str]) -> str:
    """The names of a file's columns, as the stored table remembers them."""
    return json.dumps(list(names))


def layout(connection: duckdb.DuckDBPyConnection, path: FilePath) -> dict[str, StoredColumn]:
    """A stored table's columns by name, in order.

    A table without names in its metadata is of an earlier version, whose columns of text are called by their names.
    """
    footer_row = connection.execute(
        f"SELECT decode(value) FROM parquet_kv_metadata({literal(str(path))}) WHERE decode(key) = '{NAMES_KEY}'"
    ).fetchone()
    footer = _footer(connection, path)
    if footer_row is None:
        return {
            name: StoredColumn(
                number, or_null(identifier(name)), few=_is_short(footer.get(name)), parts=(name,)
            )
            for number, name in enumerate(column_types(connection, path))
        }
    return {name: _column(number, footer) for number, name in enumerate(json.loads(footer_row[0]))}


@dataclass(frozen=True)
class _Part:
    """What a file says of a column. fields: all; absent: its NULLs. longest, all: bytes of its dictionaries, of which
    parts without any text need none. None: not said."""

    fields: int | None
    absent: int | None
    longest: int | None
    all: int | None

    @property
    def is_empty(self) -> bool:
        return self.fields is not None and self.absent == self.fields


def _column(number: int, footer: dict[str, _Part]) -> StoredColumn:
    name, plain, otherwise = text_name(number), plain_name(number), otherwise_name(number)
    text = footer.get(name)
    stored = StoredColumn(number, or_null(name), few=_is_short(text), parts=(name,))
    if text is None or plain not in footer:  # of a table without rows nothing is said
        return stored
    if otherwise not in footer:
        known = text.absent is not None and text.absent == footer[plain].absent
        return replace(stored, plain=plain, all_plain=known)
    texts = [part for part in (name, otherwise) if not footer[part].is_empty]
    return StoredColumn(
        number,
        f"coalesce({', '.join([*texts, written(plain)])})",
        plain,
        all_plain=text.is_empty,
        few=all(_is_short(footer[part]) for part in (name, otherwise, plain)),
        parts=(*texts, plain),
    )


def _is_short(part: _Part | None) -> bool:
    if part is None or part.longest is None or part.all is None:
        return False
    return part.longest <= SHORT_DICTIONARY and part.all <= ALL_DICTIONARIES


def _footer(connection: duckdb.DuckDBPyConnection, path: FilePath) -> dict[str, _Part]:
    known = "CASE WHEN count({0}) = count(*) THEN {1}({0})::BIGINT END"
    terms = (("fields", "sum"), ("absent", "sum"), ("bytes", "max"), ("bytes", "sum"))
    metadata = connection.execute(
        f"SELECT name, {', '.join(known.format(*term) for term in terms)} FROM (SELECT path_in_schema AS name, "
        "num_values AS fields, stats_null_count AS absent, CASE WHEN stats_null_count = num_values THEN 0 "
        "ELSE data_page_offset - dictionary_page_offset END AS bytes "
        f"FROM parquet_metadata({literal(str(path))})) GROUP BY name"
    ).fetchall()
    return {name: _Part(*numbers) for name, *numbers in metadata}
