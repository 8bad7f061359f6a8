"""A session of PostgreSQL that can only read: one transaction, one snapshot, limits of time and of rows.

Imported when a connected table is read, and not when the portal starts.
"""
# ruff: noqa: S608 names are quoted by psycopg, counting queries are made by SQLGlot

from __future__ import annotations

import datetime as dt
import json
import os
import socket
import threading
from collections.abc import Collection, Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from dataclasses import dataclass
from typing import LiteralString

import numpy as np
import psycopg
from django.utils.translation import gettext as _
from psycopg import errors, sql
from psycopg.rows import dict_row

from dpportal.platform.json_types import Json
from dpportal.tables.engines import credentials
from dpportal.tables.engines.cost_estimate import Expected, check
from dpportal.tables.engines.definitions import SourceDefinition
from dpportal.tables.engines.postgres import definitions as postgres_definitions
from dpportal.tables.engines.postgres.definitions import QueryValues
from dpportal.tables.engines.protocol import ColumnInfo
from dpportal.tables.engines.server import Server, ServerTable
from dpportal.tables.faults import SourceFault

CONNECT_SECONDS = 5
# The server ends a statement that takes too long; a server that is gone is waited for no longer than so much more.
PATIENCE_SECONDS = 30
OLDEST = 140000
# Of the binary format of COPY: a header, and two fields of 8 bytes a row, each after its length; then a trailer.
HEADER_BYTES = 19
PAIR = np.dtype([("fields", ">i2"), ("a", ">i4"), ("place", ">i8"), ("b", ">i4"), ("rows", ">i8")])
BATCH_ROWS = 50_000
# A type that somebody made has its schema before its name, lest one called date be taken for a date.
TYPES_OF = """SELECT oid, CASE WHEN typtype = 'e' THEN 'enum'
    WHEN typcategory = 'A' THEN pg_catalog.format_type(oid, NULL)
    WHEN typnamespace = 'pg_catalog'::pg_catalog.regnamespace THEN typname::pg_catalog.text
    ELSE pg_catalog.format('%%s.%%s', typnamespace::pg_catalog.regnamespace, typname) END
    FROM pg_catalog.pg_type WHERE oid = ANY(%s)"""
# A plan's reading of a whole table, and what that takes.
FULL_SCAN = "Seq Scan"
SIZES_OF = """SELECT nspname::pg_catalog.text, relname::pg_catalog.text,
    reltuples::pg_catalog.int8, pg_catalog.pg_relation_size(c.oid)
    FROM pg_catalog.pg_class AS c JOIN pg_catalog.pg_namespace AS n ON n.oid = c.relnamespace
    WHERE (nspname, relname) IN
    (SELECT * FROM ROWS FROM (pg_catalog.unnest(%s::name[]), pg_catalog.unnest(%s::name[])))"""
# Tables with those that they are parts of, on all levels.
ANCESTORS_OF = """WITH RECURSIVE found AS (
    SELECT c.oid FROM pg_catalog.pg_class AS c JOIN pg_catalog.pg_namespace AS n ON n.oid = c.relnamespace
    WHERE (nspname, relname) IN
    (SELECT * FROM ROWS FROM (pg_catalog.unnest(%s::name[]), pg_catalog.unnest(%s::name[])))
    UNION SELECT inhparent FROM pg_catalog.pg_inherits JOIN found ON inhrelid = oid)
    SELECT nspname::pg_catalog.text AS schema, relname::pg_catalog.text AS name
    FROM found JOIN pg_catalog.pg_class AS c USING (oid)
    JOIN pg_catalog.pg_namespace AS n ON n.oid = c.relnamespace"""
# The server's own functions and types before all others of the same name, wherever the role's path seeks them.
PATH = """SELECT pg_catalog.set_config('search_path', pg_catalog.concat_ws(', ', 'pg_catalog',
    NULLIF(pg_catalog.current_setting('search_path'), '')), true)"""
# Whatever the server's or the role's own settings are.
SETTINGS: dict[LiteralString, LiteralString] = {
    "standard_conforming_strings": "on",
    "datestyle": "ISO",
    "timezone": "UTC",
    "extra_float_digits": "1",
    "default_transaction_read_only": "on",
    "idle_in_transaction_session_timeout": "600000",
}


def source(table: ServerTable) -> str:
    """What stands behind FROM, its names quoted; a query as the administrator wrote it."""
    if table.query:
        return f"(\n{table.query.strip()}\n) AS source"
    names = (table.schema, table.table) if table.schema else (table.table,)
    return sql.Identifier(*names).as_string()


