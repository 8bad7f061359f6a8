"""A file of a download as it goes to a reader."""

from __future__ import annotations

from collections.abc import Callable
from typing import IO, Any, Protocol

from django.http import FileResponse, Http404, HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import render
from django.utils.cache import get_conditional_response
from django.utils.http import content_disposition_header

from dpportal.publishing.archive import folder_name, saved_name
from dpportal.publishing.metadata import FORMATS, Metadata

TYPES = {
    "csv": "text/csv; charset=utf-8",
    "html": "text/html; charset=utf-8",
    "json": "application/json",
    "npz": "application/octet-stream",
    "md": "text/markdown; charset=utf-8",
    "parquet": "application/vnd.apache.parquet",
    "svg": "image/svg+xml",
    "xlsx": "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
    "zip": "application/zip",
}
GONE = 410
RETRY_AFTER_SECONDS = 60


class StoredFile(Protocol):
    """A file of a bundle in the private storage, with the digest and size of what it holds."""

    name: Any
    stored: Any
    size: Any
    sha256: Any


def attachment(content: IO[bytes], name: str, title: str) -> FileResponse:
    """The file to be saved under what it was published as, of the type that its ending says.

    title: of the release or stream.
    """
    ending = name.rsplit(".", 1)[-1]
    return FileResponse(
        content, as_attachment=True, filename=saved_name(name, title), content_type=TYPES[ending]
    )


def stored(
    request: HttpRequest, file: StoredFile, title: str, open_file: Callable[[str], IO[bytes]]
) -> HttpResponseBase:
    """A stored file as it is, or 304 for a reader who has it. Raises FileNotFoundError where the storage lacks it."""
    tag = f'"{file.sha256}"'
    answer: HttpResponseBase | None = get_conditional_response(request, etag=tag)
    if answer is None:
        answer = attachment(open_file(file.stored), file.name, title)
        answer["Content-Length"] = file.size
    answer["ETag"] = tag
    # Every time it is asked whether there is a newer one.
    answer["Cache-Control"] = "no-cache"
    return answer


def being_written(request: HttpRequest, template: str, context: dict[str, Any]) -> HttpResponse:
    """In place of a file that is not there yet, or says what was changed or taken back meanwhile."""
    answer = render(request, template, context, status=503)
    answer["Retry-After"] = str(RETRY_AFTER_SECONDS)
    return answer


def citation(metadata: Metadata, form: str) -> HttpResponse:
    """How it is cited, for programs that keep references. form: one of FORMATS; of any other, 404."""
    if form not in FORMATS:
        raise Http404
    answer = HttpResponse(metadata.cited(form), content_type=FORMATS[form])
    name = f"{folder_name(metadata.title, metadata.identifier)}.{form}"
    answer["Content-Disposition"] = content_disposition_header(True, name) or ""
    return answer


def withdrawn(request: HttpRequest, section: str, publication: Any) -> HttpResponse:
    """The answer where something was public and its curator took it back.

    section: of the navigation. publication: what may have a reason and a successor.
    """
    context = {"nav_section": section, "publication": publication}
    return render(request, "withdrawn.html", context, status=GONE)
