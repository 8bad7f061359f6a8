"""Which module speaks to which engine. It is imported when a connected table is read, and not before."""

from __future__ import annotations

from importlib import import_module
from typing import cast

from dpportal.tables.engines.protocol import Engine
from dpportal.tables.engines.server import Server

MODULES = {
    "postgresql": "dpportal.tables.engines.postgres.session",
    "spark": "dpportal.tables.engines.spark.session",
    "clickhouse": "dpportal.tables.engines.clickhouse.session",
}


def engine_of(connection: Server) -> Engine:
    """The module that speaks to a connection's engine. Raises SourceFault where its package is missing."""
    return cast(Engine, import_module(MODULES[connection.kind]))
