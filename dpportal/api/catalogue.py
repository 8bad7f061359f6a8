"""What everyone reads: the catalogue, and what is published, without a token."""

from __future__ import annotations

from typing import Annotated
from uuid import UUID

from django.http import Http404, HttpRequest, HttpResponse
from django.urls import reverse
from django.utils.translation import gettext as _
from ninja import Field, Router

from dpportal.api.authentication import PUBLIC
from dpportal.api.problems import problem
from dpportal.api.schemas import CataloguePage, EntryShown, PublishedShown
from dpportal.api.shown import PageNumber, files_shown, page_of
from dpportal.budgets.models import ChargedPublication
from dpportal.catalogue import snapshot
from dpportal.catalogue.entries import CatalogueEntry, SearchQuery, loaded
from dpportal.publications.downloads import PublishedFile
from dpportal.publications.metadata import Metadata
from dpportal.publications.reader_pages import ReaderPages
from dpportal.publications.statement import epsilon_delta_text
from dpportal.releases import public as releases
from dpportal.releases.models import Release
from dpportal.releases.privacy_statement import promise
from dpportal.releases.products import confirmed_plan
from dpportal.streams import public as streams
from dpportal.streams.models import Stream
from dpportal.streams.series import as_epsilon_delta, promise_of

router = Router(tags=["catalogue"])
Words = Annotated[str, Field(max_length=200)]
Year = Annotated[int, Field(ge=1, le=9999)]


@router.get("", auth=PUBLIC, response=CataloguePage)
def catalogue(
    request: HttpRequest,
    words: Words = "",
    kind: str = "",
    year: Year | None = None,
    place: str = "",
    publisher: str = "",
    covered: Year | None = None,
    column: str = "",
    page: PageNumber = 1,
) -> object:
    """Search what is published, newest first."""
    found = SearchQuery(words, kind, year, place, publisher, covered, column).of(snapshot.current().entries)
    answer = page_of(request, found, page, lambda entry: entry)
    there = loaded(answer["items"], with_pictures=False)
    names = {entry.it.pk: entry.it for entry in there}
    items = [_entry(request, entry, names[entry.pk]) for entry in answer["items"] if entry.pk in names]
    return {**answer, "items": items}


def _entry(request: HttpRequest, entry: CatalogueEntry, publication: ChargedPublication) -> EntryShown:
    return EntryShown(
        id=entry.pk,
        kind=entry.kind,
        title=str(publication),
        dataset=entry.dataset,
        dataset_name=publication.dataset.name,
        publisher=entry.publisher,
        published_at=entry.published_at,
        columns=list(entry.columns),
        place=entry.place,
        address=request.build_absolute_uri(entry.address),
    )


@router.get("/{uuid:publication_id}", auth=PUBLIC, response=PublishedShown)
def publication(request: HttpRequest, publication_id: UUID) -> object:
    """One published release or running count: what it promises, and its files."""
    kinds: list[tuple[str, ReaderPages[Release] | ReaderPages[Stream]]] = [
        ("releases", releases.pages),
        ("streams", streams.pages),
    ]
    for space, pages in kinds:
        found = pages.rows().filter(pk=publication_id).first()
        if found is None:
            continue
        if pages.may_read(request, found):  # type: ignore[arg-type]
            return _published(request, space, found)
        if found.withdrawn_at is not None:
            return _withdrawn(found)
    raise Http404


def _withdrawn(found: ChargedPublication) -> HttpResponse:
    text = _("This was published, and withdrawn. %(because)s") % {"because": found.withdrawn_because}
    return problem(410, text.strip())


def _published(request: HttpRequest, space: str, found: Release | Stream) -> PublishedShown:
    def address_of(name: str) -> str:
        return request.build_absolute_uri(reverse(f"{space}:download", args=[found.pk, name]))

    about = found.dataset.about
    newer = found.successor
    says = _of_release(request, found) if isinstance(found, Release) else _of_stream(request, found)
    metadata, kind, loss, pair, statement, files = says
    return PublishedShown(
        id=found.pk,
        kind=kind,
        title=str(found),
        address=metadata.address,
        dataset=found.dataset.pk,
        author=metadata.author,
        citation=metadata.text,
        published_at=found.published_at,
        columns=list(metadata.columns),
        loss=loss,
        epsilon_delta=pair,
        statement=statement,
        licence=about.licence,
        doi=found.doi,
        newer=request.build_absolute_uri(newer.get_absolute_url()) if newer else None,
        files=files_shown(files, address_of),
    )


Says = tuple[Metadata, str, str, str, str, list[PublishedFile]]


def _of_release(request: HttpRequest, release: Release) -> Says:
    """Metadata, kind, loss, (ε, δ), statement and files."""
    loss = confirmed_plan(release).loss
    statement = promise(release, loss, release.other_promises)
    pair = epsilon_delta_text(loss, release.delta)
    files: list[PublishedFile] = list(releases.pages.files(release))
    return releases.metadata(request, release), release.product, str(loss), pair, statement, files


def _of_stream(request: HttpRequest, stream: Stream) -> Says:
    loss, pair = str(stream.plan.loss), as_epsilon_delta(stream.plan, stream.delta)
    files: list[PublishedFile] = list(streams.pages.files(stream)) if stream.periods.exists() else []
    return (
        streams.metadata(request, stream),
        "stream",
        loss,
        pair,
        promise_of(stream, stream.other_promises),
        files,
    )
