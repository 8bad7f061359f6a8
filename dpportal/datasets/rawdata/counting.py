"""True counts of a declared domain's cells: what a mechanism's private step is given."""
# ruff: noqa: S608 names and values are quoted by engine.identifier and engine.literal

from __future__ import annotations

from pathlib import Path

import duckdb
import numpy as np

from dpportal.datasets.rawdata.cells import category_type, cell_expression, inner_edges, value_expression
from dpportal.datasets.rawdata.engine import column_types, identifier, literal, parquet, stored_table
from mechanisms.domain import Attribute, Categorical, Domain

BATCH_CELLS = 1 << 17


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
            if isinstance(attribute, Categorical):
                _declare_category(connection, place, attribute)
        rows = _values(path, domain, types, unit_column)
        for place, attribute in enumerate(domain.attributes):
            rows = _with_edges_below(rows, place, attribute)
        rows = _with_index(rows, domain)
        if unit_column is not None:
            rows = _few_of_each_unit(rows, max_rows, key or b"")
        return _counted(connection, rows, domain.size)


def _declare_category(connection: duckdb.DuckDBPyConnection, place: int, attribute: Categorical) -> None:
    name = category_type(place)
    connection.execute(f"CREATE TEMP TABLE {name}_values AS SELECT unnest(?::VARCHAR[]) AS v", [attribute.cells])
    connection.execute(f"CREATE TYPE {name} AS ENUM (SELECT v FROM {name}_values)")


def _values(path: Path, domain: Domain, types: dict[str, str], unit_column: str | None) -> str:
    """SQL: value_i of each attribute, and if units are wanted unit_id and row_id."""
    values = [
        f"{value_expression(attribute, place, identifier(attribute.name), types[attribute.name])} AS value_{place}"
        for place, attribute in enumerate(domain.attributes)
    ]
    if unit_column is not None:
        _ = types[unit_column]
        values += [f"{identifier(unit_column)} AS unit_id", "file_row_number AS row_id"]
    return f"SELECT {', '.join(values)} FROM {parquet(path, row_numbers=unit_column is not None)}"


def _with_edges_below(rows: str, place: int, attribute: Attribute) -> str:
    """SQL: the rows with below_i, how many inner edges are at or below value_i: a binary search, a step a layer.

    A step past the list's end compares with NULL and stays.
    """
    edges = inner_edges(attribute)
    if edges is None:
        return rows
    rows = f"SELECT *, 0::BIGINT AS below_{place} FROM ({rows})"
    for step in reversed([1 << bit for bit in range((attribute.regular_size - 1).bit_length())]):
        passed = f"value_{place} >= ({edges})[below_{place} + {step}]"
        moved = f"below_{place} + CASE WHEN {passed} THEN {step} ELSE 0 END"
        rows = f"SELECT * REPLACE ({moved} AS below_{place}) FROM ({rows})"
    return rows


def _with_index(rows: str, domain: Domain) -> str:
    """SQL: the rows' cell in the whole domain, in C order, beside all else they have."""
    index = "0::BIGINT"
    for place, attribute in enumerate(domain.attributes):
        cell = cell_expression(attribute, f"value_{place}", f"below_{place}")
        index = f"({index} * {attribute.size} + {cell})"
    return f"SELECT *, {index} AS cell FROM ({rows})"


def _few_of_each_unit(rows: str, max_rows: int, key: bytes) -> str:
    """SQL: at most `max_rows` of each unit's rows, those whose keyed digest of the row's number is least."""
    digest = f"md5_number(concat({literal(key.hex())}, ':', row_id))"
    rank = f"row_number() OVER (PARTITION BY unit_id ORDER BY {digest})"
    return f"SELECT cell FROM (SELECT cell, unit_id, row_id FROM ({rows})) QUALIFY {rank} <= {int(max_rows)}"


def _counted(connection: duckdb.DuckDBPyConnection, rows: str, size: int) -> np.ndarray:
    counts = np.zeros(size, dtype=np.int64)
    connection.execute(f"SELECT cell, count(*) AS n FROM ({rows}) GROUP BY cell")
    for batch in connection.to_arrow_reader(BATCH_CELLS):
        counts[batch["cell"].to_numpy()] = batch["n"].to_numpy()
    return counts
