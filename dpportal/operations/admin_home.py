"""The administrators' home: who waits for a budget, whose the datasets are, and how the portal is."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TypeVar

from django.contrib import messages
from django.core.paginator import Paginator
from django.db.models import Aggregate, Count, F, Max, Model, OuterRef, QuerySet, Subquery, Value
from django.db.models.functions import Coalesce, Greatest, NullIf
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET, require_POST

from dpportal.accounts.permissions import administrator_required, current_user
from dpportal.approvals import services as approvals
from dpportal.budgets import requests
from dpportal.budgets.forms import ReasonForm
from dpportal.budgets.models import BudgetRequest
from dpportal.datasets.models import Dataset
from dpportal.operations import health, restore_check
from dpportal.platform.json_types import Json
from dpportal.publications.draft import PUBLIC
from dpportal.releases.models import Release
from dpportal.streams.models import Period, Stream

M = TypeVar("M", bound=Model)

PAGE_SIZE = 25
# In place of a time that never was: of several, SQLite finds no latest where one is missing.
LONG_AGO = datetime(1970, 1, 1, tzinfo=UTC)


@administrator_required
@require_GET
def page(request: HttpRequest) -> HttpResponse:
    """What waits for an administrator, all datasets, and what is wrong with the portal."""
    context: Json = {
        "waiting": requests.waiting(),
        "approvals_waiting": approvals.waiting().count(),
        "page_obj": Paginator(_datasets(), PAGE_SIZE).get_page(request.GET.get("page")),
        "troubles": [*health.measured().troubles, *restore_check.lasting_troubles()],
        "nav_section": "office",
    }
    return render(request, "office.html", context)


@administrator_required
@require_POST
def decline(request: HttpRequest, request_id: int) -> HttpResponse:
    """Refuse a budget, with a reason that its curator is told."""
    waiting = get_object_or_404(BudgetRequest, pk=request_id)
    form = ReasonForm(request.POST)
    if not form.is_valid():
        messages.error(request, _("Say in a sentence why; the curator sees it."))
    elif requests.decline(waiting, form.cleaned_data["reason"], current_user(request)):
        messages.success(request, _("Declined. The curator hears of it."))
    else:
        messages.info(request, _("This question was answered meanwhile."))
    return redirect("office")


def _datasets() -> QuerySet[Dataset]:
    """All datasets, those where something was released lately first; drafts are no releases.

    Each with how many releases and running counts are public, and when something was measured last.
    """
    releases, streams = (
        Release.objects.filter(dataset=OuterRef("pk")),
        Stream.objects.filter(dataset=OuterRef("pk")),
    )
    periods = Period.objects.filter(stream__dataset=OuterRef("pk"))
    times = (
        _number_of(releases, "dataset", Max("measured_at")),
        _number_of(streams, "dataset", Max("opened_at")),
        _number_of(periods, "stream__dataset", Max("published_at")),
    )
    listed = Dataset.objects.with_states().select_related("owner").prefetch_related("shares__person")
    counted = listed.annotate(
        public_releases=Coalesce(_number_of(releases.filter(PUBLIC), "dataset", Count("pk")), 0),
        public_streams=Coalesce(_number_of(streams.filter(PUBLIC), "dataset", Count("pk")), 0),
        latest=Greatest(*(Coalesce(time, Value(LONG_AGO)) for time in times)),
    )
    dated = counted.annotate(last_release=NullIf(F("latest"), Value(LONG_AGO)))
    return dated.order_by("-latest", "-created_at")


def _number_of(rows: QuerySet[M], dataset: str, number: Aggregate) -> Subquery:
    """One number of each dataset's rows, counted apart: joined, releases and periods would multiply."""
    return Subquery(rows.order_by().values(dataset).annotate(number=number).values("number"))
