"""Streams and their jobs in the admin: who, what, how long; never a count, a token or a secret state."""

from __future__ import annotations

from django.contrib import admin

from dpportal.accounts.admin import PersonFilter, ReadOnlyAdmin
from dpportal.budgets.admin import MethodFilter, PaidAdmin
from dpportal.jobs.admin_columns import DurationColumn
from dpportal.streams.models import Stream, StreamJob


@admin.register(Stream)
class StreamAdmin(PaidAdmin[Stream]):
    """Every stream with its cost and state."""

    list_display = [
        "name",
        "dataset",
        "created_by",
        "method",
        "cost",
        "state",
        "horizon",
        "is_public",
        "withheld",
    ]
    list_filter = ["state", "step", ("mechanism", MethodFilter), ("created_by", PersonFilter)]
    search_fields = ["name", "dataset__name", "created_by__username", "id"]
    fields = [
        "id", "name", "dataset", "column", "split", "summed", "step", "first_day", "horizon", "method", "cost",
        "state", "created_by", "requested_at", "opened_at", "closed_at", "published_at", "withdrawn_at",
        "compared_at", "withheld",
    ]  # fmt: skip


@admin.register(StreamJob)
class StreamJobAdmin(DurationColumn, ReadOnlyAdmin[StreamJob]):
    """Jobs with their state and duration."""

    list_display = ["stream", "kind", "created_by", "state", "step", "attempts", "queued_at", "lasted"]
    list_filter = ["state", "kind", ("created_by", PersonFilter)]
    search_fields = ["stream__name", "stream__dataset__name", "created_by__username"]
    date_hierarchy = "queued_at"
    list_select_related = ["stream", "created_by"]
    fields = [
        "id",
        "stream",
        "kind",
        "state",
        "step",
        "attempts",
        "created_by",
        "queued_at",
        "started_at",
        "finished_at",
    ]
