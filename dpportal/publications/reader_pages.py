"""What everyone may ask for of a publication: who sees its pages, and what stands in place of those that are closed."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial, wraps
from typing import Concatenate, Generic, TypeVar
from uuid import UUID

from django.conf import settings
from django.core.files.storage import default_storage
from django.db.models import QuerySet
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase, JsonResponse
from django.http.request import MediaType
from django.shortcuts import get_object_or_404, render
from django.urls import reverse
from django.utils.cache import patch_vary_headers
from django.utils.http import content_disposition_header
from django.utils.translation import gettext_lazy, override
from django.views.decorators.http import require_safe

from dpportal.accounts import audit
from dpportal.accounts.permissions import current_user
from dpportal.charts.screens import for_screens
from dpportal.platform.json_types import Json
from dpportal.platform.problem_details import MEDIA_TYPE, problem_facts
from dpportal.publications import croissant
from dpportal.publications.archive import folder_name
from dpportal.publications.downloads import PublishedFile, file_response
from dpportal.publications.draft import Publication
from dpportal.publications.metadata import FORMATS, Download, Metadata
from dpportal.publications.pictures import SVG, picture
from mechanisms.verify.bundle import RELEASE

OK, GONE, BEING_WRITTEN = 200, 410, 503
# Why there are no data at an address, for programs.
NOT_NOW = {
    GONE: gettext_lazy("This was withdrawn; it has no files any more."),
    BEING_WRITTEN: gettext_lazy("Its files are being written. Ask again in some seconds."),
}
RETRY_AFTER_SECONDS = 60
HTML, LINKED_DATA = "text/html", "application/ld+json"
DATA = ("application/json", "text/csv", LINKED_DATA)

P = TypeVar("P", bound=Publication)


def query_of(request: HttpRequest) -> str:
    """What the page's address chooses, to be added to the addresses of its charts; empty if nothing."""
    query = request.GET.urlencode()
    return f"?{query}" if query else ""


