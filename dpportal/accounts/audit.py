"""The only writer of the audit record."""

from __future__ import annotations

from django.db import models, transaction

from dpportal.accounts.models import AuditEntry, User
from dpportal.history import chain
from dpportal.history.canonical import Plain


def record(by: User, action: str, subject: models.Model, detail: str = "") -> None:
    """Record an act: looks at true counts, overrides, deletions. `detail` must not hold data."""
    label = f"{subject._meta.model_name} {subject.pk}"
    with transaction.atomic():
        chain.add(LINE, AuditEntry.objects.create(by=by, action=action, subject=label, detail=detail))


def _facts(entry: AuditEntry) -> dict[str, Plain]:
    return {
        "at": entry.at.isoformat(),
        "by": entry.by_id,
        "action": entry.action,
        "subject": entry.subject,
        "detail": entry.detail,
    }


LINE = chain.ChainedRows("audit", AuditEntry.objects.all, [_facts])
