"""A column's range in the data, for a curator who vouches that it is public."""
# ruff: noqa: S608 names and values are quoted by SQLGlot

from __future__ import annotations

import duckdb
from sqlglot import exp

from dpportal.platform.json_types import Json
from dpportal.platform.sealed_files import FilePath
from dpportal.tables.engines.duckdb.session import stored_table
from dpportal.tables.faults import UploadFault
from dpportal.tables.meaning.parse_options import ReadOptions
from dpportal.tables.pushdown.count_query import valued_rows
from dpportal.tables.sources import RowSource
from mechanisms.domain import Date, Integer, Real

MOST_VALUES = 200
VALUES = {"real": "value_0", "integer": "value_1", "date": "value_2"}
# Kinds, the narrowest first, with what each asks of a text that is there.
TESTS = {
    "boolean": "lower(text) IN ('true', 'false')",
    "integer": "regexp_full_match(text, '0|-?[1-9][0-9]{0,17}')",
    "real": "value_0 IS NOT NULL AND NOT regexp_full_match(text, '0[0-9]+|[-+]?[0-9]{19,}')",
    "date": "value_2 IS NOT NULL",
}


def suggest(path: FilePath, column: str, options: ReadOptions | None = None) -> Json:
    """A column's range in the data, for a curator who vouches that it is public: NOT private.

    Returns kind (the narrowest that every text can be read as), missing (whether any value is), and: for text values
    (sorted); for integer, real and date lower and upper. Ranges leave out infinities. Raises
    UploadFault for more than 200 texts or no value at all, KeyError for an unknown column.
    """
    options = (options or ReadOptions()).settled()
    with stored_table(path) as connection:
        source = RowSource(connection, path, options, []).source([column])
        # The same column as a real number, as a whole one and as a day.
        read = valued_rows(source, [Real(column), Integer(column), Date(column)], options, None)
        texts = source.dialect.sql(exp.select("field_0 AS text", *VALUES.values()).from_(read))
        tests = ", ".join(f"count(*) FILTER (WHERE {test})" for test in TESTS.values())
        rows, present, *fitting = connection.execute(
            f"SELECT count(*), count(text), {tests} FROM ({texts})"
        ).fetchall()[0]
        if not present:
            raise UploadFault(
                "no-values", "This column holds no values to take a range from. Type it instead."
            )
        kinds = [kind for kind, count in zip(TESTS, fitting, strict=True) if count == present]
        kind = kinds[0] if kinds else "text"
        suggestion: Json = {"kind": kind, "missing": rows > present}
        if value := VALUES.get(kind):
            low, high = connection.execute(
                f"SELECT min({value}), max({value}) FROM ({texts}) "
                + (f"WHERE isfinite({value})" if kind == "real" else "")
            ).fetchall()[0]
            return {**suggestion, "lower": low, "upper": high}
        if kind == "boolean":
            return suggestion
        return {**suggestion, "values": _distinct(connection, texts)}


def _distinct(connection: duckdb.DuckDBPyConnection, texts: str) -> list[str]:
    """The different texts, sorted. Raises UploadFault for more than 200."""
    distinct = connection.execute(
        f"SELECT DISTINCT text FROM ({texts}) WHERE text IS NOT NULL ORDER BY text LIMIT {MOST_VALUES + 1}"
    ).fetchall()
    if len(distinct) > MOST_VALUES:
        raise UploadFault(
            "many-values",
            f"This column has more than {MOST_VALUES} different values, too many to list from the data. "
            "Import them from a codebook, or type those that you want to publish.",
        )
    return [value for (value,) in distinct]
