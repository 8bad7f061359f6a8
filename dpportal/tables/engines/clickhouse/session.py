"""A session of ClickHouse by HTTP that can only read, with limits of time, rows and bytes that the server keeps.

Needs the extra `requirements-clickhouse.txt`, beside the connections. Imported when a connected table is read,
and not when the portal starts.
"""
# ruff: noqa: S608 names are quoted here, counting queries are made by SQLGlot

from __future__ import annotations

import datetime as dt
import json
import logging
import re
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
from django.utils.translation import gettext as _

from dpportal.platform.json_types import Json
from dpportal.tables.engines import credentials
from dpportal.tables.engines.clickhouse import definitions as clickhouse_definitions, error_codes as codes
from dpportal.tables.engines.clickhouse.quoting import identifier, literal
from dpportal.tables.engines.cost_estimate import Expected, check
from dpportal.tables.engines.definitions import SourceDefinition
from dpportal.tables.engines.protocol import ColumnInfo, in_columns
from dpportal.tables.engines.server import Encryption, Server, ServerTable
from dpportal.tables.faults import SourceFault

if TYPE_CHECKING:
    from clickhouse_connect.driver.client import Client

# 26.3 reads no text of a number beyond all doubles.
OLDEST = (26, 9)
CONNECT_SECONDS = 5
# The server ends a query that takes too long; one that does not is waited for no longer than so much more.
PATIENCE_SECONDS = 30
# Whatever the server's profile says: what decides on the meaning of a statement, and that nothing of it is left out.
SETTINGS = {
    "dialect": "clickhouse",
    "session_timezone": "UTC",
    "enable_analyzer": "1",
    "precise_float_parsing": "1",
    "output_format_decimal_trailing_zeros": "0",
    "join_use_nulls": "0",
    "join_default_strictness": "ALL",
    "transform_null_in": "0",
    "cast_keep_nullable": "0",
    "data_type_default_nullable": "0",
    "use_variant_as_common_type": "0",
    "aggregate_functions_null_for_empty": "0",
    "group_by_use_nulls": "0",
    "prefer_column_name_to_alias": "0",
    "enable_positional_arguments": "1",
    "union_default_mode": "",
    "asterisk_include_alias_columns": "0",
    "asterisk_include_materialized_columns": "0",
    "short_circuit_function_evaluation": "enable",
    # Nested queries that are merged into one are computed again for each branch that names them: 10 times as long.
    "query_plan_merge_expressions": "0",
    "decimal_check_overflow": "1",
    "bool_true_representation": "true",
    "final": "0",
    "limit": "0",
    "offset": "0",
    "extremes": "0",
    "apply_deleted_mask": "1",
    "additional_table_filters": "{}",
    "additional_result_filter": "",
    "skip_unavailable_shards": "0",
    "enable_parallel_replicas": "0",
    "use_query_cache": "0",
    "stream_like_engine_allow_direct_select": "0",
    "max_result_rows": "0",
    "max_result_bytes": "0",
    "output_format_arrow_compression_method": "lz4_frame",
    "cancel_http_readonly_queries_on_client_close": "1",
    # A declared domain of thousands of categories or edges is a long statement.
    "max_query_size": "100000000",
    "max_ast_elements": "10000000",
    "max_expanded_ast_elements": "10000000",
    "max_parser_backtracks": "100000000",
    # What is too much ends the query, and is never cut off.
    **dict.fromkeys(
        (
            f"{what}_overflow_mode"
            for what in (
                "read",
                "result",
                "group_by",
                "join",
                "distinct",
                "sort",
                "set",
                "transfer",
                "timeout",
            )
        ),
        "throw",
    ),
    "read_overflow_mode_leaf": "throw",
    "timeout_overflow_mode_leaf": "throw",
}
BEGINNING = """SELECT version() AS version, toUnixTimestamp64Milli(now64(3)) AS at, currentDatabase() AS database,
    toInt64(getSetting('readonly')) AS readonly"""
# A column may be named as its table's, so a table is named by its place, as plans name it.
TABLES_OF = """SELECT concat(database, '.', name) AS place, engine, as_select,
    toInt64(ifNull(total_rows, 0)) AS held, toInt64(ifNull(ifNull(total_bytes_uncompressed, total_bytes), 0)) AS size
    FROM system.tables WHERE place IN ({})"""
SIZES_OF = """SELECT concat(database, '.', table) AS place, name, toInt64(data_uncompressed_bytes) AS size
    FROM system.columns WHERE place IN ({})"""
TYPES = {
    "String": "text",
    "FixedString": "text",
    "Enum8": "enum",
    "Enum16": "enum",
    "UUID": "uuid",
    "Bool": "bool",
    "Int8": "int2",
    "UInt8": "int2",
    "Int16": "int2",
    "UInt16": "int4",
    "Int32": "int4",
    "UInt32": "int8",
    "Int64": "int8",
    **dict.fromkeys(("UInt64", "Int128", "UInt128", "Int256", "UInt256", "Decimal"), "numeric"),
    "Float32": "float4",
    "Float64": "float8",
    "Date": "date",
    "Date32": "date",
    "DateTime": "timestamptz",
    "DateTime64": "timestamptz",
}
WRAPPED = re.compile(r"(?:Nullable|LowCardinality)\((.*)\)")
# A finer moment has digits that no other engine has.
FINEST = 6


