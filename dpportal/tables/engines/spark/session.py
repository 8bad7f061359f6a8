"""A session of Spark Connect that sends nothing but SELECT, under limits of time, rows and bytes.

Needs the extra `requirements-spark.txt`, beside the connections. Imported when a connected table is read, and
not when the portal starts.
"""
# ruff: noqa: S608 names are quoted here, counting queries are made by SQLGlot

from __future__ import annotations

import datetime as dt
import re
import threading
import time
import warnings
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, cast

import numpy as np
from django.utils.translation import gettext as _, gettext_lazy

from dpportal.tables.engines import credentials, fault_words
from dpportal.tables.engines.cost_estimate import Expected, check, is_allowed
from dpportal.tables.engines.definitions import SourceDefinition
from dpportal.tables.engines.protocol import ColumnInfo, in_columns
from dpportal.tables.engines.server import Encryption, Server, ServerTable
from dpportal.tables.engines.spark import definitions as spark_definitions
from dpportal.tables.engines.spark.file_selection import (
    SELECTING,
    runs_nothing,
    selected,
    selection,
    selects_folders,
)
from dpportal.tables.engines.spark.plan_size import Leaf, expected, leaves, places, relations_of
from dpportal.tables.faults import SourceFault

if TYPE_CHECKING:
    from pyspark.sql.connect.dataframe import DataFrame
    from pyspark.sql.connect.proto import Plan
    from pyspark.sql.connect.session import SparkSession

OLDEST = 4
# Of an unanswered call; a lost connection is tried again for some seconds.
RETRIES, LONGEST_WAIT = 4, 2000
# A cluster that is gone without a word is waited for no longer than so much more than a query may take.
PATIENCE_SECONDS = 30
TAG = "dpportal"
# What a call is told on a way that was closed, by an error of Python's own.
CLOSED = "closed channel"
# They write the cluster's words of an error, which can quote a value.
LOGGERS = ("SQLQueryContextLogger", "DataFrameQueryContextLogger", "pyspark.sql.connect.logging")
# Whether a plan tells what ANALYZE TABLE measured of a whole table, or the size of the files that are read of it.
MEASURED = "spark.sql.cbo.planStats.enabled"
# Whatever the cluster's own settings are.
SETTINGS = {
    "spark.sql.session.timeZone": "UTC",
    "spark.sql.ansi.enabled": "true",
    "spark.sql.ansi.doubleQuotedIdentifiers": "false",
    "spark.sql.timestampType": "TIMESTAMP_LTZ",
    "spark.sql.parser.escapedStringLiterals": "false",
    "spark.sql.variable.substitute": "false",
    "spark.sql.readSideCharPadding": "true",
    # A folder's name would be a number or a text by what all other folders are called.
    "spark.sql.sources.partitionColumnTypeInference.enabled": "false",
    # What it finds out of a condition grows with the square of thousands of expressions.
    "spark.sql.constraintPropagation.enabled": "false",
    # A plan tells where a file without a name lies, and all columns.
    MEASURED: "true",
    # A file is as large as it is stored.
    "spark.sql.sources.fileCompressionFactor": "1.0",
    "spark.sql.maxMetadataStringLength": "10000",
    "spark.sql.debug.maxToStringFields": "100000",
}
# Both static methods that the dialect uses, and what it draws.
BEGINNING = """SELECT current_timestamp() AS at, uuid() AS lot, current_catalog() AS catalog,
    reflect('com.ibm.icu.text.Normalizer', 'compose', 'u\u0308', false) = '\u00fc' AS composes,
    reflect('com.fasterxml.jackson.core.io.schubfach.FloatToDecimal', 'toString', float(0.7)) = '0.7' AS writes"""
TYPES = {
    "tinyint": "int2",
    "smallint": "int2",
    "int": "int4",
    "bigint": "int8",
    "float": "float4",
    "double": "float8",
    "boolean": "bool",
    "date": "date",
    "timestamp_ntz": "timestamp",
    "timestamp": "timestamptz",
}


