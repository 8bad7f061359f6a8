"""Copies of destroyed keys, and of sealed values that were deleted with them, in the database's own files: the
write-ahead log, copies from before an update, dead rows.

A deleted row stays in them for a while. Nobody who erases waits for their end: the sweep sees to it, again and again
until nothing is in the way, and notes on the receipt when it was done. PostgreSQL: see `dead_rows`.
"""

from __future__ import annotations

import logging
import sqlite3
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path

from django.conf import settings
from django.db import DatabaseError, connection
from django.utils import timezone

from dpportal.datasets import dead_rows
from dpportal.datasets.keys import DatasetKey
from dpportal.datasets.left_traces import LeftTrace
from dpportal.datasets.receipts import ErasureReceipt

log = logging.getLogger(__name__)

# So long others wait at most while a try is made.
BUSY_MILLISECONDS = 200
TABLE = DatasetKey._meta.db_table


def sweep() -> None:
    """Rid the database's files of what was destroyed since; what cannot be done now waits for the next sweep."""
    waiting = list(LeftTrace.objects.order_by("pk"))
    if not waiting or connection.in_atomic_block:
        return
    clear = _clear_sqlite if connection.vendor == "sqlite" else dead_rows.clear
    try:
        if clear(waiting):
            _delete_traces(waiting)
    except (DatabaseError, sqlite3.Error) as fault:
        log.warning("copies of destroyed keys are still in the database's files (%s)", type(fault).__name__)


def _delete_traces(traces: Sequence[LeftTrace]) -> None:
    receipts = ErasureReceipt.objects.filter(pk__in=[trace.dataset_id for trace in traces])
    receipts.filter(key_gone_at=None).update(key_gone_at=timezone.now())
    LeftTrace.objects.filter(pk__in=[trace.pk for trace in traces]).delete()


def copies() -> list[Path]:
    """Copies of SQLite's file that an update of the portal put beside it."""
    database = Path(settings.DATABASES["default"]["NAME"])
    return sorted(database.parent.glob(f"{database.stem}-????????-??????.sqlite3"))


def _clear_sqlite(waiting: Sequence[LeftTrace]) -> bool:
    """Write the log back into the file, where deleted rows are zeros (secure_delete), and cut it to nothing."""
    for copy in copies():
        _delete_in_copy(copy, [(trace.dataset_id.hex,) for trace in waiting if trace.dataset_id])
    with connection.cursor() as cursor:
        cursor.execute("PRAGMA busy_timeout")
        [patience] = cursor.fetchone()
        cursor.execute(f"PRAGMA busy_timeout = {BUSY_MILLISECONDS}")
        try:
            cursor.execute("PRAGMA wal_checkpoint(TRUNCATE)")
            busy, _pages, _moved = cursor.fetchone()
        finally:
            cursor.execute(f"PRAGMA busy_timeout = {patience}")
    return not busy


def _delete_in_copy(copy: Path, rows: Sequence[tuple[str]]) -> None:
    """Delete the keys of these datasets. Raises sqlite3.Error where it cannot be written now."""
    with closing(sqlite3.connect(copy, timeout=BUSY_MILLISECONDS / 1000)) as database:
        database.execute("PRAGMA secure_delete = ON")
        known = database.execute("SELECT name FROM sqlite_master WHERE type = 'table' AND name = ?", [TABLE])
        if known.fetchone():
            database.executemany(f"DELETE FROM {TABLE} WHERE dataset_id = ?", rows)  # noqa: S608 a constant
        database.commit()
        database.execute("PRAGMA wal_checkpoint(TRUNCATE)")
