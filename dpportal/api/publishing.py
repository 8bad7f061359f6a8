"""What everyone sees: publishing releases and running counts, and taking them back."""

from __future__ import annotations

from uuid import UUID

from django.http import HttpRequest
from django.utils.formats import date_format
from django.utils.translation import gettext as _
from ninja import Router

from dpportal.accounts.permissions import current_user
from dpportal.api.authentication import RELEASE
from dpportal.api.problems import RefusedError
from dpportal.api.refused_forms import require_valid
from dpportal.api.release_schemas import Details, Publish, ReleaseShown, Withdraw
from dpportal.api.releases import shown as release_shown
from dpportal.api.stream_schemas import StreamShown
from dpportal.api.streams import shown as stream_shown
from dpportal.platform.form_data import form_data
from dpportal.platform.json_types import Json
from dpportal.publications.curator_pages import CuratorPages, P
from dpportal.publications.draft import Publication
from dpportal.publications.publishing import WithdrawalForm
from dpportal.releases.access import release_for
from dpportal.releases.publishing import pages as release_pages
from dpportal.streams.access import stream_for
from dpportal.streams.publishing import pages as stream_pages

router = Router(tags=["publishing"])


def _publish(request: HttpRequest, pages: CuratorPages[P], publication: P, payload: Publish) -> None:
    _require_finished(pages, publication)
    if publication.is_public:
        _require_same(request, pages, publication, payload)
        return
    _require_again(publication, payload)
    answer = {**_details(publication, payload), "all_the_same": payload.all_the_same}
    require_valid(pages.published_by(request, publication, form_data(answer)))


def _require_finished(pages: CuratorPages[P], publication: P) -> None:
    if not publication.is_publishable:
        raise RefusedError(409, str(pages.too_early))


def _require_again(publication: Publication, payload: Publish) -> None:
    """A program that runs every night shall not undo what somebody has withdrawn."""
    if publication.withdrawn_at is not None and not payload.again:
        text = _("This was withdrawn on %(day)s. To publish it again all the same, send “again” as true.")
        refusal = text % {"day": date_format(publication.withdrawn_at, "DATE_FORMAT")}
        raise RefusedError(409, refusal, {"again": [refusal]})


def _details(publication: Publication, payload: Details) -> Json:
    """Its details, with those that were sent in place of its own."""
    own = {"doi": publication.doi, "supersedes": publication.supersedes and publication.supersedes.pk}
    return {**own, **payload.changes}


def _require_same(request: HttpRequest, pages: CuratorPages[P], publication: P, payload: Details) -> None:
    """Refuse to publish again with other details: 409. What was not sent is not compared."""
    if not payload.changes:
        return
    form = pages.details_form(request, publication, form_data(_details(publication, payload)))
    require_valid(form)
    if form.changes(publication):
        text = _(
            "This is public already, with another DOI or another older release that it replaces. Nothing was changed. "
            "PATCH its address with /details changes them, and so does the page “DOI and versions”."
        )
        raise RefusedError(409, text)


def _change_details(request: HttpRequest, pages: CuratorPages[P], publication: P, payload: Details) -> None:
    _require_finished(pages, publication)
    require_valid(pages.detailed_by(request, publication, form_data(_details(publication, payload))))


def _withdraw(request: HttpRequest, pages: CuratorPages[P], publication: P, payload: Withdraw) -> None:
    form = WithdrawalForm(form_data({"because": payload.because}))
    require_valid(form)
    pages.withdraw(publication, current_user(request), form.cleaned_data["because"])


@router.post("/releases/{uuid:release_id}/publish", auth=RELEASE, response=ReleaseShown)
def publish_release(request: HttpRequest, release_id: UUID, payload: Publish) -> object:
    """Show a finished release to everyone; one that is public stays as it is.

    Another DOI than that of a public one is refused with 409; it is changed under “details”. So is one that was
    withdrawn, without `again`.
    """
    _publish(request, release_pages, release_for(request, release_id), payload)
    return release_shown(request, release_for(request, release_id))


@router.patch("/releases/{uuid:release_id}/details", auth=RELEASE, response=ReleaseShown)
def release_details(request: HttpRequest, release_id: UUID, payload: Details) -> object:
    """Change the DOI of a finished release, or which older one it replaces, public or not."""
    _change_details(request, release_pages, release_for(request, release_id), payload)
    return release_shown(request, release_for(request, release_id))


@router.post("/releases/{uuid:release_id}/withdraw", auth=RELEASE, response=ReleaseShown)
def withdraw_release(request: HttpRequest, release_id: UUID, payload: Withdraw) -> object:
    """Close the page and the downloads; the budget stays spent."""
    _withdraw(request, release_pages, release_for(request, release_id), payload)
    return release_shown(request, release_for(request, release_id))


@router.post("/streams/{uuid:stream_id}/publish", auth=RELEASE, response=StreamShown)
def publish_stream(request: HttpRequest, stream_id: UUID, payload: Publish) -> object:
    """Show a running count to everyone, and each new period at once."""
    _publish(request, stream_pages, stream_for(request, stream_id), payload)
    return stream_shown(request, stream_for(request, stream_id))


@router.patch("/streams/{uuid:stream_id}/details", auth=RELEASE, response=StreamShown)
def stream_details(request: HttpRequest, stream_id: UUID, payload: Details) -> object:
    """Change the DOI of a running count, or which older one it replaces, public or not."""
    _change_details(request, stream_pages, stream_for(request, stream_id), payload)
    return stream_shown(request, stream_for(request, stream_id))


@router.post("/streams/{uuid:stream_id}/withdraw", auth=RELEASE, response=StreamShown)
def withdraw_stream(request: HttpRequest, stream_id: UUID, payload: Withdraw) -> object:
    """Close the page and the downloads of a running count; the budget stays spent."""
    _withdraw(request, stream_pages, stream_for(request, stream_id), payload)
    return stream_shown(request, stream_for(request, stream_id))
