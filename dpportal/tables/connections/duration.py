"""How long a database counts, before it is asked."""

from __future__ import annotations

from collections.abc import Mapping

from dpportal.tables.connections.models import Connection

# Of the server's processors, for a row and column that one query counts: the README has the measurement.
MICROSECONDS: Mapping[str, float] = {
    Connection.Kind.POSTGRESQL: 1.2,
    Connection.Kind.SPARK: 1.9,
    Connection.Kind.CLICKHOUSE: 0.13,
}


def processor_seconds(connection: Connection, rows: int, columns: int) -> float:
    """About, of all of the server's processors together."""
    return MICROSECONDS[connection.kind] * 1e-6 * rows * columns
