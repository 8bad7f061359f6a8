"""What a release promises people, and where it read them: said alike on every page and in the bundle."""

from __future__ import annotations

import json

from django.utils.dateparse import parse_datetime
from django.utils.formats import date_format
from django.utils.translation import gettext as _

from dpportal.publishing.statement import statement
from dpportal.releases.models import Release
from mechanisms.accounting import Loss


def promise(release: Release, loss: Loss) -> str:
    """The privacy statement of a confirmed release, and where its table lies if not here."""
    said = statement(loss, release.delta, release.person_column)
    return f"{said} {_where(release)}".rstrip()


def read_from(release: Release) -> dict[str, str]:
    """engine, table, read_at of a table that lies elsewhere; nothing of an upload."""
    return json.loads(release.read_from) if release.read_from else {}


def _where(release: Release) -> str:
    read = read_from(release)
    at = parse_datetime(read.get("read_at", ""))
    if at is None:
        return ""
    return _(
        "The table “%(table)s” was counted by %(engine)s where it lies, as it was on %(day)s at %(time)s UTC; "
        "only counts left that database, and they went to this portal alone."
    ) % {
        "table": read["table"],
        "engine": read["engine"],
        "day": date_format(at, "j F Y"),
        "time": date_format(at, "H:i:s"),
    }
