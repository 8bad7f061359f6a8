"""The public page of a dataset: what it is, what was released of it, at which cost, and what its columns mean."""

from __future__ import annotations

from collections.abc import Iterator
from uuid import UUID

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_safe

from dpportal.budgets.dataset_costs import spent_so_far
from dpportal.catalogue.entries import Entry, loaded, published
from dpportal.datasets.models import Dataset
from dpportal.datasets.templatetags.columns import kind_in_words
from dpportal.platform.json_types import Json
from dpportal.releases.models import Release
from mechanisms.domain import Attribute, Domain

# Of a column's values: so many are named, where there are not too many to be written out.
MOST_NAMED, MOST_WRITTEN = 12, 400


@require_safe
def page(request: HttpRequest, dataset_id: UUID) -> HttpResponse:
    """Of a dataset of which something is public; of any other nobody learns that it exists."""
    dataset = get_object_or_404(Dataset, pk=dataset_id)
    entries = [entry for entry in loaded(published(dataset)) if not entry.it.withdrawn_at]
    if not entries:
        raise Http404
    context = {
        "dataset": dataset,
        "about": dataset.about,
        "entries": entries,
        "costs": spent_so_far(dataset),
        "codebook": list(_codebook(entries)),
        "nav_section": "catalogue",
    }
    return render(request, "catalogue/dataset.html", context)


def _codebook(entries: list[Entry]) -> Iterator[Json]:
    """A line for each column that a public release tells of, as the newest one declares it."""
    told: dict[str, Json] = {}
    for entry in entries:
        for attribute in _released(entry):
            line = told.setdefault(attribute.name, {**_line(attribute), "releases": 0})
            line["releases"] += 1
    yield from told.values()


def _released(entry: Entry) -> tuple[Attribute, ...]:
    domain: Domain | None = entry.it.domain if isinstance(entry.it, Release) else None
    return domain.attributes if domain else ()


def _line(attribute: Attribute) -> Json:
    """Its name, kind, cells and first values."""
    labels = attribute.labels() if attribute.size <= MOST_WRITTEN else []
    shown = ", ".join(labels[:MOST_NAMED]) if labels else _("%(cells)s cells") % {"cells": f"{attribute.size:,}"}
    return {
        "name": attribute.name,
        "kind": kind_in_words(attribute),
        "values": shown,
        "more": max(0, len(labels) - MOST_NAMED),
    }