@dataclass(frozen=True)
class ReaderPages(Generic[P]):
    """The pages of one kind of publication.

    space: the URL namespace. rows: all of them, with what a page reads. may_read: whether a visitor sees one; who may
    see its dataset sees it before it is public, too. metadata: how it is cited. charts: the figures of its page, by the
    names that addresses have for them. files: of its bundle, none while they
    are being written; may raise Http404. forget_lost: has files written again that its rows name and the storage lacks.
    main_table: the CSV file that a program gets that asks the page's address for CSV. cost: what it cost, in words.
    """

    space: str
    rows: Callable[[], QuerySet[P]]
    may_read: Callable[[HttpRequest, P], bool]
    metadata: Callable[[HttpRequest, P], Metadata]
    charts: Callable[[HttpRequest, P], Mapping[str, Json]]
    files: Callable[[P], Sequence[PublishedFile]]
    forget_lost: Callable[[P], None]
    main_table: Callable[[P], str]
    cost: Callable[[P], str]

    def page(
        self, view: Callable[Concatenate[HttpRequest, P, ...], HttpResponseBase]
    ) -> Callable[..., HttpResponseBase]:
        """A view of what the visitor may see. One that was public says that it was withdrawn.

        Of any other nobody learns that it exists. The view gets whatever its address names besides.
        """

        @require_safe
        @wraps(view)
        def shown(request: HttpRequest, **ids: UUID) -> HttpResponseBase:
            publication_id, *rest = ids.values()
            publication = get_object_or_404(self.rows(), pk=publication_id)
            if self.may_read(request, publication):
                return view(request, publication, *rest)
            if publication.withdrawn_at is None:
                raise Http404
            context = {"publication": publication, "cost": self.cost(publication)}
            return render(request, "withdrawn.html", {"nav_section": self.space, **context}, status=GONE)

        return shown

    def file(
        self, view: Callable[Concatenate[HttpRequest, P, ...], HttpResponseBase]
    ) -> Callable[..., HttpResponseBase]:
        """A view of what is no page: whoever does not ask for pages gets a problem where there is nothing to give."""
        return _with_problems(self.page(view), lambda request: not _asks_for_pages(request))

    def negotiated(
        self, view: Callable[[HttpRequest, P], HttpResponseBase]
    ) -> Callable[..., HttpResponseBase]:
        """The page for people, and at the same address data for programs that ask for them by `Accept`.

        JSON is release.json, CSV the main table, JSON-LD what search engines read. Whoever accepts none of them, or
        anything, gets the page.
        """

        @self.page
        def chosen(request: HttpRequest, publication: P) -> HttpResponseBase:
            with override(settings.LANGUAGE_CODE):  # what programs read has one language
                representation = self._representation(request, publication)
            return representation or view(request, publication)

        return _with_problems(chosen, _asks_for_data)

    def _representation(self, request: HttpRequest, publication: P) -> HttpResponseBase | None:
        """What a program asks for; None for the page."""
        names = {
            HTML: "",
            "application/json": RELEASE,
            "text/csv": self.main_table(publication),
            LINKED_DATA: "",
        }
        kind = _preferred(request)
        if kind == LINKED_DATA:
            metadata = self.context(request, publication, self.files(publication))["metadata"]
            return HttpResponse(metadata.linked_data, content_type=LINKED_DATA)
        name = names.get(kind or HTML)
        if not name:
            return None
        answer = self._given(request, publication, name)
        answer["Content-Location"] = self._path(publication, name)
        return answer

    def context(self, request: HttpRequest, publication: P, files: Sequence[PublishedFile] = ()) -> Json:
        """What every public page shows around the numbers. files: what readers can have now."""
        downloads = [self._download(request, publication, file) for file in files]
        return {
            "publication": publication,
            "metadata": replace(self.metadata(request, publication), downloads=downloads),
            "older": publication.supersedes,
            "newer": publication.successor,
            "table_address": self._table_address(request, publication, files),
            "nav_section": self.space,
        }

    def _table_address(self, request: HttpRequest, publication: P, files: Sequence[PublishedFile]) -> str:
        """Of the CSV file of its numbers, for programs that read it from here; empty where they could not."""
        name = self.main_table(publication)
        is_there = publication.is_public and name in [file.name for file in files]
        return self._address(request, publication, name) if is_there else ""

    def _path(self, publication: P, name: str) -> str:
        return reverse(f"{self.space}:download", args=[publication.pk, name])

    def _address(self, request: HttpRequest, publication: P, name: str) -> str:
        """Of a file, for those who have no page."""
        return request.build_absolute_uri(self._path(publication, name))

    def _download(self, request: HttpRequest, publication: P, file: PublishedFile) -> Download:
        address = self._address(request, publication, file.name)
        return Download(file.name, file.about, address, file.size, str(file.sha256))

    @property
    def croissant(self) -> Callable[..., HttpResponseBase]:
        """The bundle's croissant.json with addresses, so that programs load the tables from here.

        404 where the files were written before bundles had it; the sweep has them written again.
        """

        @self.file
        def described(request: HttpRequest, publication: P) -> HttpResponseBase:
            files = {file.name: file for file in self.files(publication)}
            if not files:
                return self._being_written(request, publication)
            if croissant.NAME not in files:
                raise Http404
            try:
                with default_storage.open(files[croissant.NAME].stored) as content:
                    document = json.load(content)
            except FileNotFoundError:
                self.forget_lost(publication)
                return self._being_written(request, publication)
            metadata = self.metadata(request, publication)
            placed = croissant.at_addresses(document, metadata, partial(self._address, request, publication))
            return JsonResponse(placed, content_type=LINKED_DATA)

        return described

    @property
    def cite(self) -> Callable[..., HttpResponseBase]:
        """How it is cited, for programs that keep references: in one of FORMATS; in any other, 404."""

        @self.file
        def cited(request: HttpRequest, publication: P, form: str) -> HttpResponse:
            if form not in FORMATS:
                raise Http404
            metadata = self.metadata(request, publication)
            answer = HttpResponse(metadata.cited(form), content_type=FORMATS[form])
            ending = f"{form}.json" if FORMATS[form].endswith("json") else form
            name = f"{folder_name(metadata.title, metadata.identifier)}.{ending}"
            answer["Content-Disposition"] = content_disposition_header(True, name) or ""
            return answer

        return cited

    @property
    def chart(self) -> Callable[..., HttpResponseBase]:
        """A figure of the page, as the data that draw it live (json) or as a picture by itself (svg).

        What draws it live saves pictures without asking again, so its data are a download, too.
        """

        @self.file
        def chart_file(request: HttpRequest, publication: P, name: str, form: str) -> HttpResponse:
            figure = self.figure(request, publication, name)
            if form not in ("json", "svg"):
                raise Http404
            self._record_unpublished(request, publication, f"{name}.{form}")
            if form == "json":
                return JsonResponse(figure["json"])
            metadata = self.metadata(request, publication)
            answer = HttpResponse(picture(figure, metadata), content_type=SVG)
            file = f"{folder_name(metadata.title, metadata.identifier)}.svg"
            answer["Content-Disposition"] = content_disposition_header(False, file) or ""
            return answer

        return chart_file

    @property
    def embed(self) -> Callable[..., HttpResponseBase]:
        """A figure with its source and licence, which pages of other sites may show in a frame."""

        @self.page
        def embedded(request: HttpRequest, publication: P, name: str) -> HttpResponse:
            context = {
                "publication": publication,
                "metadata": self.metadata(request, publication),
                "figure": self.figure(request, publication, name),
            }
            answer = render(request, "publications/embed.html", context)
            answer.xframe_options_exempt = publication.is_public
            return answer

        return embedded

    def figure(self, request: HttpRequest, publication: P, name: str) -> Json:
        """A chart of the page with its drawings. Raises Http404 where it has none of that name."""
        figures = self.charts(request, publication)
        if name not in figures:
            raise Http404
        return {**figures[name], "drawing": for_screens(figures[name]["json"])}

    @property
    def download(self) -> Callable[..., HttpResponseBase]:
        """One file of the bundle, or all in one zip."""

        @self.file
        def downloaded(request: HttpRequest, publication: P, name: str) -> HttpResponseBase:
            return self._given(request, publication, name)

        return downloaded

    def _given(self, request: HttpRequest, publication: P, name: str) -> HttpResponseBase:
        """A file of the bundle, with a line in the record before it is public."""
        files = {file.name: file for file in self.files(publication)}
        if not files:
            return self._being_written(request, publication)
        if name not in files:
            raise Http404
        try:
            answer = file_response(request, files[name])
        except FileNotFoundError:  # an older copy of the database names files of before
            self.forget_lost(publication)
            return self._being_written(request, publication)
        if answer.status_code == OK:
            self._record_unpublished(request, publication, name)
        return answer

    def _record_unpublished(self, request: HttpRequest, publication: P, name: str) -> None:
        """A line in the record of who takes numbers along before they are public."""
        if not publication.is_public and request.method == "GET":
            audit.record(current_user(request), "downloaded unpublished", publication, name)

    def _being_written(self, request: HttpRequest, publication: P) -> HttpResponse:
        """In place of a file that is not there yet, or says what was changed or taken back meanwhile."""
        context = {
            "publication": publication,
            "notice": f"{self.space}/_being_written.html",
            "nav_section": self.space,
        }
        answer = render(request, "publications/being_written.html", context, status=BEING_WRITTEN)
        answer["Retry-After"] = str(RETRY_AFTER_SECONDS)
        return answer