def source(table: ServerTable) -> str:
    """What stands behind FROM, its names quoted; a query as the administrator wrote it."""
    if table.query:
        return f"(\n{table.query.strip()}\n) AS source"
    names = [table.connection.database, table.schema, table.table]
    return ".".join(_quoted(name) for name in names if name)


def _quoted(name: str) -> str:
    return f"`{name.replace('`', '``')}`"


@dataclass
class SparkReadSession:
    """A session of Spark Connect. read_at: when it began, by the cluster's clock; there is no one snapshot.

    server: its address and the catalog in which names are sought.
    """

    spark: SparkSession
    connection: Server
    version: str
    read_at: dt.datetime
    server: str
    lot: str
    one_snapshot = False

    def describe(self, source: str) -> list[ColumnInfo]:
        """The columns of what stands behind FROM."""
        with self._in_time():
            fields = self.spark.sql(f"SELECT * FROM {source} LIMIT 0").schema.fields
        return [ColumnInfo(field.name, _type(field.dataType.simpleString())) for field in fields]

    def relations(self, source: str) -> list[str]:
        """The tables that a reading of the source comes to; a file without a name by its place."""
        with self._in_time():
            plan = self._plan(f"SELECT * FROM {source}", "extended")
        return sorted(f"{self.connection.address}/{name}" for name in relations_of(plan) or set(places(plan)))

    def definition(self, table: ServerTable) -> SourceDefinition:
        """What a table or query is made of now. Nothing keeps it so until the session ends."""
        select = f"SELECT * FROM {source(table)}"
        with self._in_time():
            plan = self._plan(select, "extended")
            return spark_definitions.definition(table, plan, sorted(relations_of(plan)), self._described)

    def _described(self, what: str) -> list[dict[str, str]]:
        """The catalog's rows of a table, or a function."""
        return list(self.spark.sql(f"DESCRIBE {what}").toArrow().to_pylist())

    def counts(self, statement: str) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        """Places and numbers of rows of a query that gives two columns of bigint, batch by batch as they arrive."""
        with self._in_time():
            check(self.connection, self._expected(statement))
            for batch in self.spark.client.to_table_as_iterator(self._query(statement), {}):
                if hasattr(batch, "column"):
                    yield in_columns(batch)

    def _expected(self, statement: str) -> Expected:
        """What a query reads of its tables' files, of partitioned ones those that its conditions leave."""
        measured = leaves(self._plan(statement))
        with self._settings({MEASURED: "false"}):
            plan = self._plan(statement)
            full_sizes = {leaf.relation: self._full_size(leaf.relation) for leaf in measured if leaf.rows}
        full = expected(measured, leaves(plan), full_sizes)
        if is_allowed(self.connection, full) or not selects_folders(plan):
            return full
        return expected(measured, self._selected(statement, leaves(plan)), full_sizes)

    def _full_size(self, relation: str) -> int | None:
        """The bytes of all files of a table, by its name; None where they are not known."""
        read = leaves(self._plan(f"SELECT * FROM {_quoted_place(relation)}")) if relation else []
        return read[0].bytes if len(read) == 1 else None

    def _selected(self, statement: str, files: list[Leaf]) -> list[Leaf]:
        """What a query reads, by the files that the cluster selects for it; as it was, where it does not do so."""
        query = selection(statement)
        try:
            with self._settings(SELECTING):
                if not runs_nothing(self._plan(query)):
                    return files
                _table, _schema, ran = self.spark.client.to_table(self._query(query), {})
        except Exception as error:
            if not _is_of_cluster(error):
                raise
            return files
        return selected(files, ran.metrics.extract_graph()[1].values()) if ran.metrics else files

    @contextmanager
    def _settings(self, settings: Mapping[str, str]) -> Iterator[None]:
        """Other settings of the session for a block."""
        before = {name: self.spark.conf.get(name) or "" for name in settings}
        try:
            self._set(settings)
            yield
        finally:
            self._set(before)

    def _set(self, settings: Mapping[str, str]) -> None:
        for name, value in settings.items():
            self.spark.conf.set(name, value)

    def _plan(self, statement: str, mode: str = "cost") -> str:
        """The plans of a query that is not run; mode: "cost" for what they know of rows and bytes, else "extended"."""
        return self.spark.client.explain_string(self._query(statement), mode)

    def _query(self, statement: str) -> Plan:
        """A query as the cluster takes it."""
        query = cast("DataFrame", self.spark.sql(statement))
        return query._plan.to_proto(self.spark.client)

    @contextmanager
    def _in_time(self) -> Iterator[None]:
        """Errors of the cluster as SourceFault; out of time is whatever ends after the connection's time.

        The cluster ends what still runs then, and is waited for no longer. By the clock alone, an interruption that
        comes too late to end anything lets nothing pass.
        """
        done, deadline = threading.Event(), time.monotonic() + self.connection.seconds

        def late() -> bool:
            return time.monotonic() > deadline

        threading.Thread(target=self._watch, args=[done], daemon=True).start()
        try:
            with translating_errors(late):
                yield
        finally:
            done.set()
        if late():
            raise fault("time")

    def _watch(self, done: threading.Event) -> None:
        """Interrupt again and again: what is planned still runs later."""
        if done.wait(self.connection.seconds):
            return
        # An interruption may be waited for as well.
        closing = _closing(self.spark, PATIENCE_SECONDS)
        while not done.is_set():
            with suppress(Exception):
                self.spark.interruptTag(TAG)
            done.wait(1)
        closing.cancel()


