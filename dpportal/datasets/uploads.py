"""How an upload reaches the disk: streamed into the private scratch folder, up to the limit of site and disk."""

from __future__ import annotations

from typing import Any

from django.conf import settings
from django.core.files.uploadhandler import StopUpload, TemporaryFileUploadHandler
from django.http import HttpRequest
from django.utils.translation import gettext as _

from dpportal import storage

REFUSAL = "dpportal.upload_refusal"


class LimitedUploadHandler(TemporaryFileUploadHandler):
    """Writes uploads to disk and stops one that is larger than the site allows or than the disk has space for."""

    def new_file(self, *args: Any, **kwargs: Any) -> None:
        try:
            # What is received is stored once more, as a table.
            storage.require_space(2 * (self.content_length or 0))
        except storage.DiskFullError as full:
            self._refuse(str(full))
        super().new_file(*args, **kwargs)
        self.received = 0

    def receive_data_chunk(self, raw_data: bytes, start: int) -> None:
        self.received += len(raw_data)
        if self.received > settings.MAX_UPLOAD_BYTES:
            limit = settings.MAX_UPLOAD_BYTES / 2**30
            text = _(
                "The file is larger than %(limit).1f GB. Upload a part of it, or as Parquet, which is smaller."
            )
            self._refuse(text % {"limit": limit})
        super().receive_data_chunk(raw_data, start)

    def _refuse(self, text: str) -> None:
        """Read on without keeping anything, so that the answer reaches the browser."""
        if self.request is not None:
            self.request.META[REFUSAL] = text
        raise StopUpload(connection_reset=False)


def refusal(request: HttpRequest) -> str:
    """Why this request's file was not taken, or nothing."""
    return str(request.META.get(REFUSAL, ""))
