"""A dataset's ledger, as a page and as CSV, and the question for a budget, for its curator."""

from __future__ import annotations

import csv

from django.core.paginator import Paginator
from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import render
from django.views.decorators.http import require_GET, require_POST

from dpportal.accounts.permissions import curator_required
from dpportal.budgets import asking
from dpportal.budgets.amounts import plain
from dpportal.budgets.models import LedgerEntry
from dpportal.datasets.access import with_dataset
from dpportal.datasets.models import Dataset, Right
from mechanisms.inert_text import inert

PAGE_SIZE = 50
CSV_HEADER = [
    "at",
    "kind",
    "state",
    "amount",
    "reason",
    "by",
    "key",
    "settled_at",
    "protects",
    "withheld",
    "delta",
]


@curator_required
@require_GET
@with_dataset(Right.SEE)
def ledger_page(request: HttpRequest, dataset: Dataset) -> HttpResponse:
    """What was granted and spent of a dataset's budgets, newest first."""
    entries = LedgerEntry.objects.filter(dataset=dataset).select_related(
        "by", "release", "stream", "value_choice", "budget"
    )
    context = {
        "dataset": dataset,
        "budgets": list(dataset.budgets.all()),
        "page_obj": Paginator(entries, PAGE_SIZE).get_page(request.GET.get("page")),
        "nav_section": "datasets",
    }
    return render(request, "budgets/ledger.html", context)


@curator_required
@require_POST
@with_dataset(Right.OWN)
def ask(request: HttpRequest, dataset: Dataset) -> HttpResponseBase:
    """Ask the administrators for a budget, or for more."""
    return asking.send(request, dataset)


@curator_required
@require_GET
@with_dataset(Right.SEE)
def ledger_csv(request: HttpRequest, dataset: Dataset) -> HttpResponse:
    """The whole ledger, with exact amounts and the protection of each line."""
    response = HttpResponse(content_type="text/csv; charset=utf-8")
    response["Content-Disposition"] = f'attachment; filename="ledger-{dataset.pk}.csv"'
    writer = csv.writer(response)
    writer.writerow(CSV_HEADER)
    for entry in (
        LedgerEntry.objects.filter(dataset=dataset)
        .select_related("by", "budget__dataset", "release", "stream")
        .iterator()
    ):
        settled = entry.settled_at.isoformat() if entry.settled_at else ""
        writer.writerow(
            [
                entry.at.isoformat(),
                entry.kind,
                entry.state,
                plain(entry.amount),
                inert(entry.reason),
                inert(entry.by.get_username()),
                entry.key,
                settled,
                inert(str(entry.budget.protection)),
                entry.withheld if dataset.can_own else "",
                plain(entry.delta),
            ]
        )
    return response
