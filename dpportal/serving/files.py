"""Views that take files: they alone do, and only after it is known who asks."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import wraps
from hmac import HMAC
from pathlib import Path
from typing import Any, BinaryIO

from django.conf import settings
from django.core.files.uploadedfile import UploadedFile
from django.core.files.uploadhandler import FileUploadHandler, SkipFile, StopUpload
from django.http import HttpRequest, HttpResponseBase
from django.template.defaultfilters import filesizeformat
from django.utils.translation import gettext as _
from django.views.decorators.csrf import csrf_exempt, csrf_protect

from dpportal.accounts.permissions import View, curator_required
from dpportal.platform import storage
from dpportal.platform.sealed_files import SealedPath, new_key

REFUSAL = "dpportal.upload_refusal"


def takes_files(most_bytes: int | None = None) -> Callable[[View], View]:
    """A view for curators whose requests may bring files, of `most_bytes` together (by default what the site allows).

    The token against forged requests stands in the body, so it is looked for after the curator was recognised.
    """

    def limit() -> int:
        return most_bytes or upload_limit()

    def taking(view: View) -> View:
        guarded = csrf_exempt(curator_required(_receiving(view, limit)))
        guarded.takes_files = limit  # type: ignore[attr-defined]
        return guarded

    return taking


def takes_files_from_anyone(most_bytes: int) -> Callable[[View], View]:
    """A view whose requests may bring files of `most_bytes` together, whoever sends them: few at a time."""

    def taking(view: View) -> View:
        guarded = csrf_exempt(_receiving(view, lambda: most_bytes))
        guarded.takes_files_from_anyone = most_bytes  # type: ignore[attr-defined]
        return guarded

    return taking


def _receiving(view: View, limit: Callable[[], int]) -> View:
    protected = csrf_protect(view)

    @wraps(view)
    def receiving(request: HttpRequest, *args: object, **kwargs: object) -> HttpResponseBase:
        request.upload_handlers = [LimitedUploadHandler(request, limit())]
        return protected(request, *args, **kwargs)

    return receiving


def upload_limit() -> int:
    """How large a table may be that comes in, in bytes."""
    return settings.MAX_UPLOAD_BYTES


def too_large(most_bytes: int) -> str:
    """Why a file is not taken."""
    text = _("The file is larger than %(limit)s. Upload a part of it, or as Parquet, which is smaller.")
    return text % {"limit": filesizeformat(most_bytes)}


class NoFiles(FileUploadHandler):
    """Leaves the files of every other request out, unread."""

    def new_file(self, *args: object, **kwargs: object) -> None:
        raise SkipFile

    def receive_data_chunk(self, raw_data: bytes, start: int) -> bytes | None:
        return None

    def file_complete(self, file_size: int) -> None:
        return None


class LimitedUploadHandler(FileUploadHandler):
    """Writes a request's files to disk and stops where they are larger than allowed or than the disk has space for.

    Each is sealed with a key that only this request has. digest: is fed with all bytes that come.
    """

    def __init__(self, request: HttpRequest, most_bytes: int, digest: HMAC | None = None) -> None:
        super().__init__(request)
        self.most_bytes = most_bytes
        self.received, self._digest = 0, digest
        self._writer: BinaryIO | None = None

    def new_file(self, *args: Any, **kwargs: Any) -> None:
        # A received file is stored once more, as a table.
        self._require_space(2 * (self.content_length or 0))
        super().new_file(*args, **kwargs)
        place = Path(settings.FILE_UPLOAD_TEMP_DIR) / f"{uuid.uuid4()}.upload"
        self._sealed = SealedPath(place, new_key(), "upload")
        with self._refusing():
            self._writer = self._sealed.open("wb")

    def receive_data_chunk(self, raw_data: bytes, start: int) -> None:
        self.received += len(raw_data)
        if self.received > self.most_bytes:
            self._refuse(too_large(self.most_bytes))
        # Not every request announces how much comes.
        self._require_space()
        assert self._writer is not None
        with self._refusing():
            self._writer.write(raw_data)
        if self._digest is not None:
            self._digest.update(raw_data)

    def file_complete(self, file_size: int) -> UploadedFile[bytes]:
        """The file, to be read; its place on the disk has no name any more."""
        assert self._writer is not None
        with self._refusing():
            self._writer.close()
            file = self._sealed.open("rb")
            self._sealed.unlink()
        self._writer = None
        return UploadedFile(
            file, self.file_name, self.content_type, file_size, self.charset, self.content_type_extra
        )

    def upload_interrupted(self) -> None:
        """Keep nothing of a file that did not come whole."""
        if self._writer is not None:
            with suppress(OSError):  # what a disk has not taken, it does not take now
                self._writer.close()
            with suppress(OSError):
                self._sealed.unlink(missing_ok=True)
            self._writer = None

    @contextmanager
    def _refusing(self) -> Iterator[None]:
        """Refuse the file where the disk does not take it."""
        try:
            with storage.on_disk():
                yield
        except storage.StorageFault as fault:
            self._refuse(str(fault))

    def _require_space(self, more: int = 0) -> None:
        try:
            storage.require_space(more)
        except storage.DiskFullError as full:
            self._refuse(str(full))

    def _refuse(self, text: str) -> None:
        """Read on without keeping anything, so that the answer reaches the browser."""
        self.upload_interrupted()  # Django does not say so of a file that it stops at
        if self.request is not None:
            self.request.META[REFUSAL] = text
        raise StopUpload(connection_reset=False)


def refusal(request: HttpRequest) -> str:
    """Why this request's files were not taken, or nothing."""
    return str(request.META.get(REFUSAL, ""))
