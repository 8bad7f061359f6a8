"""What everyone reads: the catalogue, and what is published, without a token."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from uuid import UUID

from django.http import Http404, HttpRequest, HttpResponse
from django.urls import reverse
from django.utils.translation import gettext as _
from ninja import Query, Router

from dpportal.api.authentication import PUBLIC
from dpportal.api.catalogue_schemas import CataloguePage, CatalogueSearch, EntryShown, PublishedShown
from dpportal.api.problems import RefusedError, problem
from dpportal.api.shown import PageNumber, files_shown, page_of
from dpportal.budgets.charged_publication import ChargedPublication
from dpportal.catalogue import snapshot
from dpportal.catalogue.entries import KINDS, CatalogueEntry, Entry, SearchQuery, loaded
from dpportal.platform.listed_names import listed as in_words
from dpportal.publications.downloads import PublishedFile
from dpportal.publications.metadata import Metadata
from dpportal.publications.reader_pages import ReaderPages
from dpportal.releases import public as releases
from dpportal.releases.models import Release
from dpportal.releases.privacy_statement import promise
from dpportal.releases.reader_plans import confirmed_plan
from dpportal.streams import downloads, public as streams
from dpportal.streams.models import Stream
from dpportal.streams.series import promise_of, whole_orders
from dpportal.value_choices.disclosure import PublishedLoss

router = Router(tags=["catalogue"])


@router.get("", auth=PUBLIC, response=CataloguePage)
def catalogue(request: HttpRequest, search: Query[CatalogueSearch], page: PageNumber = 1) -> object:
    """Search what is published, newest first."""
    if search.kind and search.kind not in KINDS:
        text = _("There are these kinds: %(kinds)s.") % {"kinds": in_words(KINDS)}
        raise RefusedError(422, text, {"kind": [text]})
    matches = SearchQuery(**search.dict()).of(snapshot.current().entries)
    answer = page_of(request, matches, page, lambda entry: entry)
    there = loaded(answer["items"], with_pictures=False)
    known = {entry.it.pk: entry for entry in there}
    items = [_entry(request, entry, known[entry.pk]) for entry in answer["items"] if entry.pk in known]
    return {**answer, "items": items}


def _entry(request: HttpRequest, entry: CatalogueEntry, listed: Entry) -> EntryShown:
    publication = listed.it
    return EntryShown(
        id=entry.pk,
        kind=entry.kind,
        title=str(publication),
        dataset=entry.dataset,
        dataset_name=publication.dataset.name,
        publisher=entry.publisher,
        published_at=entry.published_at,
        columns=list(entry.columns),
        loss=str(listed.loss),
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
        row = pages.rows().filter(pk=publication_id).first()
        if row is None:
            continue
        if pages.may_read(request, row):  # type: ignore[arg-type]
            return _published(request, space, row)
        if row.withdrawn_at is not None:
            return _withdrawn(row)
    raise Http404


def _withdrawn(publication: ChargedPublication) -> HttpResponse:
    text = _("This was published, and withdrawn. %(because)s") % {"because": publication.withdrawn_because}
    return problem(410, text.strip())


def _published(request: HttpRequest, space: str, publication: Release | Stream) -> PublishedShown:
    def address_of(name: str) -> str:
        return request.build_absolute_uri(reverse(f"{space}:download", args=[publication.pk, name]))

    about = publication.dataset.about
    newer = publication.successor
    facts = (
        _of_release(request, publication)
        if isinstance(publication, Release)
        else _of_stream(request, publication)
    )
    return PublishedShown(
        id=publication.pk,
        kind=facts.kind,
        title=str(publication),
        address=facts.metadata.address,
        dataset=publication.dataset.pk,
        author=facts.metadata.author,
        citation=facts.metadata.text,
        published_at=publication.published_at,
        columns=list(facts.metadata.columns),
        loss=str(PublishedLoss.of(publication)),
        epsilon_delta=facts.epsilon_delta,
        statement=facts.statement,
        licence=about.licence,
        doi=publication.doi,
        newer=request.build_absolute_uri(newer.get_absolute_url()) if newer else None,
        files=files_shown(facts.files, address_of),
        files_to_come=facts.files_to_come,
    )


@dataclass(frozen=True)
class _PublicationFacts:
    """What a release and a running count say of themselves, each from its own room.

    files_to_come: whether newer files are still to be written.
    """

    metadata: Metadata
    kind: str
    epsilon_delta: str
    statement: str
    files: Sequence[PublishedFile]
    files_to_come: bool


def _of_release(request: HttpRequest, release: Release) -> _PublicationFacts:
    return _PublicationFacts(
        metadata=releases.metadata(request, release),
        kind=release.product,
        epsilon_delta=PublishedLoss.of(release).pair(),
        statement=promise(release, confirmed_plan(release).loss, release.other_promises),
        files=list(releases.pages.files(release)),
        files_to_come=False,
    )


def _of_stream(request: HttpRequest, stream: Stream) -> _PublicationFacts:
    offered = downloads.offered(stream)
    return _PublicationFacts(
        metadata=streams.metadata(request, stream),
        kind="stream",
        epsilon_delta=PublishedLoss.of(stream).pair(whole_orders=whole_orders(stream.plan)),
        statement=promise_of(stream, stream.other_promises),
        files=offered.files,
        files_to_come=offered.to_come,
    )
