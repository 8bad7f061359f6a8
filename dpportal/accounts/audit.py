"""The only writer of the audit record."""

from __future__ import annotations

from django.db import models

from dpportal.accounts.models import AuditEntry, User


def record(by: User, action: str, subject: models.Model, detail: str = "") -> None:
    """Record an act: looks at true counts, overrides, deletions. `detail` must not hold data."""
    label = f"{subject._meta.model_name} {subject.pk}"
    AuditEntry.objects.create(by=by, action=action, subject=label, detail=detail)
