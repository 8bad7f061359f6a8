"""Whether SQLite's file agrees with itself: indexes with their tables, and rows with those that they name.

What reads by an index sees the rows that the index has. Whoever makes one again over some of the rows, under its honest
statement, has sums, pages and triggers miss the others. So this comes before whatever else is read to verify. On
PostgreSQL no account but the server's owner can make an index so, and a dump that is put back makes all indexes anew.
"""

from __future__ import annotations

from collections.abc import Iterator

from django.db import connection
from django.utils.translation import gettext as _

# SQLite says what disagrees by names and numbers of rows, and quotes no value.
NAMED = 10


def contradictions() -> Iterator[str]:
    """What disagrees within SQLite's file; nothing on PostgreSQL. Reads the file once."""
    if connection.vendor != "sqlite":
        return
    with connection.cursor() as cursor:
        cursor.execute(f"PRAGMA integrity_check({NAMED})")
        faults = [fault for (fault,) in cursor.fetchall() if fault != "ok"]
        cursor.execute("PRAGMA foreign_key_check")
        lost = cursor.fetchmany(NAMED)
    for fault in faults:
        text = _(
            "The database's file contradicts itself (%(fault)s), so that sums, pages and triggers may miss rows. Stop "
            "the portal, copy the file, run `REINDEX` on it with the program sqlite3, and verify again: what else was "
            "changed is then named. If this stays, put a backup back."
        )
        yield text % {"fault": fault}
    for table, row, parent, _constraint in lost:
        text = _("Row %(row)s of the table %(table)s names a row of %(parent)s that is not there.")
        yield text % {"row": row, "table": table, "parent": parent}
