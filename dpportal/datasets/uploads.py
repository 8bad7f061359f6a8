"""How an upload reaches the disk: streamed into the private scratch folder, up to the size limit."""

from __future__ import annotations

from typing import Any

from django.conf import settings
from django.core.files.uploadhandler import StopUpload, TemporaryFileUploadHandler
from django.http import HttpRequest


class LimitedUploadHandler(TemporaryFileUploadHandler):
    """Writes uploads to disk and stops one that is larger than the site allows."""

    def new_file(self, *args: Any, **kwargs: Any) -> None:
        super().new_file(*args, **kwargs)
        self.received = 0

    def receive_data_chunk(self, raw_data: bytes, start: int) -> None:
        self.received += len(raw_data)
        if self.received > settings.MAX_UPLOAD_BYTES:
            if self.request is not None:
                self.request.META[TOO_LARGE] = True
            raise StopUpload(connection_reset=False)
        super().receive_data_chunk(raw_data, start)


TOO_LARGE = "dpportal.upload_too_large"


def was_too_large(request: HttpRequest) -> bool:
    """Whether this request's file was cut off at the size limit."""
    return bool(request.META.get(TOO_LARGE))
