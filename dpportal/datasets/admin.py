"""Datasets in the admin: metadata only; no record is ever shown here."""

from __future__ import annotations

from django.contrib import admin, messages
from django.db.models import QuerySet
from django.http import HttpRequest
from django.utils.translation import gettext_lazy as _

from dpportal.accounts.admin import ReadOnlyAdmin
from dpportal.accounts.permissions import current_user
from dpportal.datasets import services
from dpportal.datasets.models import Conversion, Dataset


@admin.register(Dataset)
class DatasetAdmin(ReadOnlyAdmin):
    """What exists, whose it is, and the decision on duplicates."""

    list_display = ["name", "owner", "state", "column_count", "created_at", "duplicate_of"]
    list_filter = ["state", "owner"]
    search_fields = ["name", "owner__username"]
    date_hierarchy = "created_at"
    list_select_related = ["owner", "duplicate_of"]
    fields = ["name", "description", "owner", "state", "column_count", "created_at", "duplicate_of"]
    actions = ["allow_duplicates"]

    @admin.display(description=_("columns"))
    def column_count(self, dataset: Dataset) -> int:
        return len(dataset.columns)

    @admin.action(description=_("Allow the selected duplicates (recorded)"))
    def allow_duplicates(self, request: HttpRequest, datasets: QuerySet[Dataset]) -> None:
        for dataset in datasets:
            try:
                services.allow_duplicate(dataset, "allowed in the admin", current_user(request))
            except services.DatasetError as refusal:
                self.message_user(request, f"{dataset}: {refusal}", messages.WARNING)


@admin.register(Conversion)
class ConversionAdmin(ReadOnlyAdmin):
    """Jobs that read uploads."""

    list_display = ["dataset", "state", "step", "attempts", "queued_at", "finished_at", "elapsed"]
    list_filter = ["state"]
    search_fields = ["dataset__name"]
    list_select_related = ["dataset"]
