"""Progress of a running query."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress

import duckdb

from dpportal.tables.formats.progress import INTERVAL_SECONDS, Report


@contextmanager
def watched(connection: duckdb.DuckDBPyConnection, report: Report) -> Iterator[None]:
    """Report the share of its table that the query inside the block has read."""
    connection.execute("SET enable_progress_bar = true")
    finished = threading.Event()

    def look() -> None:
        while not finished.wait(INTERVAL_SECONDS):
            with suppress(OSError):  # nobody listens any more: this process is about to end
                report(max(0.0, connection.query_progress()) / 100)

    report(0.0)
    watcher = threading.Thread(target=look, daemon=True)
    watcher.start()
    try:
        yield
    finally:
        finished.set()
        watcher.join()
