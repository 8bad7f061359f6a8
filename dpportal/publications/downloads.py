"""The files of a publication's bundle in the private storage: how workers store them, and how they go to a reader."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, TypeVar
from uuid import uuid4

from django.core.files.storage import default_storage
from django.db import models
from django.http import FileResponse, HttpRequest, HttpResponseBase
from django.utils.cache import get_conditional_response

from dpportal.platform import storage
from dpportal.publications.archive import BundleFile, saved_name
from dpportal.publications.draft import Publication
from mechanisms.tabular.file_types import media_type

# Until files are written again that workers died of, or were too slow for.
FAILED_PAUSE_SECONDS = 3600.0


class PublishedFile(models.Model):
    """One file of a bundle, as everyone downloads it. A subclass has the fields about, sha256 and its publication's.

    stored: its name in the private storage. size: in bytes.
    """

    if TYPE_CHECKING:
        about: str
        sha256: Any  # sealed in releases, plain in streams

    name = models.CharField(max_length=80)
    stored = models.CharField(max_length=200)
    size = models.BigIntegerField()

    class Meta:
        abstract = True
        ordering = ["pk"]

    def __str__(self) -> str:
        return self.name

    @property
    def publication(self) -> Publication:
        """Whose file it is."""
        raise NotImplementedError

    @property
    def shown_name(self) -> str:
        """What readers see: the file with everything is named by an id, and saved by its publication's title."""
        return saved_name(self.name, str(self.publication)) if self.name.endswith(".zip") else self.name


F = TypeVar("F", bound=PublishedFile)


def store(row: Callable[..., F], files: Iterable[BundleFile], folder: str) -> list[F]:
    """Move files of a bundle into the private storage; returns their rows, which are not saved yet.

    row: of a file, by the fields that all have. folder: of the publication. They get one of their own in it, so that
    a worker that wakes up late cannot change what a row points to.
    """
    own, moved, rows = f"{folder}/{uuid4()}", dict[str, Path](), list[F]()
    for file in files:
        stored = f"{own}/{file.name}"
        moved[stored] = file.path
        # Size and digest are read before the file is moved.
        rows.append(row(name=file.name, stored=stored, size=file.size, sha256=file.sha256, about=file.about))
    storage.keep_all(moved)
    return rows


def file_response(request: HttpRequest, file: PublishedFile) -> HttpResponseBase:
    """A file as it is, or 304 for a reader who has it. Raises FileNotFoundError where the storage lacks it."""
    tag = f'"{file.sha256}"'
    answer: HttpResponseBase | None = get_conditional_response(request, etag=tag)
    if answer is None:
        answer = _attachment(default_storage.open(file.stored), file)
        answer["Content-Length"] = file.size
    answer["ETag"] = tag
    # Every time it is asked whether there is a newer one.
    answer["Cache-Control"] = "no-cache"
    return answer


def _attachment(content: IO[bytes], file: PublishedFile) -> FileResponse:
    """To be saved under what it was published as, of the type that its ending says."""
    name = saved_name(file.name, str(file.publication))
    return FileResponse(content, as_attachment=True, filename=name, content_type=media_type(file.name))
