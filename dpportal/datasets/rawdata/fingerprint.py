"""A digest of a table that its format, delimiter, encoding, row order and column order do not change."""
# ruff: noqa: S608 names and values are quoted by engine.identifier and engine.literal

from __future__ import annotations

import hashlib
import json
from pathlib import Path

import duckdb

from dpportal.datasets.rawdata.engine import parquet
from dpportal.datasets.rawdata.layout import StoredColumn, layout, plain_number
from dpportal.datasets.rawdata.reading import trimmed

LOW_64_BITS = 2**64 - 1


def canonical_text(column: StoredColumn) -> str:
    """SQL: a field's text, the same for 5, 5.0 and " 5 ", for true and TRUE; NULL if it is empty."""
    if column.all_plain:
        return _written(str(column.plain))
    text = f"nullif({trimmed(column.text)}, '')"
    # A cast is cheap where it fails, and most texts are no numbers.
    read = f"CASE WHEN TRY_CAST({text} AS DOUBLE) IS NOT NULL THEN {plain_number(text)} END"
    number = f"coalesce({column.plain}, {read})" if column.plain else read
    truth = f"CASE WHEN lower({text}) IN ('true', 'false') THEN lower({text}) ELSE {text} END"
    return f"CASE WHEN {number} IS NULL THEN {truth} ELSE {_written(number)} END"


def _written(number: str) -> str:
    return f"CASE WHEN {number} = floor({number}) THEN {number}::BIGINT::VARCHAR ELSE {number}::VARCHAR END"


def content_digest(connection: duckdb.DuckDBPyConnection, path: Path) -> str:
    """SHA-256 of the column names, the number of rows and the sum of the rows' MD5 digests, in hexadecimal.

    The sum makes it independent of row order and, unlike exclusive or, keeps repeated rows. It recognises a
    table that is uploaded again in another form; a table with one cell changed is another table to it.
    """
    columns = layout(connection, path)
    names = sorted(columns)
    fields = ", ".join(f"coalesce({canonical_text(columns[name])}, chr(0))" for name in names)
    query = f"""
        SELECT count(*), sum((digest & {LOW_64_BITS}::UHUGEINT)::UBIGINT), sum((digest >> 64)::UBIGINT)
        FROM (SELECT md5_number(concat_ws(chr(31), {fields}))::UHUGEINT AS digest FROM {parquet(path)})
    """
    [sums] = connection.execute(query).fetchall()
    return hashlib.sha256(json.dumps([names, *map(str, sums)]).encode()).hexdigest()
