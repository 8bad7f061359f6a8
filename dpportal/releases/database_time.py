"""How long the database of a table that lies elsewhere counts for a release, as its curator reads it."""

from __future__ import annotations

from dataclasses import dataclass

from dpportal.releases.models import Release
from dpportal.releases.products.shared.job_cost import duration_text
from dpportal.tables.connections.duration import processor_seconds


@dataclass(frozen=True)
class DatabaseTime:
    """columns: that are counted. people: by the curator's estimate. expected: in words; empty where there is none.

    limit: of each query, in seconds.
    """

    columns: int
    people: int | None
    expected: str
    limit: int


def database_time(release: Release) -> DatabaseTime | None:
    """None where the portal counts, or has counted."""
    source = release.dataset.source
    if source is None or release.measured_at is not None:
        return None
    columns, connection = len(release.columns), source.connection
    seconds = processor_seconds(connection, release.people, columns) if release.people else None
    expected = "" if seconds is None else duration_text(seconds)
    return DatabaseTime(columns, release.people, expected, connection.seconds)