@contextmanager
def reading(connection: Server) -> Iterator[SparkReadSession]:
    """A session with a connection's cluster, which ends with the block. Raises SourceFault."""
    opened = _opened(connection, credentials.password(connection))
    try:
        yield _begun(opened, connection)
    finally:
        # Whatever of it still runs ends with it.
        opened.stop()


def _opened(connection: Server, token: str) -> SparkSession:
    """The client's session, which has not spoken with the cluster yet."""
    try:
        with warnings.catch_warnings():
            # Only counts come back, as Arrow; pandas is not used.
            warnings.simplefilter("ignore", FutureWarning)
            from pyspark.logger import PySparkLogger
            from pyspark.sql.connect.client.core import DefaultChannelBuilder
            from pyspark.sql.connect.client.retries import DefaultPolicy
            from pyspark.sql.connect.session import SparkSession
    except ImportError:
        raise SourceFault("package", _(NO_PACKAGE)) from None
    for name in LOGGERS:
        PySparkLogger.getLogger(name).disabled = True
    host = f"[{connection.host}]" if ":" in connection.host else connection.host
    channel = DefaultChannelBuilder(f"sc://{host}:{connection.port}")
    channel.set("use_ssl", "false" if connection.encryption == Encryption.NONE else "true")
    channel.set("user_agent", "dpportal")
    if token:
        channel.set("authorization", f"Bearer {token}")
    opened = SparkSession(channel, userId=connection.user or "dpportal")
    opened.client.set_retry_policies([DefaultPolicy(max_retries=RETRIES, max_backoff=LONGEST_WAIT)])
    return opened


def _closing(opened: SparkSession, seconds: float) -> threading.Timer:
    """Will close the way to the cluster, on which whatever waits is told that it is closed."""
    timer = threading.Timer(seconds, opened.client.close)
    timer.daemon = True
    timer.start()
    return timer


def _begun(opened: SparkSession, connection: Server) -> SparkReadSession:
    closing = _closing(opened, connection.seconds + PATIENCE_SECONDS)
    try:
        return _sign_in(opened, connection)
    finally:
        closing.cancel()


