"""A file of a download as it goes to a reader."""

from __future__ import annotations

from typing import IO, Any

from django.http import FileResponse, Http404, HttpRequest, HttpResponse
from django.shortcuts import render
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


def attachment(content: IO[bytes], name: str, title: str) -> FileResponse:
    """The file to be saved under what it was published as, of the type that its ending says.

    title: of the release or stream.
    """
    ending = name.rsplit(".", 1)[-1]
    return FileResponse(
        content, as_attachment=True, filename=saved_name(name, title), content_type=TYPES[ending]
    )


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
