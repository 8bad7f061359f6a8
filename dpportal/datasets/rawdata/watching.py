"""Progress of a running query."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager

import duckdb

from dpportal.datasets.rawdata.progress import INTERVAL_SECONDS, Report


@contextmanager
def watched(connection: duckdb.DuckDBPyConnection, report: Report, expected: int) -> Iterator[None]:
    """Report how many of the expected rows the query inside the block has read."""
    connection.execute("SET enable_progress_bar = true")
    finished = threading.Event()

    def look() -> None:
        while not finished.wait(INTERVAL_SECONDS):
            share = max(0.0, connection.query_progress()) / 100
            try:
                report(int(share * expected), expected)
            except OSError:
                os._exit(1)  # nobody listens any more: the parent is gone

    report(0, expected)
    watcher = threading.Thread(target=look, daemon=True)
    watcher.start()
    try:
        yield
    finally:
        finished.set()
        watcher.join()
