"""The rows of a stored table as the declared attributes read them, in DuckDB's SQL."""
# ruff: noqa: S608 names and values are quoted by engine.identifier and engine.literal

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import duckdb
from sqlglot import exp
from sqlglot.expressions import Expr

from dpportal.platform.sealed_files import FilePath
from dpportal.tables.engines.duckdb.dialect import DuckDB
from dpportal.tables.engines.duckdb.session import identifier, parquet
from dpportal.tables.layout import LOOKED_UP, StoredColumn, layout
from dpportal.tables.meaning.parse_options import ReadOptions
from dpportal.tables.persons import Persons
from dpportal.tables.pushdown.count_query import CELL, Plain, QuerySource, cells
from dpportal.tables.pushdown.types import STORED
from mechanisms.domain import Attribute

ROW_ID, TIMES = "row_id", "times"
TEXT, PLAIN, KNOWN = "text", "plain_number", "known_cell"
# No column of an earlier version's table is called so.
OF_PARTS = '"rows of these\n"'


@dataclass(frozen=True)
class Upload(QuerySource):
    """A stored table. stored: its columns by name. known: those whose cells its rows have already."""

    stored: Mapping[str, StoredColumn]
    known: frozenset[str] = frozenset()

    def column(self, name: str) -> Expr:
        return exp.column(self._called(TEXT, name))

    def plain(self, name: str) -> Plain | None:
        stored = self.stored[name]
        return Plain(exp.column(self._called(PLAIN, name)), stored.all_plain) if stored.plain else None

    def known_cell(self, name: str) -> Expr | None:
        return exp.column(self._called(KNOWN, name)) if name in self.known else None

    def _called(self, what: str, name: str) -> str:
        return f"{what}_{self.stored[name].number}"


class RowSource:
    """A stored table seen through some attributes.

    A column of few different texts is read text by text, and not row by row: its rows look their cells up. Where plain
    numbers are stored of all texts, reading them takes no longer.
    options: settled.
    Raises KeyError if the table lacks a column.
    """

    def __init__(
        self,
        connection: duckdb.DuckDBPyConnection,
        path: FilePath,
        options: ReadOptions,
        attributes: Sequence[Attribute],
    ) -> None:
        self.connection = connection
        self.path = path
        self.options = options
        self.attributes = attributes
        self.columns = layout(connection, path)
        once = [name for name, times in Counter(a.column for a in attributes).items() if times == 1]
        few = [name for name in once if self.columns[name].few and not self.columns[name].all_plain]
        self.known = frozenset(few[:LOOKED_UP])
        for attribute in attributes:
            if attribute.column in self.known:
                self._look_up(attribute)

    def cells(self, persons: Persons | None = None) -> str:
        """SQL: cell_i of each attribute (NULL: the row is left out), row_id, and with persons the person."""
        names = [a.column for a in self.attributes]
        source = self.source([*names, *([persons.column] if persons else [])], self.known)
        rows = cells(source, self.attributes, self.options, persons, [exp.column(ROW_ID)])
        return source.dialect.sql(rows)

    def source(self, names: Sequence[str], known: frozenset[str] = frozenset()) -> Upload:
        """Some of the table's columns, and the cells of those that are known."""
        stored = {name: self.columns[name] for name in names}
        fields = [f"file_row_number AS {ROW_ID}", *_fields(stored)]
        rows = f"(SELECT {', '.join(fields)} FROM {parquet(self.path, row_numbers=True)}) AS rows"
        selected, joins = ["rows.*"], []
        for number in (stored[name].number for name in known):
            text, meaning = f"{TEXT}_{number}", f"meaning_{number}"
            selected.append(f"{meaning}.{CELL}_0 AS {KNOWN}_{number}")
            joins.append(f"JOIN {meaning} ON rows.{text} IS NOT DISTINCT FROM {meaning}.{text}")
        joined = f"(SELECT {', '.join(selected)} FROM {' '.join([rows, *joins])}) AS rows"
        return _upload(joined if known else rows, stored, known)

    def fields(self, name: str) -> Upload:
        """A column's fields, with how many rows each is of; of few different texts each comes once."""
        stored = {name: self.columns[name]}
        rows, times = parquet(self.path), "1"
        if self.columns[name].few:
            stored = {name: replace(self.columns[name], plain=None, all_plain=False)}
            parts, times = ", ".join(map(identifier, self.columns[name].parts)), OF_PARTS
            rows = f"(SELECT {parts}, count(*) AS {OF_PARTS} FROM {rows} GROUP BY ALL)"
        fields = [*_fields(stored), f"{times} AS {TIMES}"]
        return _upload(f"(SELECT {', '.join(fields)} FROM {rows}) AS texts", stored)

    def _look_up(self, attribute: Attribute) -> None:
        """Make a table of the different texts of a column, with the cell of each."""
        source = self.fields(attribute.column)
        read = cells(source, [attribute], self.options, None, [source.column(attribute.column)])
        number = self.columns[attribute.column].number
        self.connection.execute(f"CREATE TEMP TABLE meaning_{number} AS {source.dialect.sql(read)}")


def _fields(stored: Mapping[str, StoredColumn]) -> list[str]:
    texts = [f"{column.text} AS {TEXT}_{column.number}" for column in stored.values()]
    return texts + [f"{c.plain} AS {PLAIN}_{c.number}" for c in stored.values() if c.plain]


def _upload(rows: str, stored: Mapping[str, StoredColumn], known: frozenset[str] = frozenset()) -> Upload:
    return Upload(DuckDB(), rows, dict.fromkeys(stored, STORED), stored, known)
