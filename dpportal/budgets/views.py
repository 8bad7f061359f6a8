"""A dataset's ledger, as a page and as CSV, for its curator."""

from __future__ import annotations

import csv
from uuid import UUID

from django.core.paginator import Paginator
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_GET

from dpportal.accounts.permissions import curator_required
from dpportal.budgets.amounts import plain
from dpportal.budgets.models import LedgerEntry
from dpportal.datasets.views import own_dataset
from dpportal.publishing.spreadsheet import inert

PAGE_SIZE = 50


@curator_required
@require_GET
def ledger_page(request: HttpRequest, dataset_id: UUID) -> HttpResponse:
    dataset = own_dataset(request, dataset_id)
    entries = LedgerEntry.objects.filter(dataset=dataset).select_related("by", "release", "stream", "budget")
    context = {
        "dataset": dataset,
        "budgets": list(dataset.budgets.all()),
        "page_obj": Paginator(entries, PAGE_SIZE).get_page(request.GET.get("page")),
        "nav_section": "datasets",
    }
    return render(request, "budgets/ledger.html", context)


@curator_required
@require_GET
def ledger_csv(request: HttpRequest, dataset_id: UUID) -> HttpResponse:
    dataset = own_dataset(request, dataset_id)
    response = HttpResponse(content_type="text/csv; charset=utf-8")
    response["Content-Disposition"] = f'attachment; filename="ledger-{dataset.pk}.csv"'
    writer = csv.writer(response)
    writer.writerow(["at", "kind", "state", "amount", "reason", "by", "key", "settled_at", "protects"])
    for entry in (
        LedgerEntry.objects.filter(dataset=dataset).select_related("by", "budget__dataset").iterator()
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
            ]
        )
    return response