def source(table: ServerTable) -> str:
    """What stands behind FROM, its names quoted; a query as the administrator wrote it."""
    if table.query:
        return f"(\n{table.query.strip()}\n) AS source"
    return ".".join(identifier(name) for name in (table.schema, table.table) if name)


@dataclass
class ClickHouseSession:
    """A session of ClickHouse: each query has what its parts of a table were when it began; there is no one snapshot.

    settings: sent with each query. read_at: when it began, by the server's clock. server: its address and the
    database in which names are sought.
    """

    client: Client
    connection: Server
    settings: dict[str, str]
    version: str
    read_at: dt.datetime
    server: str
    lot: str = ""
    one_snapshot = False

    def describe(self, source: str) -> list[ColumnInfo]:
        """The columns of what stands behind FROM."""
        columns = self.fetch(f"DESCRIBE TABLE (SELECT * FROM {source})")
        return [ColumnInfo(column["name"], type_of(column["type"])) for column in columns]

    def relations(self, source: str) -> list[str]:
        """The tables that a reading of the source comes to, however many views lie between."""
        select = f"SELECT * FROM {source}"
        names = {name for name, _columns in leaves(self._plan(select))} | self._tables(select, set())
        return sorted(f"{self.connection.address}/{name}" for name in names)

    def definition(self, table: ServerTable) -> SourceDefinition:
        """What a table or query is made of now. Nothing keeps it so until the session ends."""
        return clickhouse_definitions.ClickHouseDefinitions(self.fetch).definition(table, source(table))

    def counts(self, statement: str) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        """Places and numbers of rows of a query that gives two columns of bigint, batch by batch as they arrive."""
        check(self.connection, self._expected(statement))
        limits = {
            "max_rows_to_read": str(self.connection.most_rows),
            "max_bytes_to_read": str(self.connection.most_bytes),
        }
        with translating_errors(self.connection):
            answer = self.client.raw_stream(
                statement, settings={**self.settings, **limits}, fmt="ArrowStream"
            )
            with answer, pa.ipc.open_stream(answer) as batches:
                for batch in batches:
                    yield in_columns(batch)

    def fetch(self, statement: str, **further: str) -> list[Json]:
        """What the server answers to a statement that reads no row of a table. further: settings."""
        settings = {**self.settings, **further}
        with translating_errors(self.connection):
            return _rows(self.client.raw_query(statement, settings=settings, fmt="JSONEachRow"))

    def _expected(self, statement: str) -> Expected:
        """Rows that the plan reads of each table whose parts are indexed, and what their columns take uncompressed.

        Of other tables nothing is known before; the server counts while it reads, and ends what reads too much.
        """
        read = leaves(self._plan(statement))
        if not read:
            return Expected(0, 0)
        places = ", ".join(literal(name) for name, _columns in read)
        estimate = self.fetch(f"EXPLAIN ESTIMATE {statement}")
        rows = {f"{row['database']}.{row['table']}": int(row["rows"]) for row in estimate}
        tables = {row["place"]: row for row in self.fetch(TABLES_OF.format(places))}
        sizes: dict[str, dict[str, int]] = {}
        for row in self.fetch(SIZES_OF.format(places)):
            sizes.setdefault(row["place"], {})[row["name"]] = int(row["size"])
        all_rows = all_bytes = 0
        for name, columns in read:
            held = int(tables[name]["held"]) if name in tables else 0
            to_read = rows.get(name, held)
            # Of small parts it is not known what each column takes.
            size = sum(sizes.get(name, {}).get(column, 0) for column in columns)
            size = size or (int(tables[name]["size"]) if name in tables else 0)
            all_rows += to_read
            all_bytes += size * to_read // max(held, 1)
        return Expected(all_rows, all_bytes)

    def _plan(self, statement: str) -> Json:
        """The plan of a query, which is not run."""
        # Much of the time of a plan goes into what is made better of it, which changes nothing of what is read.
        [row] = self.fetch(f"EXPLAIN json = 1, header = 1 {statement}", query_plan_enable_optimizations="0")
        return dict(json.loads(row["explain"])[0]["Plan"])

    def _tables(self, select: str, seen: set[str]) -> set[str]:
        """The tables that a query names, and of views those that they name."""
        lines = [line["explain"] for line in self.fetch(f"EXPLAIN QUERY TREE {select}")]
        named = {match[1] for line in lines if (match := NAMED.search(line))} - seen
        if not named:
            return set()
        seen |= named
        known = {t["place"]: t for t in self.fetch(TABLES_OF.format(", ".join(map(literal, named))))}
        tables: set[str] = set()
        for name in named:
            inner: set[str] = set()
            if name in known and known[name]["engine"] == "View":
                # Where the user may not read what a view reads, the view stands for it.
                try:
                    inner = self._tables(known[name]["as_select"], seen)
                except SourceFault as fault:
                    if fault.code in codes.PASSING:
                        raise
            tables |= inner or {name}
        return tables


