"""First rows of a stored table, for the curator alone. No noise protects them, so they stay on the curator's pages."""
# ruff: noqa: S608 names and values are quoted by engine.identifier and engine.literal

from __future__ import annotations

from dpportal.platform.sealed_files import FilePath
from dpportal.tables.engines.duckdb.session import parquet, stored_table
from dpportal.tables.layout import layout


def first_rows(path: FilePath, rows: int = 20) -> list[list[str | None]]:
    """The first rows in file order, each field as its text, None where it is empty."""
    with stored_table(path) as connection:
        columns = ", ".join(column.text for column in layout(connection, path).values())
        fetched = connection.execute(f"SELECT {columns} FROM {parquet(path)} LIMIT {int(rows)}").fetchall()
    return [list(row) for row in fetched]
