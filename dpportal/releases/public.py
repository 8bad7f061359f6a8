"""What everyone sees: the page of a published release and its downloads."""

from __future__ import annotations

import datetime as dt
from collections.abc import Collection, Mapping
from functools import lru_cache
from uuid import UUID

from django.db.models import QuerySet
from django.http import Http404, HttpRequest, HttpResponse, QueryDict
from django.shortcuts import render
from django.utils.translation import gettext as _

from dpportal.budgets.dataset_costs import cost_context
from dpportal.charts.report import stilled
from dpportal.charts.screens import for_screens
from dpportal.datasets.access import may_read
from dpportal.platform.json_types import Json
from dpportal.publications.metadata import Metadata
from dpportal.publications.reader_pages import ReaderPages, query_of
from dpportal.releases import results
from dpportal.releases.bundle import chosen_columns, filled_columns
from dpportal.releases.display_texts import DisplayTexts, current_files, forget_lost, offered_files
from dpportal.releases.models import Release
from dpportal.releases.privacy_statement import promise
from dpportal.releases.products import ReleasePlan, method_title, presenter_of, product_of
from dpportal.releases.products.shared.explorer import has_form, without_picks
from dpportal.releases.reader_plans import confirmed_plan
from dpportal.releases.row_retention import confirmed_retention
from dpportal.value_choices.disclosure import PublishedLoss
from mechanisms.domain import Attribute, Domain, Ordered
from mechanisms.tabular.headers import Headers

# Columns whose declaration stands on the page; a visitor waits for each.
MOST_DECLARED = 40


def readable_releases() -> QuerySet[Release]:
    """All, with what is asked of one that is shown."""
    rows = Release.objects.select_related(
        "charge__budget", "dataset__owner", "domain_version", "created_by", "supersedes"
    )
    unlisted = Release.UNLISTED
    return rows.defer(*unlisted, *(f"supersedes__{name}" for name in unlisted))


def metadata(request: HttpRequest, release: Release) -> Metadata:
    """How a release is cited."""
    loss, what = str(PublishedLoss.of(release)), _("Differentially private release")
    return Metadata.of(request, release, what, loss, _columns(release.pk))


@lru_cache(maxsize=1024)
def _columns(release_id: UUID) -> dict[str, Json]:
    """What files call its columns, each with its other names and its limits, as schema.org calls them.

    They stay as they were confirmed: a reader's page does not read hundreds of declared columns.
    """
    domain = Release.objects.get(pk=release_id).domain
    names = Headers.of(domain).columns
    return {names[a.name]: _property(a, names[a.name]) for a in domain.attributes}


def _property(attribute: Attribute, name: str) -> Json:
    others = [other for other in dict.fromkeys((attribute.shown_name, attribute.name)) if other != name]
    named: Json = {"alternateName": others} if others else {}
    if not isinstance(attribute, Ordered):
        return named
    # Dates as JSON has them.
    limits = [
        end.isoformat() if isinstance(end, dt.date) else end for end in (attribute.lower, attribute.upper)
    ]
    return {**named, "minValue": limits[0], "maxValue": limits[1]}


def charts(request: HttpRequest, release: Release) -> Mapping[str, Json]:
    """The figures of a release's page, by the names that addresses have for them."""
    return figures_of(shown_of(request.GET, release, confirmed_plan(release)))


def first_figure(release: Release) -> Json | None:
    """The chart that a page shows first; None where there is none."""
    return shown_of(QueryDict(), release, confirmed_plan(release)).get("figure")


def shown_of(question: QueryDict, release: Release, plan: ReleasePlan) -> Json:
    """What the page shows of the numbers, as a reader chooses. plan: the release's."""
    shown, presenter = results.stored_page(release), presenter_of(release)
    with release.counting():
        return {**shown, **presenter.chosen(release, plan, shown, question)}


def figures_of(shown: Json) -> dict[str, Json]:
    """The figures that readers may take along."""
    sections = [("main", shown), ("column", shown.get("chosen_column", {}))]
    sections += [(column.get("place", ""), column) for column in shown.get("columns", ())]
    return {name: section["figure"] for name, section in sections if "figure" in section}


def main_table(release: Release) -> str:
    """The file of its product's numbers."""
    return presenter_of(release).main_table


pages = ReaderPages(
    space="releases",
    rows=readable_releases,
    may_read=may_read,
    metadata=metadata,
    charts=charts,
    files=current_files,
    forget_lost=forget_lost,
    main_table=main_table,
    cost=lambda release: str(PublishedLoss.of(release)),
)


@pages.negotiated
def page(request: HttpRequest, release: Release) -> HttpResponse:
    """A published release; who may see its dataset sees it before, too."""
    plan, loss = confirmed_plan(release), PublishedLoss.of(release)
    shown = _with_still_charts(shown_of(request.GET, release, plan), presenter_of(release).not_still)
    # A private choice has no cells.
    declared: tuple[Attribute, ...] = getattr(plan, "domain", Domain(())).attributes
    words = DisplayTexts.of(release)
    files = offered_files(release, words)
    context = {
        **pages.context(request, release, files),
        **cost_context(release),
        "release": release,
        "product": product_of(release),
        "plan": plan,
        "declared": declared[:MOST_DECLARED],
        "further_declared": max(0, len(declared) - MOST_DECLARED),
        "method_title": method_title(release.product, plan.mechanism),
        "statement": promise(release, plan.loss, words.others),
        "loss": str(loss),
        "epsilon_delta": loss.pair(),
        "retention": confirmed_retention(release.pk),
        "filled": filled_columns(release),
        "chosen": chosen_columns(release),
        "artifacts": files,
        # What people read: arrays are for programs.
        "first_artifacts": [file for file in files if not file.name.endswith(".npy")][:4],
        "are_current": words.are_in(release),
        "shown": {**shown, "chart": _first_still_chart(shown)},
        "query": query_of(request),
        **presenter_of(release).explore(release, plan, without_picks(request.GET)),
    }
    return render(request, "releases/public.html", context)


def _with_still_charts(shown: Json, not_still: Collection[str]) -> Json:
    """What the page shows, with drawings of those figures alone that stand still on it."""
    return {name: part if name in not_still else stilled(part, for_screens) for name, part in shown.items()}


def _first_still_chart(shown: Json) -> str:
    """The name of the chart that the list of the page's parts leads to; empty without one."""
    return next((name for name, figure in figures_of(shown).items() if "drawing" in figure), "")


@pages.page
def explore(request: HttpRequest, release: Release) -> HttpResponse:
    """The sum of the cells that a reader picks, on a page by itself: the public one holds thousands of numbers."""
    plan = confirmed_plan(release)
    explored = presenter_of(release).explore(release, plan, request.GET)
    if not has_form(explored):
        raise Http404
    context = {"release": release, "plan": plan, "nav_section": "releases", **explored}
    return render(request, "releases/explore.html", context)
