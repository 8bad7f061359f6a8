"""Which module speaks to which engine. It is imported when a connected table is read, and not before."""

from __future__ import annotations

from importlib import import_module
from typing import cast

from dpportal.tables.connections.models import Connection
from dpportal.tables.engines.protocol import Engine

MODULES = {
    Connection.Kind.POSTGRESQL: "dpportal.tables.engines.postgres.session",
    Connection.Kind.SPARK: "dpportal.tables.engines.spark.session",
    Connection.Kind.CLICKHOUSE: "dpportal.tables.engines.clickhouse.session",
}


def engine_of(connection: Connection) -> Engine:
    """The module that speaks to a connection's engine. Raises SourceFault where its package is missing."""
    return cast(Engine, import_module(MODULES[Connection.Kind(connection.kind)]))
