"""What an engine expects to read for a query, which is refused before it runs if a connection allows less.

What it expects of a measured table is nearly the number of its rows. So a refusal says what the connection allows, and
nothing of what was expected but that it is more.
"""

from __future__ import annotations

from dataclasses import dataclass

from django.template.defaultfilters import filesizeformat
from django.utils.translation import gettext as _

from dpportal.tables.connections.faults import SourceFault
from dpportal.tables.connections.models import Connection


@dataclass(frozen=True)
class Expected:
    """Rows and bytes that a plan reads; None where the engine does not know."""

    rows: int | None
    bytes: int | None


def is_allowed(connection: Connection, expected: Expected) -> bool:
    """Whether an engine knows how much it reads, and that is no more than the connection allows."""
    return (
        expected.bytes is not None
        and expected.bytes <= connection.most_bytes
        and (expected.rows is None or expected.rows <= connection.most_rows)
    )


def check(connection: Connection, expected: Expected) -> None:
    """Raise SourceFault if the engine expects to read more than the connection allows, or does not know how much."""
    if expected.bytes is None:
        raise SourceFault(
            "bytes",
            _(
                "The database does not know how large the table is, so the connection's limit of bytes cannot be kept. "
                "Ask an administrator to have it measured (in Spark: ANALYZE TABLE … COMPUTE STATISTICS)."
            ),
        )
    if expected.bytes > connection.most_bytes:
        raise SourceFault(
            "bytes",
            _(
                "The database expects to read more for this than the connection allows (%(allowed)s). "
                "Ask an administrator to raise the limit, or to offer a smaller table or view."
            )
            % {"allowed": filesizeformat(connection.most_bytes)},
        )
    if expected.rows is not None and expected.rows > connection.most_rows:
        raise SourceFault(
            "rows",
            _(
                "The database expects to read more rows for this than the connection allows (%(allowed)s). "
                "Ask an administrator to raise the limit."
            )
            % {"allowed": f"{connection.most_rows:,}"},
        )
