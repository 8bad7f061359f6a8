"""The public page of a dataset: what it is, what was released of it, at which cost, and what its columns mean."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from datetime import date
from uuid import UUID

from django.core.paginator import Paginator
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_safe

from dpportal.budgets.charged_publication import ChargedPublication
from dpportal.budgets.dataset_costs import spent_so_far
from dpportal.catalogue import snapshot
from dpportal.catalogue.entries import CatalogueEntry, loaded
from dpportal.charts.cell_names import are_years, cell_names
from dpportal.datasets.models import AttributeDeclaration, Dataset
from dpportal.datasets.templatetags.columns import kind_in_words
from dpportal.platform.json_types import Json
from dpportal.platform.listed_names import listed_values
from dpportal.publications.draft import PUBLIC
from dpportal.releases.models import Release
from dpportal.releases.products.shared.numbers import plain_number
from dpportal.streams.models import Stream
from dpportal.value_choices.disclosure import PublishedLoss, losses_of
from mechanisms.domain import Attribute, Date, Integer, Real

# Of a column's values: so many are named, where there are not too many to be written out.
MOST_NAMED, MOST_WRITTEN = 12, 400
PAGE_SIZE = 20


@require_safe
def page(request: HttpRequest, dataset_id: UUID) -> HttpResponse:
    """Of a dataset of which something is or was public; of any other nobody learns that it exists."""
    dataset = get_object_or_404(Dataset, pk=dataset_id)
    public = [entry for entry in snapshot.current().entries if entry.dataset == dataset_id]
    withdrawn = _withdrawn(dataset)
    if not public and not withdrawn:
        raise Http404
    shown = Paginator(public, PAGE_SIZE).get_page(request.GET.get("page"))
    context = {
        "dataset": dataset,
        "about": dataset.about,
        "page_obj": shown,
        "number": len(public),
        "entries": loaded(list(shown)),
        "withdrawn": withdrawn,
        "replaced": _replaced(entry.pk for entry in shown),
        "costs": spent_so_far(dataset),
        "codebook": _codebook(public),
        "nav_section": "catalogue",
    }
    return render(request, "catalogue/dataset.html", context)


def _withdrawn(dataset: Dataset) -> list[tuple[ChargedPublication, PublishedLoss]]:
    """What readers saw and cannot see any more, with its cost, newest first: it stays paid for."""
    rows: list[ChargedPublication] = []
    for kind in (Release, Stream):
        were_public = kind.objects.filter(dataset=dataset, published_at__isnull=False)
        gone = were_public.exclude(withdrawn_at=None).select_related("charge__budget").defer(*kind.UNLISTED)
        rows += gone.order_by("-withdrawn_at")[:PAGE_SIZE]
    newest = sorted(rows, key=lambda row: str(row.withdrawn_at), reverse=True)[:PAGE_SIZE]
    losses = losses_of(newest)
    return [(row, losses[row.pk]) for row in newest]


def _replaced(older: Iterable[UUID]) -> dict[UUID, str]:
    """Of these the ones that a newer public version replaces, with its address."""
    pks = list(older)
    pairs: dict[UUID, str] = {}
    for kind in (Release, Stream):
        newer = kind.objects.filter(PUBLIC, supersedes__in=pks).order_by("published_at")
        newer = newer.only("pk", "supersedes")
        pairs |= {row.supersedes_id: row.get_absolute_url() for row in newer if row.supersedes_id}
    return pairs


def _codebook(public: list[CatalogueEntry]) -> list[Json]:
    """A line for each column that a release or running count tells of, as the newest one declares it."""
    publications = Counter(column for entry in public for column in entry.columns)
    newest: dict[str, UUID] = {}
    for entry in public:
        for column in entry.columns:
            newest.setdefault(column, entry.pk)
    declared = _declared(newest)
    return [{**_line(declared[name]), "releases": publications[name]} for name in newest if name in declared]


def _declared(newest: dict[str, UUID]) -> dict[str, Attribute]:
    """Each column as the version says that its publication rests on; every version is read once.

    newest: the id of the release or running count, by column.
    """
    versions: dict[UUID, int | None] = {}
    for kind in (Release, Stream):
        versions |= kind.objects.filter(pk__in=set(newest.values())).values_list("pk", "domain_version")
    newest_columns = {(versions.get(pk), name) for name, pk in newest.items()}
    names = [name for _version, name in newest_columns]
    lines = AttributeDeclaration.objects.filter(domain_version__in=set(versions.values()), column__in=names)
    declared = {}
    for line in lines.select_related("domain_version__dataset"):
        if (line.domain_version_id, line.column) in newest_columns:
            attribute = line.declared()
            declared[attribute.name] = attribute
    return declared


def _line(attribute: Attribute) -> Json:
    """Its name, kind, and bounds or first values."""
    if isinstance(attribute, Integer | Real | Date):
        bounds = (attribute.lower, attribute.upper)
        is_year = are_years(attribute)
        ends = [str(end) if is_year or isinstance(end, date) else plain_number(end) for end in bounds]
        values = _("%(lower)s to %(upper)s") % dict(zip(("lower", "upper"), ends, strict=True))
        return {"name": attribute.shown_name, "kind": kind_in_words(attribute), "values": values, "more": 0}
    labels = cell_names(attribute) if attribute.size <= MOST_WRITTEN else []
    shown = (
        listed_values(labels[:MOST_NAMED])
        if labels
        else _("%(cells)s cells") % {"cells": f"{attribute.size:,}"}
    )
    return {
        "name": attribute.shown_name,
        "kind": kind_in_words(attribute),
        "values": shown,
        "more": max(0, len(labels) - MOST_NAMED),
    }
