"""What the audit record has of a dataset and of what was made from it, for its owners."""

from __future__ import annotations

from django.core.paginator import Paginator
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.translation import gettext_lazy as _
from django.views.decorators.http import require_GET

from dpportal.accounts.models import AuditEntry
from dpportal.accounts.permissions import curator_required
from dpportal.datasets.access import with_dataset
from dpportal.datasets.models import Dataset, Right
from dpportal.releases.models import Release
from dpportal.streams.models import Stream
from dpportal.value_choices.models import ValueChoice

PAGE_SIZE = 50
# By what a line calls them.
KINDS = {
    "dataset": _("dataset"),
    "release": _("release"),
    "stream": _("running count"),
    "valuechoice": _("private choice of values"),
}
# No curator learns that somebody else holds nearly the same table: lines of that are for administrators alone. An act
# that is new is theirs, too, until it stands here.
SHOWN = {
    "uploaded", "opened without a table", "connected a table", "cancelled reading", "read again",
    "changed how the file is read", "confirmed one row a person", "filled domain from data",
    "declared columns", "declared who is protected", "cancelled", "resumed", "published by hand",
    "viewed first rows", "viewed persons in first rows", "viewed the fit", "viewed true counts",
    "gave a map to a column of", "took a map from a column of", "described", "described for everyone",
    "shared", "took back a share", "chose the day of erasure", "warned of the day of erasure", "erased records",
    "erased records after a restore",
    "asked for a budget", "granted a budget", "declined a budget", "reduced a budget", "entered missing charges",
    "renamed", "published", "withdrew", "withdrew after a restore", "replaced",
    "changed details of", "downloaded unpublished",
    "spent by a token", "made a token", "published by token", "closed", "stopped a file",
    "chose values privately", "estimated the people", "confirmed a file of periods", "confirmed repeated records",
    "dropped repeated records",
}  # fmt: skip


@curator_required
@require_GET
@with_dataset(Right.OWN)
def page(request: HttpRequest, dataset: Dataset) -> HttpResponse:
    """Who did what with it, newest first."""
    entries = lines_of(dataset).select_related("by")
    page = Paginator(entries, PAGE_SIZE).get_page(request.GET.get("page"))
    context = {
        "dataset": dataset,
        "page_obj": page,
        "lines": [(entry, _subject(entry)) for entry in page],
        "nav_section": "datasets",
    }
    return render(request, "datasets/record.html", context)


def _subject(entry: AuditEntry) -> str:
    """Of what a line is, in the reader's language: its kind, and the number that its address has."""
    kind, _blank, number = entry.subject.partition(" ")
    return f"{KINDS[kind]} {number}"


def lines_of(dataset: Dataset) -> QuerySet[AuditEntry]:
    """The lines that its owners may see, newest first: of it, its releases, running counts and choices of values."""
    by_kind = [
        (kind, kind._default_manager.filter(dataset=dataset)) for kind in (Release, Stream, ValueChoice)
    ]
    subjects = [f"dataset {dataset.pk}"]
    subjects += [
        f"{kind._meta.model_name} {pk}" for kind, rows in by_kind for pk in rows.values_list("pk", flat=True)
    ]
    return AuditEntry.objects.filter(subject__in=subjects, action__in=SHOWN).order_by("-at", "-pk")
