"""What a release promises people, and where it read them: said alike on every page and in the bundle."""

from __future__ import annotations

import datetime as dt
import json

from django.utils.formats import date_format
from django.utils.translation import gettext as _

from dpportal.budgets.promises import OtherPromises
from dpportal.datasets.models import DomainVersion
from dpportal.datasets.protection import Protection
from dpportal.platform.listed_names import in_a_row
from dpportal.publications.statement import Counting, statement
from dpportal.releases.models import Release
from dpportal.value_choices.disclosure import PublishedLoss, sentences_of_draft
from mechanisms.accounting import Loss


def promise(release: Release, loss: Loss, others: OtherPromises) -> str:
    """The privacy statement of a confirmed release, what others promise beside it, and where its table lies."""
    promised = _promised(loss, release.delta, release.declaration, others)
    return in_a_row([promised, *PublishedLoss.of(release).sentences(), _source_text(release)])


def promise_of_draft(draft: Release, loss: Loss, delta: float, version: DomainVersion) -> str:
    """The same before anything is read. delta: of the account."""
    promised = _promised(loss, delta, version, draft.other_promises)
    return in_a_row([promised, *sentences_of_draft(draft, version)])


def _promised(loss: Loss, delta: float, version: DomainVersion, others: OtherPromises) -> str:
    own = statement(loss, delta, Counting(version.unit_column), total_published=others.total_published)
    return in_a_row([own, *others.sentences(loss, Protection.of(version), _("this release"))])


def read_from(release: Release) -> dict[str, str]:
    """engine, table, read_at (the day) of a table that lies elsewhere; nothing of an upload."""
    read: dict[str, str] = json.loads(release.read_from) if release.read_from else {}
    # An earlier version noted the moment, which tells how long counting took.
    return {**read, "read_at": read["read_at"][:10]} if read else {}


def _source_text(release: Release) -> str:
    read = read_from(release)
    if not read:
        return ""
    return _(
        "The table “%(table)s” was counted by %(engine)s where it lies, as it was on %(day)s; "
        "only counts left that database, and they went to this portal alone."
    ) % {
        "table": read["table"],
        "engine": read["engine"],
        "day": date_format(dt.date.fromisoformat(read["read_at"]), "DATE_FORMAT"),
    }
