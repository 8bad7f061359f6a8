"""Datasets in the admin: metadata only; no record is ever shown here."""

from __future__ import annotations

from django.contrib import admin, messages
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.translation import gettext, gettext_lazy as _

from dpportal.accounts.admin import PersonFilter, ReadOnlyAdmin
from dpportal.accounts.permissions import current_user
from dpportal.datasets import attach_table, followed_table, near_duplicates, services
from dpportal.datasets.faults import DatasetError
from dpportal.datasets.models import Conversion, Dataset
from dpportal.jobs.admin_columns import DurationColumn
from dpportal.platform.listed_names import joint
from dpportal.tables.faults import SourceFault


@admin.register(Dataset)
class DatasetAdmin(ReadOnlyAdmin[Dataset]):
    """What exists, whose it is, and the decision on duplicates."""

    list_display = ["name", "owner", "state", "column_count", "created_at", "duplicate_of"]
    list_filter = ["state", ("owner", PersonFilter)]
    search_fields = ["name", "owner__username"]
    date_hierarchy = "created_at"
    list_select_related = ["owner", "duplicate_of"]
    fields = [
        "name",
        "description",
        "owner",
        "state",
        "column_count",
        "created_at",
        "shared",
        "duplicate_of",
        "like",
    ]
    readonly_fields = ["shared", "like"]
    actions = ["allow_duplicates", "follow_tables"]

    @admin.display(description=_("columns"))
    def column_count(self, dataset: Dataset) -> int:
        return len(dataset.columns)

    @admin.display(description=_("shared with"))
    def shared(self, dataset: Dataset) -> str:
        shares = dataset.shares.select_related("person")
        rights = (f"{share.person}{joint(':')}{share.get_right_display()}" for share in shares)
        return joint(";").join(rights) or "–"

    @admin.display(description=_("nearly the same table as"))
    def like(self, dataset: Dataset) -> str:
        """The similar datasets, which a grant asks about; for administrators alone."""
        similar = (
            gettext("%(name)s of %(owner)s: %(what)s")
            % {"name": other.dataset, "owner": other.dataset.owner.get_username(), "what": other}
            for other in near_duplicates.similar_datasets(dataset)
        )
        return joint(";").join(similar) or "–"

    @admin.action(description=_("Allow the selected duplicates (recorded)"))
    def allow_duplicates(self, request: HttpRequest, datasets: QuerySet[Dataset]) -> None:
        for dataset in datasets:
            try:
                services.allow_duplicate(dataset, "allowed in the admin", current_user(request))
            except DatasetError as refusal:
                self.message_user(request, f"{dataset}{joint(':')}{refusal}", messages.WARNING)

    @admin.action(
        description=_("Count the selected where their connections lead now: the same tables (recorded)")
    )
    def follow_tables(self, request: HttpRequest, datasets: QuerySet[Dataset]) -> HttpResponse | None:
        """First the differences and a question why; then, for what was shown alone, the word."""
        if "reason" in request.POST:
            self._follow(request, datasets)
            return None
        differences = []
        for dataset in datasets:
            try:
                differences.append(attach_table.difference(dataset))
            except (DatasetError, SourceFault) as refusal:
                self.message_user(request, f"{dataset}{joint(':')}{refusal}", messages.WARNING)
        if not differences:
            return None
        context = {
            **self.admin_site.each_context(request),
            "title": _("Count where the connections lead now"),
        }
        return render(request, "datasets/follow.html", {**context, "differences": differences})

    def _follow(self, request: HttpRequest, datasets: QuerySet[Dataset]) -> None:
        for dataset in datasets:
            try:
                mark, reason = request.POST.get(f"mark-{dataset.pk}", ""), request.POST["reason"]
                is_done = followed_table.follow_or_ask(
                    dataset, current_user(request), mark=mark, reason=reason
                )
            except (DatasetError, SourceFault) as refusal:
                self.message_user(request, f"{dataset}{joint(':')}{refusal}", messages.WARNING)
            else:
                text = (
                    _("%(dataset)s is counted there now.")
                    if is_done
                    else _("%(dataset)s stays as it is until a second administrator has approved this.")
                )
                self.message_user(request, text % {"dataset": dataset})


@admin.register(Conversion)
class ConversionAdmin(DurationColumn, ReadOnlyAdmin[Conversion]):
    """Jobs that read uploads. Not how far one is, nor at which line it failed: that says how large the table is."""

    list_display = ["dataset", "state", "step", "attempts", "queued_at", "finished_at", "lasted"]
    fields = ["dataset", "state", "step", "attempts", "queued_at", "started_at", "finished_at"]
    list_filter = ["state"]
    search_fields = ["dataset__name"]
    list_select_related = ["dataset"]
