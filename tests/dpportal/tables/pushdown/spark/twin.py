"""A table of one Parquet file in a Spark cluster, with the types that Spark has."""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from dpportal.tables.engines.spark.dialect import Spark
from tests.dpportal.tables.pushdown.twins import Columns, Twin, decimals

ARROW = {
    "text": pa.string(),
    "int2": pa.int16(),
    "int4": pa.int32(),
    "int8": pa.int64(),
    "numeric": pa.decimal128(38, 12),
    "float4": pa.float32(),
    "float8": pa.float64(),
    "bool": pa.bool_(),
    "date": pa.date32(),
    "timestamp": pa.timestamp("us"),
    "timestamptz": pa.timestamp("us", "UTC"),
}
# Python has no such days.
DAYS = {"0044-03-15 BC": -735160, "10000-01-01": 2932897}


class SparkTwin(Twin):
    """connection: a session of `connections.spark`."""

    dialect = Spark("a lot")

    def __init__(self, connection: Any, folder: Path) -> None:
        super().__init__(connection)
        self.folder = folder
        self.filled = 0

    def fill(self, columns: Columns) -> None:
        # A file of another name each time: Spark keeps what it knows of one.
        self.filled += 1
        file = self.folder / f"twin {self.filled}.parquet"
        fields = {name: pa.array(_values(*column), ARROW[column[0]]) for name, column in columns.items()}
        pq.write_table(pa.table(fields), file)
        self.table = f"parquet.`{file}`"

    def rows(self, statement: str) -> list[tuple[int, int]]:
        pairs = self.connection.counts(statement)
        return [pair for places, rows in pairs for pair in zip(places.tolist(), rows.tolist(), strict=True)]

    def table_of(self, statement: str) -> pa.Table:
        return self.connection.spark.sql(statement).toArrow()


def fits(kind: str, value: str | None) -> bool:
    """Whether Spark has this value of a type."""
    if value is None or kind != "numeric":
        return value is None or not value.endswith("infinity") or kind == "text"
    number = Decimal(value)
    if not number.is_finite() or number.adjusted() > 25:
        return False
    return decimals(number) <= 12


def _values(kind: str, values: Sequence[str | None]) -> list[Any]:
    return [None if value is None else _value(kind, value) for value in values]


def _value(kind: str, value: str) -> Any:
    if kind == "text":
        return value
    if kind in ("float4", "float8"):
        return float(value)
    if kind == "numeric":
        return Decimal(value)
    if kind == "bool":
        return value == "true"
    if kind.startswith("int"):
        return int(value)
    if value in DAYS:
        return DAYS[value] * (1 if kind == "date" else 86_400_000_000)
    if kind == "date":
        return (dt.date.fromisoformat(value) - dt.date(1970, 1, 1)).days
    moment = dt.datetime.fromisoformat(value)
    moment = moment if moment.tzinfo else moment.replace(tzinfo=dt.UTC)
    return (moment - dt.datetime(1970, 1, 1, tzinfo=dt.UTC)) // dt.timedelta(microseconds=1)
