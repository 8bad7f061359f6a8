"""The only writer of the audit record."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime

from django.apps import apps
from django.core.exceptions import ValidationError
from django.db import models, transaction

from dpportal.accounts.models import AuditEntry, User
from dpportal.history import chain
from dpportal.history.canonical import CanonicalValue


def record(by: User, action: str, subject: models.Model, detail: str = "") -> None:
    """Record an act: looks at true counts, overrides, deletions. `detail` must not hold data."""
    _add(by, action, _named(subject), detail)


def newest(action: str, subjects: Iterable[models.Model]) -> dict[models.Model, datetime]:
    """When this was last done to each, where it was, by one query."""
    names = {_named(subject): subject for subject in subjects}
    lines = AuditEntry.objects.filter(action=action, subject__in=names).order_by()
    times = lines.values_list("subject").annotate(models.Max("at"))
    return {names[name]: at for name, at in times}


def _named(subject: models.Model) -> str:
    """As a line of the record names it."""
    return f"{subject._meta.model_name} {subject.pk}"


def subject_for_people(subject: str) -> str:
    """What a line is about, by its name where it is still there: dataset Census 1994."""
    kind, _blank, key = subject.partition(" ")
    model = next((each for each in apps.get_models() if each._meta.model_name == kind), None)
    try:
        instance = model._base_manager.filter(pk=key).first() if model else None
    except (ValueError, ValidationError):  # no key of that kind
        instance = None
    return f"{model._meta.verbose_name} {instance}" if model and instance else subject


def record_own(action: str, subject: models.Model) -> None:
    """Record what the portal did by itself, after nobody's word."""
    _add(None, action, _named(subject), "")


def record_stranger(action: str, detail: str) -> None:
    """Record what somebody tried whom the portal does not know. `detail` must not hold what they sent."""
    _add(None, action, "nobody", detail)


@transaction.atomic
def _add(by: User | None, action: str, subject: str, detail: str) -> None:
    chain.add(LINE, AuditEntry.objects.create(by=by, action=action, subject=subject, detail=detail))


def _facts(entry: AuditEntry) -> dict[str, CanonicalValue]:
    return {
        "at": entry.at.isoformat(),
        "by": entry.by_id,
        "action": entry.action,
        "subject": entry.subject,
        "detail": entry.detail,
    }


LINE = chain.ChainedRows("audit", AuditEntry.objects.all, [_facts])
