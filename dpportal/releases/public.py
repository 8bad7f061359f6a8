"""What everyone sees: the page of a published release and its downloads."""

from __future__ import annotations

from uuid import UUID

from django.core.files.storage import default_storage
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase, QueryDict
from django.shortcuts import get_object_or_404, render
from django.views.decorators.http import require_safe

from dpportal.datasets.access import with_right
from dpportal.publishing.downloads import being_written, citation, stored, withdrawn
from dpportal.publishing.statement import epsilon_delta_text
from dpportal.releases import results
from dpportal.releases.bundle import filled_columns
from dpportal.releases.metadata import metadata
from dpportal.releases.models import Artifact, Release
from dpportal.releases.products import confirmed_plan, method_title, product_of
from dpportal.releases.promise import promise
from dpportal.releases.words import are_current


@require_safe
def page(request: HttpRequest, release_id: UUID) -> HttpResponse:
    """A published release; who may see its dataset sees it before, too. A withdrawn one says so."""
    release = _visible(request, release_id)
    if not _is_open(request, release):
        return withdrawn(request, "releases", release)
    plan, delta = confirmed_plan(release), release.delta
    context = {
        "release": release,
        "product": product_of(release),
        "plan": plan,
        "method_title": method_title(release.product, plan.mechanism),
        "statement": promise(release, plan.loss, release.other_promises),
        "loss": str(plan.loss),
        "epsilon_delta": epsilon_delta_text(plan.loss, delta),
        "filled": filled_columns(release),
        "artifacts": release.artifacts.all() if are_current(release) else [],
        "shown": results.kept_page(release),
        **product_of(release).asked(release, plan, request.GET),
        **product_of(release).explored(release, plan, QueryDict()),
        "metadata": metadata(request, release, plan),
        "older": release.supersedes,
        "newer": release.successor,
        "nav_section": "releases",
    }
    return render(request, "releases/public.html", context)


@require_safe
def explore(request: HttpRequest, release_id: UUID) -> HttpResponse:
    """The sum of the cells that a reader picks, on a page by itself: the public one holds thousands of numbers."""
    release = _visible(request, release_id)
    if not _is_open(request, release):
        return withdrawn(request, "releases", release)
    explored = product_of(release).explored(release, confirmed_plan(release), request.GET)
    if not explored:
        raise Http404
    return render(
        request, "releases/explore.html", {"release": release, "nav_section": "releases", **explored}
    )


@require_safe
def download(request: HttpRequest, release_id: UUID, name: str) -> HttpResponseBase:
    """One file of the bundle, or all in one zip."""
    release = _visible(request, release_id)
    if not _is_open(request, release):
        return withdrawn(request, "releases", release)
    if not are_current(release):
        return _being_written(request, release)
    artifact = get_object_or_404(Artifact, release=release, name=name)
    return stored(request, artifact, release.title, default_storage.open)


def _being_written(request: HttpRequest, release: Release) -> HttpResponse:
    """In place of a file that says what was changed or taken back meanwhile."""
    context = {"release": release, "nav_section": "releases"}
    return being_written(request, "releases/being_written.html", context)


@require_safe
def cite(request: HttpRequest, release_id: UUID, form: str) -> HttpResponse:
    """How a release is cited, as BibTeX or RIS."""
    release = _visible(request, release_id)
    if not _is_open(request, release):
        return withdrawn(request, "releases", release)
    return citation(metadata(request, release, confirmed_plan(release)), form)


def _visible(request: HttpRequest, release_id: UUID) -> Release:
    """The release if this visitor may see it, or may know that it was withdrawn; else 404."""
    release = get_object_or_404(
        Release.objects.select_related(
            "charge__budget", "dataset__owner", "domain_version", "created_by", "supersedes"
        ),
        pk=release_id,
    )
    if release.withdrawn_at is None and not _is_open(request, release):
        raise Http404
    return release


def _is_open(request: HttpRequest, release: Release) -> bool:
    right = with_right(request, release.dataset).right
    return release.is_ready and (release.is_public or right > 0)
