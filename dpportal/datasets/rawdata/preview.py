"""What the curator is shown of a stored table. None of it is private: it never leaves the curator's pages."""
# ruff: noqa: S608 names and values are quoted by engine.identifier and engine.literal

from __future__ import annotations

from pathlib import Path
from typing import Any

from dpportal.datasets.rawdata.engine import SQL_KINDS, column_types, identifier, parquet, stored_table
from dpportal.datasets.rawdata.faults import UploadFault

MOST_VALUES = 200


def first_rows(path: Path, rows: int = 20) -> list[list[str | None]]:
    """The first rows in file order, each value as text, None where it is missing."""
    with stored_table(path) as connection:
        columns = ", ".join(f"{identifier(name)}::VARCHAR" for name in column_types(connection, path))
        fetched = connection.execute(f"SELECT {columns} FROM {parquet(path)} LIMIT {int(rows)}").fetchall()
    return [list(row) for row in fetched]


def suggest(path: Path, column: str) -> dict[str, Any]:
    """A column's range in the data, for a curator who vouches that it is public: NOT private.

    Returns kind, missing (whether any value is), and: for text values (sorted); for integer, real and date
    lower and upper; for integer also distinct (how many, None above 200). Real ranges leave out NaN and
    infinities. Raises UploadFault for more than 200 texts or no value at all, KeyError for an unknown column.
    """
    with stored_table(path) as connection:
        kind = SQL_KINDS[column_types(connection, path)[column]]
        name = identifier(column)
        finite = f"isfinite({name})" if kind in ("real", "date") else f"{name} IS NOT NULL"
        low, high, present, missing = connection.execute(
            f"SELECT min({name}) FILTER (WHERE {finite}), max({name}) FILTER (WHERE {finite}), "
            f"count(*) FILTER (WHERE {finite}), count(*) - count({name}) FROM {parquet(path)}"
        ).fetchall()[0]
        if not present:
            raise UploadFault(
                "no-values", "This column holds no values to take a range from. Type it instead."
            )
        found: dict[str, Any] = {"kind": kind, "missing": missing > 0}
        if kind in ("integer", "real", "date"):
            found |= {"lower": low, "upper": high}
        if kind in ("text", "integer"):
            distinct = connection.execute(
                f"SELECT DISTINCT {name} AS v FROM {parquet(path)} WHERE {name} IS NOT NULL "
                f"ORDER BY v LIMIT {MOST_VALUES + 1}"
            ).fetchall()
            found |= _distinct(kind, [value for (value,) in distinct])
    return found


def _distinct(kind: str, values: list[Any]) -> dict[str, Any]:
    many = len(values) > MOST_VALUES
    if kind == "integer":
        return {"distinct": None if many else len(values)}
    if many:
        raise UploadFault(
            "many-values",
            f"This column has more than {MOST_VALUES} different values, too many to list from the data. "
            "Import them from a codebook, or type those that you want to publish.",
        )
    return {"values": values}
