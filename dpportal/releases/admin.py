"""Releases and their jobs in the admin: who, what, how long; never a count."""

from __future__ import annotations

from typing import Any

from django.contrib import admin
from django.utils.translation import gettext_lazy as _

from dpportal.accounts.admin import PersonFilter, ReadOnlyAdmin
from dpportal.budgets.admin import MethodFilter, PaidAdmin
from dpportal.jobs.admin_columns import DurationColumn
from dpportal.jobs.memoised import StoredQuestion
from dpportal.releases.models import Release, ReleaseJob


@admin.register(Release)
class ReleaseAdmin(PaidAdmin[Release]):
    """Every release with its cost and state."""

    list_display = [
        "title_or_id",
        "dataset",
        "created_by",
        "method",
        "cost",
        "state",
        "requested_at",
        "is_public",
        "withheld",
    ]
    list_filter = ["state", "product", ("mechanism", MethodFilter), ("created_by", PersonFilter)]
    search_fields = ["title", "dataset__name", "created_by__username", "id"]
    fields = [
        "id", "title", "dataset", "product", "columns", "method", "parameters", "cost", "state", "created_by",
        "requested_at", "measured_at", "published_at", "withdrawn_at",
        "compared_at", "withheld",
    ]  # fmt: skip

    @admin.display(description=_("release"))
    def title_or_id(self, release: Release) -> str:
        return str(release)


@admin.register(ReleaseJob)
class ReleaseJobAdmin(DurationColumn, ReadOnlyAdmin[ReleaseJob]):
    """Jobs with their state and duration."""

    list_display = ["release", "dataset", "who", "state", "step", "attempts", "queued_at", "lasted"]
    list_filter = ["state", ("release__created_by", PersonFilter)]
    search_fields = ["release__title", "release__dataset__name", "release__created_by__username"]
    date_hierarchy = "queued_at"
    list_select_related = ["release__dataset", "release__created_by"]

    @admin.display(description=_("dataset"))
    def dataset(self, job: ReleaseJob) -> str:
        return job.release.dataset.name

    @admin.display(description=_("requested by"))
    def who(self, job: ReleaseJob) -> str:
        return job.release.created_by.get_username()


class QuestionFilter(admin.AllValuesFieldListFilter):
    """Which question it is. Named after the field, its heading would be “By answered by”."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.title = _("kind of question")


@admin.register(StoredQuestion)
class StoredQuestionAdmin(DurationColumn, ReadOnlyAdmin[StoredQuestion]):
    """What is worked out once for everybody, from no data: searches, strategies, simulations, pictures."""

    list_display = ["key", "answered_by", "state", "attempts", "queued_at", "lasted"]
    list_filter = [("answered_by", QuestionFilter), "state"]
