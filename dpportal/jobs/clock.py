"""The one clock that all machines share: the database's."""

from __future__ import annotations

from datetime import datetime, timedelta

from django.db import connection, models
from django.db.models.functions import Now
from django.utils import timezone
from django.utils.dateparse import parse_datetime


def db_ago(seconds: float) -> models.Expression:
    """The database's time so many seconds ago."""
    return from_now(-seconds)


def from_now(seconds: float) -> models.Expression:
    """The database's time so many seconds from now."""
    return models.ExpressionWrapper(
        Now() + models.Value(timedelta(seconds=seconds), output_field=models.DurationField()),
        output_field=models.DateTimeField(),
    )


def database_now() -> datetime:
    """The time by the database's clock."""
    with connection.cursor() as cursor:
        if connection.vendor == "sqlite":
            cursor.execute("SELECT strftime('%Y-%m-%d %H:%M:%f', 'now')")
            [text] = cursor.fetchone()
            read = parse_datetime(text)
            assert read is not None
            return timezone.make_aware(read, timezone.get_fixed_timezone(0))
        cursor.execute("SELECT clock_timestamp()")
        [now] = cursor.fetchone()
        assert isinstance(now, datetime)
        return now