def _with_problems(
    view: Callable[..., HttpResponseBase], is_of_program: Callable[[HttpRequest], bool]
) -> Callable[..., HttpResponseBase]:
    """The view, where programs get what is not there as a problem, and people as a page."""

    @wraps(view)
    def answered(request: HttpRequest, **ids: UUID) -> HttpResponseBase:
        answer = view(request, **ids)
        if answer.status_code in NOT_NOW and is_of_program(request):
            answer = _problem(answer)
        patch_vary_headers(answer, ["Accept"])
        return answer

    return answered


def _asks_for_pages(request: HttpRequest) -> bool:
    """Whether pages are named among what is accepted, as browsers do; "*/*" alone is a program's."""
    named = (MediaType(text) for text in request.headers.get("Accept", "").split(","))
    return any(f"{kind.main_type}/{kind.sub_type}" == HTML and kind.quality for kind in named)


def _asks_for_data(request: HttpRequest) -> bool:
    """Whether a program asks a page's address for something else than the page."""
    return _preferred(request) in DATA


def _preferred(request: HttpRequest) -> str | None:
    """What is asked for of the page and the data; never what a request names to refuse it, with a quality of 0."""
    named = [MediaType(text) for text in request.headers.get("Accept", "").split(",")]
    refused = {f"{kind.main_type}/{kind.sub_type}" for kind in named if not kind.quality}
    return request.get_preferred_type([kind for kind in (HTML, *DATA) if kind not in refused])


def _problem(page: HttpResponseBase) -> HttpResponse:
    """What a page says to people, for programs."""
    with override(settings.LANGUAGE_CODE):
        facts = problem_facts(page.status_code, str(NOT_NOW[page.status_code]))
    later = {name: page[name] for name in ("Retry-After",) if name in page}
    return JsonResponse(facts, status=page.status_code, content_type=MEDIA_TYPE, headers=later)