def _sign_in(opened: SparkSession, connection: Server) -> SparkReadSession:
    with translating_errors(lambda: False, connecting=True):
        version = opened.version
        if int(version.partition(".")[0]) < OLDEST:
            raise SourceFault("version", _("This is a Spark before version 4.0. Ask an administrator."))
        opened.addTag(TAG)
        with warnings.catch_warnings():
            # Of a setting that will be gone some day.
            warnings.simplefilter("ignore", UserWarning)
            for name, value in SETTINGS.items():
                opened.conf.set(name, value)
        if connection.database:
            opened.catalog.setCurrentCatalog(connection.database)
        row = opened.sql(BEGINNING).toArrow().to_pylist()[0]
    if not (row["composes"] and row["writes"]):
        raise fault("functions")
    read_at = row["at"].astimezone(dt.UTC)
    server = f"{connection.address}/{row['catalog']}"
    return SparkReadSession(opened, connection, f"Spark {version.split()[0]}", read_at, server, row["lot"])


def _quoted_place(relation: str) -> str:
    return ".".join(_quoted(name) for name in relation.split("."))


def _type(name: str) -> str:
    """The name that rules go by; Spark's own where there is no rule."""
    kind = re.split("[( ]", name, maxsplit=1)[0]
    if kind in ("string", "char", "varchar"):
        return "text"
    return "numeric" if kind == "decimal" else TYPES.get(name, name)


@contextmanager
def translating_errors(late: Callable[[], bool], *, connecting: bool = False) -> Iterator[None]:
    """Errors of the cluster as SourceFault: its own words can quote a value.

    late: whether its query took too long, after which the client may fail in any way.
    """
    try:
        yield
    except SourceFault:
        raise
    except Exception as error:
        if late():
            raise fault("time") from None
        if not _is_of_cluster(error):
            raise
        raise _fault_of(error, connecting) from None


def _is_of_cluster(error: Exception) -> bool:
    from grpc import RpcError
    from pyspark.errors import PySparkException

    return isinstance(error, PySparkException | RpcError) or (
        isinstance(error, ValueError) and CLOSED in str(error)
    )


def _fault_of(error: Exception, connecting: bool) -> SourceFault:
    status, condition = _status(error), _condition(error)
    if status in ("UNAUTHENTICATED", "PERMISSION_DENIED"):
        return fault("credential")
    # CANCELLED where the portal itself closed the way, as it waits no longer.
    if status in ("UNAVAILABLE", "DEADLINE_EXCEEDED", "CANCELLED", "UNKNOWN") and not condition:
        return fault("unreachable" if connecting else "lost")
    names = (name for beginning, name in CONDITIONS.items() if condition.startswith(beginning))
    return fault(next(names, "refused"), condition or status)


def _status(error: Exception) -> str:
    """The name of a gRPC status."""
    status = getattr(error, "getGrpcStatusCode", None) or getattr(error, "code", None)
    return status().name if status else "UNKNOWN"


def _condition(error: Exception) -> str:
    """Spark's name for what is wrong, which holds no value."""
    condition = getattr(error, "getCondition", None)
    return (condition() if condition else None) or ""


NO_PACKAGE = (
    "This machine has no client for Spark. Whoever runs the portal adds it for web server and workers with "
    "pip install -r dpportal/tables/connections/requirements-spark.txt."
)
# How Spark's names for what is wrong begin, and what that is called here.
CONDITIONS = {
    **dict.fromkeys(("INVALID_HANDLE", "OPERATION_CANCELED"), "lost"),
    **dict.fromkeys(
        ("TABLE_OR_VIEW_NOT_FOUND", "SCHEMA_NOT_FOUND", "PATH_NOT_FOUND", "CATALOG_NOT_FOUND"), "table"
    ),
    "UNRESOLVED_COLUMN": "column",
    **dict.fromkeys(("UNRESOLVED_ROUTINE", "UNEXPECTED_STATIC_METHOD"), "functions"),
    **dict.fromkeys(("INSUFFICIENT_PERMISSION", "PERMISSION_DENIED"), "rights"),
}
NO_FUNCTIONS = gettext_lazy(
    "The cluster has no function that composes texts, or does not let it be called (reflect), so its values would not "
    "mean what they mean in a file. Ask an administrator."
)
fault = partial(fault_words.fault, words={**fault_words.WORDS, "functions": NO_FUNCTIONS})
