"""Copies of destroyed keys in the database's own files: the write-ahead log, copies from before an update, dead rows.

A deleted row stays in them for a while. Nobody who erases waits for their end: the sweep sees to it, again and again
until nothing is in the way, and notes on the receipt when it was done.
"""

from __future__ import annotations

import logging
import sqlite3
from collections.abc import Sequence
from contextlib import closing
from datetime import timedelta
from pathlib import Path
from uuid import UUID

from django.conf import settings
from django.db import DatabaseError, connection
from django.utils import timezone

from dpportal.datasets.keys import DatasetKey
from dpportal.datasets.receipts import ErasureReceipt

log = logging.getLogger(__name__)

# So long others wait at most while a try is made.
BUSY_MILLISECONDS = 200
# No transaction that erases takes longer; what began before its end may still see the row.
ERASING_TAKES = timedelta(seconds=60)
TABLE = DatasetKey._meta.db_table


def sweep() -> None:
    """Rid the database's files of keys that were destroyed since; what cannot be done now waits for the next sweep."""
    waiting = list(ErasureReceipt.objects.filter(key_gone_at=None))
    if not waiting or connection.in_atomic_block:
        return
    clear = _clear_sqlite if connection.vendor == "sqlite" else _clear_postgresql
    try:
        if clear(waiting):
            gone = ErasureReceipt.objects.filter(pk__in=[receipt.pk for receipt in waiting])
            gone.update(key_gone_at=timezone.now())
    except (DatabaseError, sqlite3.Error) as fault:
        log.warning("copies of destroyed keys are still in the database's files (%s)", type(fault).__name__)


def sweep_log() -> None:
    """Cut SQLite's log for keys that went without a receipt, too, as those of uploads that were never read."""
    if connection.vendor == "sqlite" and not connection.in_atomic_block:
        _clear_sqlite([])


def copies() -> list[Path]:
    """Copies of SQLite's file that an update of the portal put beside it."""
    database = Path(settings.DATABASES["default"]["NAME"])
    return sorted(database.parent.glob(f"{database.stem}-????????-??????.sqlite3"))


def _clear_sqlite(waiting: Sequence[ErasureReceipt]) -> bool:
    """Write the log back into the file, where deleted rows are zeros (secure_delete), and cut it to nothing."""
    for copy in copies():
        _delete_in_copy(copy, [receipt.pk for receipt in waiting])
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


def _delete_in_copy(copy: Path, pks: Sequence[UUID]) -> None:
    """Raises sqlite3.Error where it cannot be written now."""
    with closing(sqlite3.connect(copy, timeout=BUSY_MILLISECONDS / 1000)) as database:
        database.execute("PRAGMA secure_delete = ON")
        known = database.execute("SELECT name FROM sqlite_master WHERE type = 'table' AND name = ?", [TABLE])
        if known.fetchone():
            rows = [(pk.hex,) for pk in pks]
            database.executemany(f"DELETE FROM {TABLE} WHERE dataset_id = ?", rows)  # noqa: S608 a constant
        database.commit()
        database.execute("PRAGMA wal_checkpoint(TRUNCATE)")


def _clear_postgresql(waiting: Sequence[ErasureReceipt]) -> bool:
    """Write the small table of keys anew, without dead rows, once no transaction is left that may see them."""
    begun = max(receipt.erased_at for receipt in waiting) + ERASING_TAKES
    older = (
        "SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND xact_start < %s "
        "AND pid <> pg_backend_pid() LIMIT 1"
    )
    with connection.cursor() as cursor:
        cursor.execute("SELECT clock_timestamp() < %s", [begun])
        if cursor.fetchone()[0]:
            return False
        cursor.execute(older, [begun])
        if cursor.fetchone():
            return False
        cursor.execute("SELECT current_setting('lock_timeout')")
        [patience] = cursor.fetchone()
        set_patience = "SELECT set_config('lock_timeout', %s, false)"
        cursor.execute(set_patience, [f"{BUSY_MILLISECONDS}ms"])
        try:
            cursor.execute(f"VACUUM (FULL) {TABLE}")
        finally:
            cursor.execute(set_patience, [patience])
    return True