@contextmanager
def reading(connection: Server) -> Iterator[ClickHouseSession]:
    """A session with a connection's database, which ends with the block. Raises SourceFault."""
    client = _opened(connection, credentials.password(connection))
    try:
        yield _begun(client, connection)
    finally:
        client.close()


def _opened(connection: Server, password: str) -> Client:
    try:
        from clickhouse_connect import get_client
    except ImportError:
        raise SourceFault("package", _(NO_PACKAGE)) from None
    # It writes what went wrong between here and a server.
    logging.getLogger("clickhouse_connect").setLevel(logging.CRITICAL)
    with translating_errors(connection, connecting=True):
        return get_client(
            host=connection.host,
            port=connection.port,
            username=connection.user,
            password=password,
            database=connection.database or None,
            interface="http" if connection.encryption == Encryption.NONE else "https",
            verify=connection.encryption == Encryption.VERIFIED,
            compress=False,
            connect_timeout=CONNECT_SECONDS,
            send_receive_timeout=connection.seconds + PATIENCE_SECONDS,
            query_retries=0,
            autogenerate_session_id=False,
            client_name="dpportal",
            dedicated_pool=True,
            # Its own words can quote a value.
            show_clickhouse_errors=False,
        )


def _begun(client: Client, connection: Server) -> ClickHouseSession:
    with translating_errors(connection):
        [row] = _rows(client.raw_query(BEGINNING, fmt="JSONEachRow"))
    version = [int(number) for number in row["version"].split(".")[:2]]
    if tuple(version) < OLDEST:
        raise SourceFault(
            "version", _("This ClickHouse is older than 26.9, which is the oldest that is counted in.")
        )
    settings = {**SETTINGS, "max_execution_time": str(connection.seconds)}
    if not int(row["readonly"]):
        settings["readonly"] = "1"
    server = f"{connection.address}/{row['database']}"
    read_at = dt.datetime.fromtimestamp(int(row["at"]) / 1000, dt.UTC)
    session = ClickHouseSession(client, connection, settings, f"ClickHouse {row['version']}", read_at, server)
    _check_settings(session)
    return session


def _check_settings(session: ClickHouseSession) -> None:
    """Raise SourceFault unless the server took every setting as it was sent."""
    names = ", ".join(map(literal, session.settings))
    rows = session.fetch(f"SELECT name, value FROM system.settings WHERE name IN ({names})")
    if {each["name"]: each["value"] for each in rows} != session.settings:
        raise codes.fault("settings")


def type_of(name: str) -> str:
    """The name that rules for a type go by; ClickHouse's own where there is no rule."""
    plain = name
    while match := WRAPPED.fullmatch(plain):
        plain = match[1]
    kind, _parenthesis, rest = plain.partition("(")
    if kind == "DateTime64" and int(rest[0]) > FINEST:
        return name
    return TYPES.get(kind, name)


def leaves(plan: Json) -> list[tuple[str, list[str]]]:
    """The indexed tables that a plan reads, by their places, each with the columns that it reads."""
    waiting, reads = [plan], []
    while waiting:
        node = waiting.pop()
        if node["Node Type"] == "ReadFromMergeTree":
            reads.append((node["Description"], [column["Name"] for column in node.get("Header", ())]))
        waiting += node.get("Plans", [])
    return reads


@contextmanager
def translating_errors(connection: Server, *, connecting: bool = False) -> Iterator[None]:
    """Errors of the server, of the client and of the way between them as SourceFault."""
    from clickhouse_connect.driver.exceptions import Error, ProgrammingError
    from urllib3.exceptions import HTTPError

    begun = time.monotonic()
    try:
        yield
    except Error as error:
        if error.code is not None:
            raise codes.fault_of(error.code) from None
        if isinstance(error, ProgrammingError):
            # The client knows which settings the user may not change.
            raise codes.fault("settings") from None
        raise _broken(connection, begun, connecting) from None
    except (HTTPError, OSError, pa.ArrowException):
        raise _broken(connection, begun, connecting) from None


def _broken(connection: Server, begun: float, connecting: bool) -> SourceFault:
    if connecting:
        return codes.fault("unreachable")
    return codes.fault("time" if time.monotonic() - begun > connection.seconds else "lost")


def _rows(answer: bytes) -> list[Json]:
    return [json.loads(line) for line in answer.splitlines()]


# A line of EXPLAIN QUERY TREE that names a table.
NAMED = re.compile(r"\bTABLE id: \d+.*?, table_name: ([^,]+)")
NO_PACKAGE = (
    "This machine has no client for ClickHouse. Whoever runs the portal adds it for web server and workers with "
    "pip install -r dpportal/tables/connections/requirements-clickhouse.txt."
)
