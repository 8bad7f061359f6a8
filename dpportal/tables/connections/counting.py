"""True counts of a connected table: queries in one read-only transaction; no row comes here."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial

import numpy as np
from django.utils.translation import gettext as _

from dpportal.tables.connections.models import Connection, SharedTable
from dpportal.tables.engines import definitions, protocol as engine
from dpportal.tables.engines.clickhouse.dialect import ClickHouse
from dpportal.tables.engines.registry import engine_of
from dpportal.tables.engines.spark.dialect import Spark
from dpportal.tables.facts import Column, checked_names
from dpportal.tables.faults import SourceFault, UploadFault
from dpportal.tables.fit import PersonFit, TableFit, column_fit
from dpportal.tables.meaning.identifiers import named_like_identifier
from dpportal.tables.meaning.parse_options import Limits, ReadOptions
from dpportal.tables.persons import Persons
from dpportal.tables.pushdown.count_query import QuerySource, count_statement
from dpportal.tables.pushdown.dialects import NotExactError, Postgres, SqlDialect
from dpportal.tables.pushdown.fit_queries import REASONS, reasons_statement, rows_statement
from dpportal.tables.pushdown.sum_query import (
    CELL_PARTS,
    PARTS,
    CellTable,
    cell_powers,
    cell_sums_statement,
    powers_of,
    sum_statement,
)
from dpportal.tables.pushdown.types import TYPES
from mechanisms.domain import Attribute, Domain

# A query of many columns works on each row for long, and one that takes too long is lost as a whole.
MOST_COLUMNS = 12


@dataclass(frozen=True)
class LeftOut:
    """A column whose type has no rule."""

    name: str
    type: str


@dataclass(frozen=True)
class Schema:
    """The facts about a connected table. relations: the tables that it is read from, named by their server.

    definition: digests of what it is made of, by name.
    """

    columns: tuple[Column, ...]
    types: dict[str, str]
    left_out: tuple[LeftOut, ...]
    relations: tuple[str, ...]
    identity: str
    definition: dict[str, str]


@dataclass(frozen=True)
class CountRequest:
    """The table that a dataset was made from, which must still be the same. types: of its columns, by name.

    definition: as of `Schema`.
    """

    table: SharedTable
    identity: str
    types: dict[str, str]
    definition: dict[str, str]


@dataclass(frozen=True)
class PushdownCounts:
    """Counts, and where and when they were read: an engine with its version, the day of the snapshot in UTC.

    Not its moment, which is published: until the measurement counting takes longer the more rows there are.
    """

    counts: np.ndarray
    engine: str
    read_at: str


@dataclass(frozen=True)
class QueryPart:
    """Tables that one query counts. columns: of the domain, in its order, with all that can leave a row out."""

    columns: tuple[str, ...]
    tables: tuple[tuple[str, ...], ...]

    def cells(self, domain: Domain) -> int:
        return sum(domain.project(columns).size for columns in self.tables)


def parts(domain: Domain, tables: Sequence[Sequence[str]], most: int) -> list[QueryPart]:
    """The tables in their order, shared out over queries of few columns each, beside those that leave rows out.

    most: columns of a query, unless a table alone has more.
    """
    shared: list[list[tuple[str, ...]]] = []
    for columns in map(tuple, tables):
        together = {name for table in shared[-1] for name in table} if shared else set()
        if shared and len(together | set(columns)) <= most:
            shared[-1].append(columns)
        else:
            shared.append([columns])
    leaving = {a.name for a in domain.attributes if a.leaves_out}
    result = []
    for own in shared:
        read = leaving.union(*own)
        result.append(QueryPart(tuple(name for name in domain.names if name in read), tuple(own)))
    return result


def look(table: SharedTable) -> Schema:
    """Columns and types of a connected table; no row is read. Raises SourceFault."""
    speaking = engine_of(table.connection)
    source = speaking.source(table)
    with speaking.reading(table.connection) as session:
        described = session.describe(source)
        relations = tuple(session.relations(source))
        definition = session.definition(table)
        identity = _identity(session, table)
    definitions.check_shifts(definition, vouched=bool(table.vouched))
    readable = [column for column in described if column.type in TYPES]
    left_out = tuple(LeftOut(c.name, c.type) for c in described if c.type not in TYPES)
    _check_names([column.name for column in readable])
    columns = tuple(
        Column(c.name, TYPES[c.type].kind, identifies=c.type == "uuid" or named_like_identifier(c.name))
        for c in readable
    )
    types = {c.name: c.type for c in readable}
    return Schema(columns, types, left_out, relations, identity, definition.parts)


def count_tables(
    request: CountRequest,
    domain: Domain,
    tables: Sequence[Sequence[str]],
    options: ReadOptions,
    persons: Persons | None,
) -> PushdownCounts:
    """Counts of tables of some of the domain's columns each, one after the other, each in C order, int64.

    A row that any column of the domain leaves out is in none, and the same rows of a person are in every table: all
    come from one query, or from several of one snapshot where each row is a person's. Raises SourceFault for whatever
    keeps the table from being counted as it was declared.
    """
    counts = np.zeros(sum(domain.project(columns).size for columns in tables), dtype=np.int64)
    with _opened(request, domain, persons) as (session, source):
        size = MOST_COLUMNS if session.one_snapshot and not persons else len(domain.names)
        rest = counts
        for part in parts(domain, tables, size):
            own, its_domain = rest[: part.cells(domain)], domain.project(part.columns)
            statement = partial(count_statement, source, its_domain, part.tables, options.settled(), persons)
            _add(session, own, statement)
            rest = rest[own.size :]
    return _read_by(session, counts)


def power_sums(
    request: CountRequest,
    groups: Domain,
    readings: Sequence[Attribute],
    options: ReadOptions,
    persons: Persons | None,
) -> PushdownCounts:
    """Exact power sums of columns by groups, (columns, groups, 6) Python integers: see `sum_statement`.

    Raises SourceFault for whatever keeps the table from being read as it was declared.
    """
    sums = np.zeros((groups.size, len(readings), len(PARTS)), dtype=np.int64)
    with _opened(request, Domain((*groups.attributes, *readings)), persons) as (session, source):
        settled = options.settled()
        _add(session, sums.reshape(-1), lambda: sum_statement(source, groups, readings, settled, persons))
    return _read_by(session, powers_of(sums))


def cell_sums(
    request: CountRequest,
    domain: Domain,
    tables: Sequence[tuple[Sequence[str], str]],
    options: ReadOptions,
    persons: Persons | None,
) -> PushdownCounts:
    """Of each table's cells, in C order, rows, Σv and Σv² of what is added up, (cells, 3) Python integers.

    tables: as of `CellTable`. All of the same rows, as of `count_tables`. Raises SourceFault.
    """
    cell_tables = [CellTable(tuple(columns), added) for columns, added in tables]
    sizes = [domain.project(table.columns).size for table in cell_tables]
    sums = np.zeros((sum(sizes), len(CELL_PARTS)), dtype=np.int64)
    leaving = [a.name for a in domain.attributes if a.leaves_out]
    with _opened(request, domain, persons) as (session, source):
        size, rest = MOST_COLUMNS if session.one_snapshot and not persons else len(cell_tables), sums
        for first in range(0, len(cell_tables), size):
            own = cell_tables[first : first + size]
            read = {*leaving, *(name for table in own for name in (*table.columns, table.added))}
            its_domain = domain.project([name for name in domain.names if name in read])
            statement = partial(cell_sums_statement, source, its_domain, own, options.settled(), persons)
            part = rest[: sum(sizes[first : first + size])]
            _add(session, part.reshape(-1), statement)
            rest = rest[len(part) :]
    return _read_by(session, cell_powers(sums))


def _read_by(session: engine.Session, counts: np.ndarray) -> PushdownCounts:
    return PushdownCounts(counts, session.version, session.read_at.astimezone(dt.UTC).date().isoformat())


def fit(request: CountRequest, domain: Domain, options: ReadOptions, persons: Persons | None) -> TableFit:
    """How a table fits its declarations, in numbers of rows alone: no text of it comes here. Raises SourceFault."""
    reasons = np.zeros((len(domain.attributes), len(REASONS)), dtype=np.int64)
    rows = np.zeros(5, dtype=np.int64)
    leaving = [attribute for attribute in domain.attributes if attribute.leaves_out]
    with _opened(request, domain, persons) as (session, source):
        _add(session, reasons.reshape(-1), lambda: reasons_statement(source, domain, options.settled()))
        _add(session, rows, lambda: rows_statement(source, leaving, options.settled(), persons))
    columns = tuple(
        column_fit(attribute, dict(zip(REASONS, counts, strict=True)), ())
        for attribute, counts in zip(domain.attributes, reasons.tolist(), strict=True)
    )
    people, all_rows, left_out, beyond, without = rows.tolist()
    person_fit = PersonFit(people, without, persons.max_rows, beyond) if persons else None
    return TableFit(all_rows, left_out, columns, person_fit)


@contextmanager
def _opened(
    request: CountRequest, domain: Domain, persons: Persons | None
) -> Iterator[tuple[engine.Session, QuerySource]]:
    """A session and the table in it, once both are found to be what the dataset was made from."""
    connection = request.table.connection
    speaking = engine_of(connection)
    source = speaking.source(request.table)
    with speaking.reading(connection) as session:
        if _identity(session, request.table) != request.identity:
            raise SourceFault("other", _(OTHER_TABLE))
        names = [*domain.read, *([persons.column] if persons else [])]
        _check_definition(session, source, request, names)
        types = {name: TYPES[request.types[name]] for name in names}
        yield session, QuerySource(_dialect(connection, session), source, types)
        # Where nothing keeps a table as it was described, it may have changed before it was counted.
        _check_definition(session, source, request, names)


def _dialect(connection: Connection, session: engine.Session) -> SqlDialect:
    if connection.kind == Connection.Kind.SPARK:
        return Spark(session.lot)
    return ClickHouse() if connection.kind == Connection.Kind.CLICKHOUSE else Postgres()


def _add(session: engine.Session, counts: np.ndarray, statement: Callable[[], str]) -> None:
    """Put what a query counts in its places."""
    try:
        query = statement()
    except NotExactError as refusal:
        raise SourceFault("not-exact", str(refusal)) from None
    for places, rows in session.counts(query):
        counts[places] = rows


OTHER_TABLE = (
    "The connection leads to another table now than the one that this dataset was made from. If it is the same table, "
    "moved or renamed, an administrator can say so in the admin; for another table, make a new dataset."
)


def _identity(session: engine.Session, table: SharedTable) -> str:
    return f"{session.server} {table.declared}"


def _check_definition(
    session: engine.Session, source: str, request: CountRequest, names: Sequence[str]
) -> None:
    """Raise SourceFault unless a table has the columns and the definition with which its dataset was made."""
    _check_types(request, {c.name: c.type for c in session.describe(source)}, names)
    current = session.definition(request.table)
    definitions.check(request.definition, current, vouched=bool(request.table.vouched))


def _check_types(request: CountRequest, current: dict[str, str], names: Sequence[str]) -> None:
    if gone := [name for name in names if name not in current]:
        raise SourceFault(
            "column",
            _("The table has no column %(names)s any more. Ask an administrator.")
            % {"names": ", ".join(gone)},
        )
    if changed := [name for name in names if current[name] != request.types[name]]:
        raise SourceFault(
            "type",
            _(
                "The type of %(names)s changed since the dataset was made, so its values may mean something else. Ask "
                "an administrator to offer the column with its former type, for instance by a view."
            )
            % {"names": ", ".join(changed)},
        )


def _check_names(names: Sequence[str]) -> None:
    """Raise SourceFault for names that could not be told apart, or that pages could not show as they are."""
    if not names:
        raise SourceFault("columns", _("No column of this table has a type that can be counted."))
    try:
        checked = checked_names(names, Limits().columns)
    except UploadFault:
        checked = ()
    if checked != tuple(names):
        raise SourceFault(
            "names",
            _(
                "The table has too many columns, or names that differ only by capitals, spaces or signs that show "
                "nothing. Ask an administrator to offer a view with plain names."
            ),
        )
