"""What the curator is shown of a stored table. None of it is private: it never leaves the curator's pages."""
# ruff: noqa: S608 names and values are quoted by engine.identifier and engine.literal

from __future__ import annotations

from pathlib import Path

from dpportal.datasets.rawdata.engine import parquet, stored_table
from dpportal.datasets.rawdata.layout import layout


def first_rows(path: Path, rows: int = 20) -> list[list[str | None]]:
    """The first rows in file order, each field as its text, None where it is empty."""
    with stored_table(path) as connection:
        columns = ", ".join(column.text for column in layout(connection, path).values())
        fetched = connection.execute(f"SELECT {columns} FROM {parquet(path)} LIMIT {int(rows)}").fetchall()
    return [list(row) for row in fetched]
