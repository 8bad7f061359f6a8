"""A digest of a table that its format, delimiter, encoding, row order and column order do not change."""
# ruff: noqa: S608 names are quoted by engine.identifier

from __future__ import annotations

import hashlib
import json
from pathlib import Path

import duckdb

from dpportal.datasets.rawdata.engine import column_types, identifier, parquet

LOW_64_BITS = 2**64 - 1


def canonical_text(column: str, sql_type: str) -> str:
    """SQL: a value as text, the same for 5, 5.0 and "5"; NULL if missing. column: a quoted identifier."""
    if sql_type == "DOUBLE":
        whole = f"{column} = floor({column}) AND abs({column}) < 9e18"
        return f"CASE WHEN {whole} THEN {column}::BIGINT::VARCHAR ELSE {column}::VARCHAR END"
    return column if sql_type == "VARCHAR" else f"{column}::VARCHAR"


def content_digest(connection: duckdb.DuckDBPyConnection, path: Path) -> str:
    """SHA-256 of the column names, the number of rows and the sum of the rows' MD5 digests, in hexadecimal.

    The sum makes it independent of row order and, unlike exclusive or, keeps repeated rows. It recognises a
    table that is uploaded again in another form; a table with one cell changed is another table to it.
    """
    types = column_types(connection, path)
    names = sorted(types)
    fields = ", ".join(f"coalesce({canonical_text(identifier(name), types[name])}, chr(0))" for name in names)
    query = f"""
        SELECT count(*), sum((digest & {LOW_64_BITS}::UHUGEINT)::UBIGINT), sum((digest >> 64)::UBIGINT)
        FROM (SELECT md5_number(concat_ws(chr(31), {fields}))::UHUGEINT AS digest FROM {parquet(path)})
    """
    [sums] = connection.execute(query).fetchall()
    return hashlib.sha256(json.dumps([names, *map(str, sums)]).encode()).hexdigest()
