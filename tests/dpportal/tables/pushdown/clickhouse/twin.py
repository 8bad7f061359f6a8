"""A table in ClickHouse, with the types that ClickHouse has."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Sequence
from decimal import Decimal

from dpportal.tables.engines.clickhouse.dialect import ClickHouse
from dpportal.tables.engines.clickhouse.quoting import literal
from tests.dpportal.tables.pushdown import twins
from tests.dpportal.tables.pushdown.twins import Columns, Twin, decimals

DECLARED = {
    "text": "String",
    "varchar": "LowCardinality(Nullable(String))",
    "enum": "Enum8({})".format(", ".join(f"'{mood}'" for mood in twins.MOODS)),
    "uuid": "UUID",
    "int2": "Int16",
    "int4": "Int32",
    "int8": "Int64",
    "numeric": "Decimal(76, 20)",
    "float4": "Float32",
    "float8": "Float64",
    "bool": "Bool",
    "date": "Date32",
    "timestamptz": "DateTime64(6, 'Asia/Tokyo')",
}
# A decimal of 76 digits, 20 of them after the point.
MOST_DIGITS, PLACES = 56, 20


class ClickHouseTwin(Twin):
    """connection: a session of `connections.clickhouse`. owner: runs statements as who may write."""

    dialect = ClickHouse()

    def __init__(self, connection, owner: Callable[[str], bytes]) -> None:
        super().__init__(connection)
        self.owner = owner

    def fill(self, columns: Columns) -> None:
        declared = [f"{_quoted(name)} {_declared(kind)}" for name, (kind, _values) in columns.items()]
        self.owner("DROP TABLE IF EXISTS twin")
        self.owner(f"CREATE TABLE twin ({', '.join(declared)}) ENGINE = Memory")
        rows = zip(*(_literals(*column) for column in columns.values()), strict=True)
        if written := ", ".join(f"({', '.join(row)})" for row in rows):
            self.owner(f"INSERT INTO twin VALUES {written}")

    def rows(self, statement: str) -> list[tuple[int, int]]:
        pairs = self.connection.counts(statement)
        return [pair for places, rows in pairs for pair in zip(places.tolist(), rows.tolist(), strict=True)]


def fits(kind: str, value: str | None) -> bool:
    """Whether ClickHouse has this value of a type."""
    if value is None or kind in ("text", "varchar"):
        return True
    if kind in ("date", "timestamptz"):
        return value[:2] in ("19", "20", "21", "22") and value[4] == "-"
    if kind != "numeric":
        return True
    number = Decimal(value)
    if not number.is_finite() or number.adjusted() >= MOST_DIGITS:
        return False
    return decimals(number) <= PLACES


def _declared(kind: str) -> str:
    declared = DECLARED[kind]
    return declared if "Nullable" in declared else f"Nullable({declared})"


def _literals(kind: str, values: Sequence[str | None]) -> list[str]:
    return ["NULL" if value is None else _literal(kind, value) for value in values]


def _literal(kind: str, value: str) -> str:
    if kind == "numeric":
        return f"toDecimal256('{Decimal(value):f}', {PLACES})"
    if kind in ("float4", "float8"):
        return f"to{DECLARED[kind]}('{value}')"
    if kind == "timestamptz":
        moment = dt.datetime.fromisoformat(value)
        return f"toDateTime64('{moment.astimezone(dt.UTC):%Y-%m-%d %H:%M:%S.%f}', 6, 'UTC')"
    return value if kind.startswith("int") or kind == "bool" else literal(value)


def _quoted(name: str) -> str:
    return f"`{name}`"
