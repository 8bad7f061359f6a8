"""True counts of a declared domain's cells: what a mechanism's private step is given."""
# ruff: noqa: S608 names and values are quoted by engine.identifier and engine.literal

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory

import duckdb
import numpy as np

from dpportal.datasets.rawdata.cells import (
    category_type,
    cell_expression,
    edges_table,
    position_layers,
    value_expression,
)
from dpportal.datasets.rawdata.engine import column_types, identifier, literal, parquet, stored_table
from mechanisms.domain import Attribute, Categorical, Domain, Integer, Real

BATCH_CELLS = 1 << 17
ROWS_PER_PART = 1_500_000


def count_cells(
    path: Path,
    domain: Domain,
    *,
    unit_column: str | None = None,
    max_rows: int = 1,
    key: bytes | None = None,
) -> np.ndarray:
    """Count a stored table's rows in each cell of a domain.

    unit_column: if given, of the rows with one value in it (or with none) at most `max_rows` are counted,
    chosen at random by `key`, which must be secret and drawn for this count.
    Returns (domain.size,) int64 in C order of `domain.shape`.
    Raises KeyError if the table lacks a column, ValueError for a unit column without a key.
    """
    if unit_column is not None and (not key or max_rows < 1):
        raise ValueError("counting by unit needs a key and max_rows >= 1")
    with stored_table(path) as connection:
        types = column_types(connection, path)
        for place, attribute in enumerate(domain.attributes):
            _declare(connection, place, attribute)
        rows = _values(path, domain, types, unit_column)
        for place, attribute in enumerate(domain.attributes):
            rows = _with_position(rows, place, attribute)
        rows = _with_index(rows, domain)
        if unit_column is None:
            return _counted(connection, [rows], domain.size)
        with TemporaryDirectory(prefix="units-") as scratch:
            units = Path(scratch) / "units.parquet"
            sampled = _few_of_each_unit(connection, rows, units, max_rows, key or b"")
            return _counted(connection, sampled, domain.size)


def _declare(connection: duckdb.DuckDBPyConnection, place: int, attribute: Attribute) -> None:
    """Give the database an attribute's values or edges, as parameters: they can be any text, and thousands."""
    if isinstance(attribute, Categorical):
        name = category_type(place)
        values = f"CREATE TEMP TABLE {name}_values AS SELECT unnest(?::VARCHAR[]) AS v"
        connection.execute(values, [list(attribute.cells)])
        connection.execute(f"CREATE TYPE {name} AS ENUM (SELECT v FROM {name}_values)")
    elif isinstance(attribute, Integer | Real) and attribute.edges:
        kind = "BIGINT" if isinstance(attribute, Integer) else "DOUBLE"
        edges = f"CREATE TEMP TABLE {edges_table(place)} AS SELECT ?::{kind}[] AS edges"
        connection.execute(edges, [list(attribute.edges[1:-1])])


def _values(path: Path, domain: Domain, types: dict[str, str], unit_column: str | None) -> str:
    """SQL: value_i of each attribute, and if units are wanted unit_id and row_id."""
    values = []
    for place, attribute in enumerate(domain.attributes):
        value = value_expression(attribute, place, identifier(attribute.name), types[attribute.name])
        values.append(f"{value} AS value_{place}")
    if unit_column is not None:
        _ = types[unit_column]
        values += [f"{identifier(unit_column)} AS unit_id", "file_row_number AS row_id"]
    return f"SELECT {', '.join(values)} FROM {parquet(path, row_numbers=unit_column is not None)}"


def _with_position(rows: str, place: int, attribute: Attribute) -> str:
    """SQL: the rows with position_i, a nested query for each layer."""
    position = f"position_{place}"
    first, *later = position_layers(attribute, place) or ["NULL"]
    rows = f"SELECT *, {first} AS {position} FROM ({rows})"
    for layer in later:
        rows = f"SELECT * REPLACE ({layer} AS {position}) FROM ({rows})"
    return rows


def _with_index(rows: str, domain: Domain) -> str:
    """SQL: the rows' cell in the whole domain, in C order, beside all else they have."""
    index = "0::BIGINT"
    for place, attribute in enumerate(domain.attributes):
        index = f"({index} * {attribute.size} + {cell_expression(attribute, place)})"
    return f"SELECT *, {index} AS cell FROM ({rows})"


def _few_of_each_unit(
    connection: duckdb.DuckDBPyConnection, rows: str, units: Path, max_rows: int, key: bytes
) -> list[str]:
    """SQL, a query for each part of the units: at most `max_rows` rows each, those whose keyed digests are least.

    A part holds whole units and about ROWS_PER_PART rows, so that memory holds the heaps of one part only.
    units: a scratch file for each row's unit and cell, so that cells are computed once and not for each part.
    """
    connection.execute("SET preserve_insertion_order = false")
    copy = f"COPY (SELECT unit_id, row_id, cell, hash(unit_id) AS unit_hash FROM ({rows}))"
    copied = connection.execute(f"{copy} TO {literal(str(units))} (FORMAT parquet, COMPRESSION snappy)")
    [(table_rows,)] = copied.fetchall()
    parts = max(1, -(-table_rows // ROWS_PER_PART))
    digest = f"md5_number(concat({literal(key.hex())}, ':', row_id))"
    return [
        f"SELECT unnest(min_by(cell, {digest}, {int(max_rows)})) AS cell "
        f"FROM {parquet(units)} WHERE unit_hash % {parts} = {part} GROUP BY unit_id"
        for part in range(parts)
    ]


def _counted(connection: duckdb.DuckDBPyConnection, parts: list[str], size: int) -> np.ndarray:
    counts = np.zeros(size, dtype=np.int64)
    for rows in parts:
        counted = connection.sql(f"SELECT cell, count(*) AS n FROM ({rows}) GROUP BY cell")
        for batch in counted.to_arrow_reader(BATCH_CELLS):
            counts[batch["cell"].to_numpy()] += batch["n"].to_numpy()
    return counts
