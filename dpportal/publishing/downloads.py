"""A file of a download as it goes to a reader."""

from __future__ import annotations

from typing import IO

from django.http import FileResponse, HttpRequest, HttpResponse
from django.shortcuts import render

from dpportal.publishing.archive import folder_name

TYPES = {
    "csv": "text/csv; charset=utf-8",
    "html": "text/html; charset=utf-8",
    "json": "application/json",
    "npz": "application/octet-stream",
    "md": "text/markdown; charset=utf-8",
    "parquet": "application/vnd.apache.parquet",
    "svg": "image/svg+xml",
    "zip": "application/zip",
}
GONE = 410


def attachment(content: IO[bytes], name: str, title: str) -> FileResponse:
    """The file to be saved under what it was published as, of the type that its ending says.

    title: of the release or stream.
    """
    published, ending = folder_name(title, ""), name.rsplit(".", 1)[-1]
    saved = f"{published}.zip" if ending == "zip" else f"{published}-{name}"
    return FileResponse(
        content, as_attachment=True, filename=saved if published else name, content_type=TYPES[ending]
    )


def withdrawn(request: HttpRequest, section: str) -> HttpResponse:
    """The answer where something was public and its curator took it back. section: of the navigation."""
    return render(request, "withdrawn.html", {"nav_section": section}, status=GONE)
