"""Streams and their jobs in the admin: who, what, how long; never a count, a token or a secret state."""

from __future__ import annotations

from django.contrib import admin
from django.utils.translation import gettext_lazy as _

from dpportal.accounts.admin import ReadOnlyAdmin
from dpportal.budgets.amounts import plain
from dpportal.streams.models import Stream, StreamJob


@admin.register(Stream)
class StreamAdmin(ReadOnlyAdmin):
    """Every stream with its cost and state."""

    list_display = ["name", "dataset", "created_by", "mechanism", "cost", "state", "horizon", "is_public"]
    list_filter = ["state", "step", "mechanism", "created_by"]
    search_fields = ["name", "dataset__name", "created_by__username", "id"]
    date_hierarchy = "created_at"
    list_select_related = ["dataset__budget", "created_by"]
    fields = [
        "id", "name", "dataset", "column", "split", "summed", "step", "first_day", "horizon", "mechanism", "cost",
        "state", "created_by", "requested_at", "opened_at", "closed_at", "published_at", "withdrawn_at",
    ]  # fmt: skip

    @admin.display(description=_("cost"), ordering="amount")
    def cost(self, stream: Stream) -> str:
        return "" if stream.amount is None else f"{stream.dataset.budget.symbol} {plain(stream.amount)}"

    @admin.display(description=_("public"), boolean=True)
    def is_public(self, stream: Stream) -> bool:
        return stream.is_public


@admin.register(StreamJob)
class StreamJobAdmin(ReadOnlyAdmin):
    """Jobs with their state and duration."""

    list_display = ["stream", "kind", "created_by", "state", "step", "attempts", "queued_at", "elapsed"]
    list_filter = ["state", "kind", "created_by"]
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