@dataclass
class PostgresSession:
    """One read-only transaction. version: of the engine. read_at: when its snapshot was taken, by its own clock."""

    cursor: psycopg.Cursor
    connection: Server
    version: str
    read_at: dt.datetime
    server: str
    lot: str = ""
    one_snapshot = True

    def describe(self, source: str) -> list[ColumnInfo]:
        """The columns of what stands behind FROM; from here to the end of the session nobody changes them."""
        self._run(f"SELECT * FROM {source} LIMIT 0")
        columns = [(column.name, column.type_code) for column in self.cursor.description or ()]
        self._run(TYPES_OF, [[oid for _name, oid in columns]])
        types: dict[int, str] = dict(self.cursor.fetchall())
        return [ColumnInfo(name, types.get(oid, "unknown")) for name, oid in columns]

    def relations(self, source: str) -> list[str]:
        """The tables that a reading of the source comes to, however many views lie between.

        With each partition the table of which it is one, which may have others another day.
        """
        plan = self._plan(f"SELECT * FROM {source}")
        self._run(ANCESTORS_OF, _names({_place(node) for node in plan if "Relation Name" in node}))
        return sorted(f"{self.server}/{schema}.{table}" for schema, table in self.cursor.fetchall())

    def definition(self, table: ServerTable) -> SourceDefinition:
        """What a table or query is made of now; from `describe` on, nobody changes it before the session ends."""
        with translating_errors(), _looking(self.connection) as looking:
            reader = postgres_definitions.PostgresDefinitions(
                self._named, looking, self._plan_apart, self._ancestors
            )
            return reader.definition(table, source(table))

    def counts(self, statement: str) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        """Places and numbers of rows of a query that gives two columns of bigint, batch by batch as they arrive.

        Raises SourceFault.
        """
        check(self.connection, self._expected(statement))
        # A copy, and not a cursor: a cursor would keep the server from working in parallel.
        copying = _trusted(f"COPY ({statement}) TO STDOUT (FORMAT binary)")
        with translating_errors(), self._answered(), self.cursor.copy(copying) as copied:
            waiting, begun = bytearray(), False
            for block in copied:
                waiting += block
                if not begun:
                    begun = len(waiting) >= HEADER_BYTES
                    del waiting[: HEADER_BYTES if begun else 0]
                if begun and len(waiting) >= BATCH_ROWS * PAIR.itemsize:
                    yield _pairs(waiting)
            yield _pairs(waiting)

    def _expected(self, statement: str) -> Expected:
        """Rows and bytes of every table that the plan reads: a whole one as it is stored, of others what is found."""
        nodes = [node for node in self._plan(statement) if "Relation Name" in node]
        scanned = {_place(node) for node in nodes if node["Node Type"] == FULL_SCAN}
        self._run(SIZES_OF, _names(scanned))
        stored = {(schema, table): sizes for schema, table, *sizes in self.cursor.fetchall()}
        all_rows = all_bytes = 0
        for node in nodes:
            rows, size = stored.get(_place(node), (0, 0)) if node["Node Type"] == FULL_SCAN else (0, 0)
            planned = _rows_of_all(node)
            all_rows += max(rows, planned)
            all_bytes += max(size, planned * node["Plan Width"])
        return Expected(all_rows, all_bytes)

    def _plan(self, statement: str) -> list[Json]:
        """Every node of the plan of a query, which is not run; workers: how many processes share it beside one."""
        self._run(f"EXPLAIN (VERBOSE, FORMAT JSON) {statement}")
        row = self.cursor.fetchone()
        assert row is not None
        plan = row[0] if isinstance(row[0], list) else json.loads(row[0])
        waiting, nodes = [{**plan[0]["Plan"], "workers": 0}], []
        while waiting:
            node = waiting.pop()
            nodes.append(node)
            workers = node.get("Workers Planned", node["workers"])
            waiting += [{**below, "workers": workers} for below in node.get("Plans", [])]
        return nodes

    def _plan_apart(self, statement: str) -> list[Json]:
        """The same; where the server refuses it, what comes after it is answered all the same."""
        with translating_errors(), self.cursor.connection.transaction():
            return self._plan(statement)

    def _named(self, statement: str, values: QueryValues = None) -> list[Json]:
        self._run(statement, values)
        names = [column.name for column in self.cursor.description or ()]
        return [dict(zip(names, row, strict=True)) for row in self.cursor.fetchall()]

    def _ancestors(self, schema: str, table: str) -> list[Json]:
        """The tables that a table is part of, with itself."""
        return self._named(ANCESTORS_OF, _names([(schema, table)]))

    def _answered(self) -> AbstractContextManager[None]:
        """No statement is waited for longer than the server lets it run."""
        return _waited(self.cursor.connection, self.connection.seconds + PATIENCE_SECONDS)

    def _run(self, statement: str, values: QueryValues = None) -> None:
        with translating_errors(), self._answered():
            # Prepared, so that the server takes no second statement after it.
            self.cursor.execute(_trusted(statement), values, prepare=True)


