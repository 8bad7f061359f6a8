"""PostgreSQL: tables that held what was destroyed are written anew, without their dead rows.

A plain VACUUM only frees the space of a dead row: its bytes stand until another row is written there. What the
statistics for the planner took from a column stands in a table of the server's own: no sample of sealed columns is
kept there, and what was is dropped.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import datetime, timedelta

from django.apps import apps
from django.db import connection, models, transaction
from django.utils import timezone

from dpportal.accounts.models import OutgoingMail
from dpportal.datasets import gone_columns
from dpportal.datasets.left_traces import LeftTrace
from dpportal.datasets.models import Fit

# No transaction that erases takes longer; what began before its end may still see the row.
ERASING_TAKES = timedelta(seconds=60)
# So long others wait at most for a table that the sweep waits for itself.
PATIENCE = "200ms"
# While a table is written anew nobody reads it: of this size about a second. A larger one waits for the night.
AT_ONCE_BYTES = 64 << 20
NIGHT = range(1, 5)  # hours of the portal's clock
STATISTICS = "pg_statistic"

# What may keep a dead row visible. Of another user's session the server tells only whether it is in a transaction.
# What a slot or a standby holds back has no time, but the number of its transaction.
IN_THE_WAY = f"""
SELECT clock_timestamp() < %(begun)s
OR EXISTS (
  SELECT FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid() AND (
    xact_start < %(begun)s OR xact_start IS NULL
    AND pid IN (SELECT pid FROM pg_locks WHERE locktype = 'virtualxid' AND granted)))
OR EXISTS (SELECT FROM pg_prepared_xacts WHERE database = current_database() AND prepared < %(begun)s)
OR EXISTS (
  SELECT FROM (SELECT xmin FROM pg_replication_slots UNION ALL SELECT backend_xmin FROM pg_stat_replication) held
  WHERE age(held.xmin) >= (SELECT min(age(xmin)) FROM {LeftTrace._meta.db_table}))
"""  # noqa: S608 a constant
# Columns of a table whose values a sample for the planner may hold.
SAMPLED = """
SELECT attname FROM pg_attribute AS a WHERE attrelid = %s::regclass AND attname = ANY(%s) AND (
  attstattarget IS DISTINCT FROM 0
  OR EXISTS (
    SELECT FROM pg_stats AS s WHERE schemaname = current_schema() AND tablename = %s AND s.attname = a.attname))
"""
OWNS_DATABASE = "SELECT pg_has_role(datdba, 'USAGE') FROM pg_database WHERE datname = current_database()"


def clear(traces: Sequence[LeftTrace]) -> bool:
    """Write every table anew that has not been since; whether none is left. Raises DatabaseError."""
    if _is_in_the_way(max(trace.since for trace in traces) + ERASING_TAKES):
        return False
    done = set.intersection(*(set(trace.cleared) for trace in traces))
    left = [table for table in sorted(tables()) if table not in done]
    with _short_patience():
        for table in [each for each in left if _may_be_locked(each)]:
            _forget_samples(table)
            if _rewrite(table):
                done.add(table)
                LeftTrace.objects.filter(pk__in=[trace.pk for trace in traces]).update(cleared=sorted(done))
        return done >= tables() and _clear_statistics()


def tables() -> set[str]:
    """Those with sealed columns, of rows that were read from records, and that keep names of columns, as mail may."""
    others = {model._meta.db_table for model in (Fit, OutgoingMail)}
    return set(_sealed_columns()) | others | gone_columns.tables()


def _sealed_columns() -> dict[str, list[str]]:
    """The columns of bytes by their table: whatever is sealed is bytes."""
    sealed: dict[str, list[str]] = {}
    for model in apps.get_models():
        for field in model._meta.local_concrete_fields:
            if isinstance(field, models.BinaryField) and field.column:
                sealed.setdefault(model._meta.db_table, []).append(field.column)
    return sealed


def _is_in_the_way(begun: datetime) -> bool:
    with connection.cursor() as cursor:
        cursor.execute(IN_THE_WAY, {"begun": begun})
        return bool(cursor.fetchone()[0])


@contextmanager
def _short_patience() -> Iterator[None]:
    set_patience = "SELECT set_config('lock_timeout', %s, false)"
    with connection.cursor() as cursor:
        cursor.execute("SELECT current_setting('lock_timeout')")
        before = cursor.fetchone()
        cursor.execute(set_patience, [PATIENCE])
        try:
            yield
        finally:
            cursor.execute(set_patience, before)


def _may_be_locked(table: str) -> bool:
    if timezone.localtime().hour in NIGHT:
        return True
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_total_relation_size(%s::regclass)", [table])
        return bool(cursor.fetchone()[0] <= AT_ONCE_BYTES)


def _forget_samples(table: str) -> None:
    """Have the server take no sample of sealed columns, and drop what it has: it does so where a type is said anew."""
    columns = _sealed_columns().get(table, [])
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(SAMPLED, [table, columns, table])
        for [column] in cursor.fetchall():
            cursor.execute(
                f'ALTER TABLE {table} ALTER "{column}" SET STATISTICS 0, ALTER "{column}" TYPE bytea'
            )


def _rewrite(table: str) -> bool:
    """Whether it was: who does not own a table is warned, and nothing is done."""
    with connection.cursor() as cursor:
        before = _file_of(table)
        cursor.execute(f"VACUUM (FULL, ANALYZE) {table}")
        return _file_of(table) != before


def _file_of(table: str) -> int:
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_relation_filenode(%s::regclass)", [table])
        return int(cursor.fetchone()[0])


def _clear_statistics() -> bool:
    """Samples that were dropped are dead rows, too. Whoever does not own the database cannot write them anew."""
    with connection.cursor() as cursor:
        cursor.execute(OWNS_DATABASE)
        owns = cursor.fetchone()[0]
    return not owns or _rewrite(STATISTICS)
