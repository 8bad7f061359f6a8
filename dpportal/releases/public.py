"""What everyone sees: the page of a published release and its downloads."""

from __future__ import annotations

from django.db.models import QuerySet
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.translation import gettext as _

from dpportal.datasets.access import may_read
from dpportal.publications.metadata import Metadata
from dpportal.publications.reader_pages import ReaderPages
from dpportal.publications.statement import epsilon_delta_text
from dpportal.releases import results
from dpportal.releases.bundle import filled_columns
from dpportal.releases.display_texts import current_files, forget_lost
from dpportal.releases.models import Release
from dpportal.releases.privacy_statement import promise
from dpportal.releases.products import confirmed_plan, method_title, presenter_of, product_of
from dpportal.releases.products.shared.explorer import has_form, without_picks


def readable_releases() -> QuerySet[Release]:
    """All, with what is asked of one that is shown."""
    return Release.objects.select_related(
        "charge__budget", "dataset__owner", "domain_version", "created_by", "supersedes"
    )


def metadata(request: HttpRequest, release: Release) -> Metadata:
    """How a release is cited."""
    loss, what = str(confirmed_plan(release).loss), _("Differentially private release")
    return Metadata.of(request, release, what, loss, release.columns)


pages = ReaderPages(
    space="releases",
    rows=readable_releases,
    may_read=may_read,
    metadata=metadata,
    files=current_files,
    forget_lost=forget_lost,
)


@pages.page
def page(request: HttpRequest, release: Release) -> HttpResponse:
    """A published release; who may see its dataset sees it before, too."""
    plan, delta = confirmed_plan(release), release.delta
    context = {
        **pages.context(request, release),
        "release": release,
        "product": product_of(release),
        "plan": plan,
        "method_title": method_title(release.product, plan.mechanism),
        "statement": promise(release, plan.loss, release.other_promises),
        "loss": str(plan.loss),
        "epsilon_delta": epsilon_delta_text(plan.loss, delta),
        "filled": filled_columns(release),
        "artifacts": current_files(release),
        "shown": results.stored_page(release),
        **presenter_of(release).explore(release, plan, without_picks(request.GET)),
    }
    return render(request, "releases/public.html", context)


@pages.page
def explore(request: HttpRequest, release: Release) -> HttpResponse:
    """The sum of the cells that a reader picks, on a page by itself: the public one holds thousands of numbers."""
    explored = presenter_of(release).explore(release, confirmed_plan(release), request.GET)
    if not has_form(explored):
        raise Http404
    return render(
        request, "releases/explore.html", {"release": release, "nav_section": "releases", **explored}
    )
