"""A file of a download as it goes to a reader."""

from __future__ import annotations

from typing import IO

from django.http import FileResponse, HttpRequest, HttpResponse
from django.shortcuts import render

TYPES = {
    "csv": "text/csv; charset=utf-8",
    "json": "application/json",
    "npz": "application/octet-stream",
    "md": "text/markdown; charset=utf-8",
    "parquet": "application/vnd.apache.parquet",
    "svg": "image/svg+xml",
    "zip": "application/zip",
}
GONE = 410


def attachment(content: IO[bytes], name: str) -> FileResponse:
    """The file to be saved under its name, of the type that its ending says."""
    return FileResponse(
        content, as_attachment=True, filename=name, content_type=TYPES[name.rsplit(".", 1)[-1]]
    )


def withdrawn(request: HttpRequest, section: str) -> HttpResponse:
    """The answer where something was public and its curator took it back. section: of the navigation."""
    return render(request, "withdrawn.html", {"nav_section": section}, status=GONE)
