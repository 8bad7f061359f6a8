"""Where a request's body is until it is taken apart: in memory while it is short, else in a sealed file."""

from __future__ import annotations

import io
import uuid
from contextlib import suppress
from pathlib import Path
from typing import BinaryIO

from django.conf import settings

from dpportal.platform.sealed_files import SealedPath, new_key


class BodyFile:
    """Takes a body piece by piece. A long one is sealed with a key that only this request has."""

    def __init__(self) -> None:
        self._memory = io.BytesIO()
        self._writer: BinaryIO | None = None

    def write(self, piece: bytes) -> None:
        """Add what came."""
        together = self._memory.tell() + len(piece)
        if self._writer is None and together > settings.FILE_UPLOAD_MAX_MEMORY_SIZE:
            place = Path(settings.FILE_UPLOAD_TEMP_DIR) / f"{uuid.uuid4()}.body"
            self._sealed = SealedPath(place, new_key(), "body")
            self._writer = self._sealed.open("wb")
            self._writer.write(self._memory.getvalue())
            self._memory = io.BytesIO()
        (self._writer or self._memory).write(piece)

    def opened(self) -> BinaryIO:
        """The body, to be read from its beginning. Its place on the disk has no name any more."""
        if self._writer is None:
            self._memory.seek(0)
            return self._memory
        self._writer.close()
        try:
            return self._sealed.open("rb")
        finally:
            self._sealed.unlink()

    def discard(self) -> None:
        """Keep nothing of a body that did not come whole."""
        if self._writer is not None:
            with suppress(OSError):  # what a disk has not taken, it does not take now
                self._writer.close()
            with suppress(OSError):
                self._sealed.unlink(missing_ok=True)