@contextmanager
def reading(connection: Server) -> Iterator[PostgresSession]:
    """A session with a connection's database, which ends with the block. Raises SourceFault."""
    opened = _connected(connection)
    opened.read_only = True
    opened.isolation_level = psycopg.IsolationLevel.REPEATABLE_READ
    try:
        yield _begun(opened, connection)
    finally:
        # Nothing was written, and a lost connection has nothing to undo.
        opened.close()


def _connected(connection: Server) -> psycopg.Connection:
    password = credentials.password(connection)
    with translating_errors(connecting=True):
        return psycopg.connect(
            host=connection.host,
            port=connection.port,
            dbname=connection.database,
            user=connection.user,
            password=password,
            sslmode=connection.encryption,
            # Without it a server may ask for the password itself.
            require_auth="scram-sha-256",
            gssencmode="disable",
            connect_timeout=CONNECT_SECONDS,
            client_encoding="UTF8",
            application_name="dpportal",
        )


@contextmanager
def _looking(connection: Server) -> Iterator[postgres_definitions.Catalogs]:
    """A second session, each of whose statements sees what is there at that moment; names are never sought in it."""
    opened = _connected(connection)
    opened.read_only = opened.autocommit = True
    settings = {"search_path": "", "statement_timeout": str(connection.seconds * 1000)}
    try:
        with opened.cursor(row_factory=dict_row) as cursor:

            def run(statement: str, values: QueryValues = None) -> list[Json]:
                with _waited(opened, connection.seconds + PATIENCE_SECONDS):
                    return cursor.execute(_trusted(statement), values).fetchall()

            for name, value in settings.items():
                run("SELECT pg_catalog.set_config(%s, %s, false)", [name, value])
            yield run
    finally:
        opened.close()


def _begun(opened: psycopg.Connection, connection: Server) -> PostgresSession:
    with translating_errors(), _waited(opened, PATIENCE_SECONDS):
        cursor = opened.cursor()
        limits = {"statement_timeout": str(connection.seconds * 1000), "lock_timeout": "30000"}
        for name, value in {**SETTINGS, **limits}.items():
            cursor.execute("SELECT pg_catalog.set_config(%s, %s, true)", [name, value])
        cursor.execute(PATH)
        version = opened.info.server_version
        if version < OLDEST:
            raise SourceFault(
                "version", _("This PostgreSQL is older than 14, which is the oldest that is counted in.")
            )
        cursor.execute("SHOW server_encoding")
        if (cursor.fetchone() or ("",))[0] != "UTF8":
            raise SourceFault(
                "encoding",
                _("This database does not keep its texts in UTF-8, so they cannot be compared exactly."),
            )
        cursor.execute("SELECT transaction_timestamp(), pg_catalog.current_database()")
        [(read_at, database)] = cursor.fetchall()
        _end_with_client(opened)
        server = _server(opened, connection)
    version_text = f"PostgreSQL {version // 10000}.{version % 10000}"
    return PostgresSession(cursor, connection, version_text, read_at, f"{server}/{database}")


@contextmanager
def _waited(opened: psycopg.Connection, seconds: float) -> Iterator[None]:
    """Cut the connection where the block takes longer: a server that is gone without a word would be waited for."""
    late = threading.Timer(seconds, _cut, [opened])
    late.daemon = True
    late.start()
    try:
        yield
    finally:
        late.cancel()


def _cut(opened: psycopg.Connection) -> None:
    """What waits for an answer finds the connection lost."""
    with suppress(OSError, psycopg.Error), socket.socket(fileno=os.dup(opened.fileno())) as way:
        way.shutdown(socket.SHUT_RDWR)


def _place(node: Json) -> tuple[str, str]:
    """Schema and name of the table that a node reads."""
    return node.get("Schema", ""), node["Relation Name"]


def _names(places: Collection[tuple[str, str]]) -> list[list[str]]:
    """Schemas and names, each in a list."""
    return [[schema for schema, _table in places], [table for _schema, table in places]]


