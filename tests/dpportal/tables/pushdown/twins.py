"""The same rows in a real engine and in a stored upload, whose fields hold the text that a file would have."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from decimal import Decimal
from pathlib import Path

import duckdb
import numpy as np
import psycopg
import pyarrow as pa
import pyarrow.parquet as pq
from psycopg import sql
from sqlglot import exp
from sqlglot.expressions import Expr

from dpportal.tables import Persons, ReadOptions, count_tables
from dpportal.tables.engines.duckdb.dialect import DuckDB
from dpportal.tables.formats.parquet_text import as_text
from dpportal.tables.layout import NAMES_KEY, names_metadata, text_name
from dpportal.tables.pushdown.count_query import QuerySource, count_statement
from dpportal.tables.pushdown.dialects import Postgres, SqlDialect
from dpportal.tables.pushdown.types import TYPES
from mechanisms.domain import Domain

MOODS = ("sad", "so so", " glad", "Zürich", "5")
DECLARED = {"bpchar": "char(4)", "varchar": "varchar(40)", "enum": "mood"}
DUCK = {
    "int2": "SMALLINT",
    "int4": "INTEGER",
    "int8": "BIGINT",
    "numeric": "DECIMAL(38,12)",
    "bpchar": "VARCHAR",
}
DUCK |= {"float4": "FLOAT", "float8": "DOUBLE", "enum": "VARCHAR", "timestamptz": "TIMESTAMPTZ"}
Columns = Mapping[str, tuple[str, Sequence[str | None]]]


def file_text(kind: str, value: str | None) -> str | None:
    """How a file has a value that an engine reads from a text; decided without the engine."""
    if value is None:
        return None
    if kind == "bpchar":
        return value.ljust(4)
    if kind in ("int2", "int4", "int8"):
        return str(int(value))
    if kind == "numeric":
        return _plain(value)
    if kind in ("float4", "float8"):
        number = np.float32(value) if kind == "float4" else np.float64(value)
        return as_text(pa.array([number])).texts[0].as_py()
    if kind.startswith("timestamp") and value[4] == "-" and not value.endswith("BC"):
        moment = dt.datetime.fromisoformat(value)
        moment = moment.astimezone(dt.UTC).replace(tzinfo=None) if moment.tzinfo else moment
        return as_text(pa.array([moment], pa.timestamp("us"))).texts[0].as_py()
    return value.replace("\r\n", "\n").replace("\r", "\n") or None


def decimals(number: Decimal) -> int:
    """How many digits follow the point, without zeros at the end; `normalize` would round to 28 digits first."""
    return len(f"{number:f}".partition(".")[2].rstrip("0"))


def _plain(value: str) -> str:
    number = Decimal(value)
    if not number.is_finite():
        return {"NaN": "nan", "Infinity": "inf", "-Infinity": "-inf"}[str(number)]
    text = f"{number:f}"
    text = text.rstrip("0").rstrip(".") if "." in text else text
    return "0" if text == "-0" else text


def stored(folder: Path, columns: Columns) -> Path:
    """A stored upload of the texts of a file."""
    path = folder / "twin.parquet"
    fields = {
        text_name(i): pa.array([file_text(kind, value) for value in values], pa.string())
        for i, (kind, values) in enumerate(columns.values())
    }
    metadata = {NAMES_KEY: names_metadata(list(columns))}
    pq.write_table(pa.table(fields).replace_schema_metadata(metadata), path)
    return path


def uploaded_counts(path: Path, domain: Domain, tables, options: ReadOptions, persons: Persons | None):
    return count_tables(path, domain, tables, options, persons=persons, key=b"a key for these tests")


class Twin:
    """A table in an engine."""

    dialect: SqlDialect

    def __init__(self, connection) -> None:
        self.connection = connection
        self.table = "twin"

    @staticmethod
    def column(name: str) -> Expr:
        return exp.column(name)

    def fill(self, columns: Columns) -> None:
        raise NotImplementedError

    def rows(self, statement: str) -> list[tuple[int, int]]:
        return self.connection.execute(statement).fetchall()

    def counts(
        self, columns: Columns, domain: Domain, tables, options: ReadOptions, persons: Persons | None
    ) -> np.ndarray:
        types = {name: TYPES[kind] for name, (kind, _values) in columns.items()}
        source = QuerySource(self.dialect, self.table, types)
        found = np.zeros(sum(domain.project(names).size for names in tables), dtype=np.int64)
        for place, rows in self.rows(count_statement(source, domain, tables, options.settled(), persons)):
            found[place] += rows
        return found


class PostgresTwin(Twin):
    dialect = Postgres()

    def fill(self, columns: Columns) -> None:
        fields = [
            sql.SQL("{} {}").format(sql.Identifier(name), sql.SQL(DECLARED.get(kind, kind)))
            for name, (kind, _values) in columns.items()
        ]
        self.connection.execute("DROP TABLE IF EXISTS pg_temp.twin")
        self.connection.execute(sql.SQL("CREATE TEMP TABLE twin ({})").format(sql.SQL(", ").join(fields)))
        rows = list(zip(*(values for _kind, values in columns.values()), strict=True))
        casts = [
            sql.SQL("%s::{}").format(sql.SQL(DECLARED.get(kind, kind))) for kind, _values in columns.values()
        ]
        insert = sql.SQL("INSERT INTO twin VALUES ({})").format(sql.SQL(", ").join(casts))
        self.connection.cursor().executemany(insert, rows)


class DuckTwin(Twin):
    dialect = DuckDB()

    def fill(self, columns: Columns) -> None:
        fields = ", ".join(f'"{n}" {DUCK.get(kind, kind.upper())}' for n, (kind, _v) in columns.items())
        self.connection.execute(f"CREATE OR REPLACE TABLE twin ({fields})")
        rows = [
            list(row) for row in zip(*(self._values(*column) for column in columns.values()), strict=True)
        ]
        places = ", ".join("?" for _ in columns)
        if rows:
            self.connection.executemany(f"INSERT INTO twin VALUES ({places})", rows)

    @staticmethod
    def _values(kind: str, values: Sequence[str | None]) -> list[str | None]:
        padded = [value.ljust(4) if kind == "bpchar" and value is not None else value for value in values]
        days = kind in ("date", "timestamp", "timestamptz")
        return [value.replace(" BC", " (BC)") if days and value else value for value in padded]


@contextmanager
def postgres(url: str) -> Iterator[PostgresTwin]:
    """Tables that end with the connection."""
    with psycopg.connect(f"{url}/postgres", autocommit=True) as connection:
        moods = sql.SQL(", ").join(map(sql.Literal, MOODS))
        connection.execute(sql.SQL("CREATE TYPE pg_temp.mood AS ENUM ({})").format(moods))
        connection.execute("SET search_path TO pg_temp, public; SET timezone TO 'Asia/Tokyo'")
        yield PostgresTwin(connection)


@contextmanager
def duck() -> Iterator[DuckTwin]:
    with duckdb.connect() as connection:
        yield DuckTwin(connection)


def both(twin, folder, columns, domain, options, *, tables=None, persons=None):
    """Counts of an engine and of a stored upload."""
    path = stored(folder, columns)
    twin.fill(columns)
    return compared(twin, path, columns, domain, options, tables, persons)


def compared(twin, path, columns, domain, options, tables=None, persons=None):
    """Counts of an engine and of a stored upload that have the same rows already."""
    tables = tables or [(name,) for name in domain.names]
    theirs = twin.counts(columns, domain, tables, options, persons)
    return theirs.tolist(), uploaded_counts(path, domain, tables, options, persons).tolist()
