"""What administrators' lists of jobs have in common."""

from __future__ import annotations

from datetime import timedelta
from typing import Any, Protocol

from django.contrib import admin
from django.db.models import DurationField, ExpressionWrapper, F
from django.db.models.functions import Coalesce, Now
from django.http import HttpRequest
from django.utils.translation import gettext_lazy as _


class _WithDuration(Protocol):
    lasted: timedelta


class DurationColumn:
    """A list of jobs that can show how long each has lasted, all worked out by one query."""

    def get_queryset(self, request: HttpRequest) -> Any:
        lasted = ExpressionWrapper(Coalesce("finished_at", Now()) - F("queued_at"), DurationField())
        return super().get_queryset(request).annotate(lasted=lasted)  # type: ignore[misc]

    @admin.display(description=_("elapsed"))
    def lasted(self, job: _WithDuration) -> timedelta:
        """In whole seconds."""
        return timedelta(seconds=round(job.lasted.total_seconds()))
