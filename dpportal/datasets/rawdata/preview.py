"""What the curator is shown of a stored table. None of it is private: it never leaves the curator's pages."""
# ruff: noqa: S608 names and values are quoted by engine.identifier and engine.literal

from __future__ import annotations

from pathlib import Path
from typing import Any

from dpportal.datasets.rawdata.engine import parquet, stored_table
from dpportal.datasets.rawdata.faults import UploadFault
from dpportal.datasets.rawdata.layout import layout
from dpportal.datasets.rawdata.options import ReadOptions
from dpportal.datasets.rawdata.reading import Reading
from dpportal.datasets.rawdata.table import Kind

MOST_VALUES = 200


def first_rows(path: Path, rows: int = 20) -> list[list[str | None]]:
    """The first rows in file order, each field as its text, None where it is empty."""
    with stored_table(path) as connection:
        columns = ", ".join(column.text for column in layout(connection, path).values())
        fetched = connection.execute(f"SELECT {columns} FROM {parquet(path)} LIMIT {int(rows)}").fetchall()
    return [list(row) for row in fetched]


def suggest(path: Path, column: str, options: ReadOptions | None = None) -> dict[str, Any]:
    """A column's range in the data, for a curator who vouches that it is public: NOT private.

    Returns kind (the narrowest that every text can be read as), missing (whether any value is), and: for text values
    (sorted); for integer, real and date lower and upper. Ranges leave out infinities. Raises
    UploadFault for more than 200 texts or no value at all, KeyError for an unknown column.
    """
    reading = Reading((options or ReadOptions()).settled())
    with stored_table(path) as connection:
        field = layout(connection, path)[column].text
        texts = f"SELECT {reading.text(field)} AS text FROM {parquet(path)}"
        number, whole = reading.number("text"), "regexp_full_match(text, '0|-?[1-9][0-9]{0,17}')"
        tests = {
            "boolean": "lower(text) IN ('true', 'false')",
            "integer": whole,
            "real": f"{number} IS NOT NULL AND NOT regexp_full_match(text, '0[0-9]+|[-+]?[0-9]{{19,}}')",
            "date": f"{reading.day('text')} IS NOT NULL",
        }
        counts = ", ".join(f"count(*) FILTER (WHERE {test})" for test in tests.values())
        rows, present, *fitting = connection.execute(
            f"SELECT count(*), count(text), {counts} FROM ({texts})"
        ).fetchall()[0]
        if not present:
            raise UploadFault(
                "no-values", "This column holds no values to take a range from. Type it instead."
            )
        kinds: list[Any] = [kind for kind, count in zip(tests, fitting, strict=True) if count == present]
        kind: Kind = kinds[0] if kinds else "text"
        found: dict[str, Any] = {"kind": kind, "missing": rows > present}
        values = {"integer": reading.whole("text"), "real": number, "date": reading.day("text")}
        if kind in values:
            low, high = connection.execute(
                f"SELECT min(v), max(v) FROM (SELECT {values[kind]} AS v FROM ({texts})) "
                + ("WHERE isfinite(v)" if kind == "real" else "")
            ).fetchall()[0]
            return {**found, "lower": low, "upper": high}
        if kind == "boolean":
            return found
        distinct = connection.execute(
            f"SELECT DISTINCT text FROM ({texts}) WHERE text IS NOT NULL ORDER BY text LIMIT {MOST_VALUES + 1}"
        ).fetchall()
    if len(distinct) > MOST_VALUES:
        raise UploadFault(
            "many-values",
            f"This column has more than {MOST_VALUES} different values, too many to list from the data. "
            "Import them from a codebook, or type those that you want to publish.",
        )
    return {**found, "values": [value for (value,) in distinct]}