def _rows_of_all(node: Json) -> int:
    """The rows that a node of a plan finds, of which the plan tells one process's share where several divide them.

    As the planner divides: the process that waits for the others takes part, the less the more they are. A share is
    told in whole rows, of which there may be half a row less.
    """
    rows: int = node["Plan Rows"]
    workers = node["workers"] if node.get("Parallel Aware") else 0
    return int((rows - 0.5) * (workers + max(0.0, 1 - 0.3 * workers))) if workers else rows


def _pairs(waiting: bytearray) -> tuple[np.ndarray, np.ndarray]:
    """The whole rows at the beginning of what arrived, which are taken off it."""
    count = len(waiting) // PAIR.itemsize
    pairs = np.frombuffer(bytes(waiting[: count * PAIR.itemsize]), dtype=PAIR)
    del waiting[: count * PAIR.itemsize]
    return pairs["place"].astype(np.int64), pairs["rows"].astype(np.int64)


def _end_with_client(opened: psycopg.Connection) -> None:
    """Have the server end a query whose worker is gone, where its system can tell."""
    with suppress(errors.InvalidParameterValue), opened.transaction():
        opened.execute("SELECT pg_catalog.set_config('client_connection_check_interval', '5000', true)")


def _server(opened: psycopg.Connection, connection: Server) -> str:
    """What is the same for one server under all its addresses, where the user may ask for it."""
    try:
        with opened.transaction(), opened.cursor() as cursor:
            cursor.execute("SELECT system_identifier FROM pg_catalog.pg_control_system()")
            return str((cursor.fetchone() or ("",))[0])
    except errors.InsufficientPrivilege:
        return f"{connection.host.lower()}:{connection.port}"


@contextmanager
def translating_errors(*, connecting: bool = False) -> Iterator[None]:
    """Errors of the other database as SourceFault: its own words can quote a value."""
    try:
        yield
    except psycopg.Error as error:
        code, message = _fault_of(error, connecting)
        raise SourceFault(code, message) from None


def _fault_of(error: psycopg.Error, connecting: bool) -> tuple[str, str]:
    if connecting:
        return _refused(str(error))
    state = error.sqlstate or ""
    if isinstance(error, errors.QueryCanceled):
        return "time", _(
            "The database stopped the query, since it ran longer than the connection allows. Declare fewer columns, "
            "or ask an administrator to allow more time."
        )
    if isinstance(error, errors.UndefinedTable | errors.InvalidSchemaName):
        return "table", _("The table is not there any more, or has another name. Ask an administrator.")
    if isinstance(error, errors.UndefinedColumn):
        return "column", _("A column of the table is not there any more, or has another name.")
    if isinstance(error, errors.InsufficientPrivilege):
        return "rights", _("The connection's user may not read this table. Ask an administrator.")
    if isinstance(error, errors.ReadOnlySqlTransaction):
        return "writes", _("Reading this table would write to the database, which the portal never does.")
    if isinstance(error, errors.LockNotAvailable):
        return "locked", _("The table is being changed now. Try again later.")
    if state.startswith(("08", "57")) or not state:
        return "lost", _("The connection to the database was lost while it counted. Try again later.")
    refused = _("The database refused the query (its code is %(code)s). Ask an administrator.")
    return "refused", refused % {"code": state}


# Of libpq's versions, where a server asks for no password, or otherwise than `require_auth` wants it.
OTHER_SIGN_IN = ("authentication method requirement", "requirement failed")
NO_ENTRY = ("authentication failed", "no password supplied", "not permitted to log in", "pg_hba.conf")


def _refused(words: str) -> tuple[str, str]:
    """Why no connection was made; nothing was asked yet, so the server's words hold no value of a table."""
    if any(phrase in words for phrase in OTHER_SIGN_IN):
        return "sign-in", _(
            "The database asks for no password, or not by SCRAM-SHA-256, so nobody can tell whether it is the right "
            "one. Its administrator has to set “scram-sha-256” for the connection's user in its pg_hba.conf."
        )
    if any(phrase in words for phrase in NO_ENTRY):
        return "credential", _("The database refuses the user or its password. Ask an administrator.")
    if "SSL" in words or "certificate" in words:
        return "encryption", _(
            "No encrypted connection was possible as it is declared. Ask an administrator."
        )
    if "does not exist" in words:
        return "database", _(
            "There is no such database, or no such user, on that server. Ask an administrator."
        )
    return "unreachable", _(
        "The database does not answer at its address. Try again later, or ask an administrator."
    )


def _trusted(statement: str) -> sql.SQL:
    """A statement whose names and values are quoted already."""
    return sql.SQL(statement)
