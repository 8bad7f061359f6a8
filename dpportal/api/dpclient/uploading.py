"""A file sent in pieces, going on where a connection broke: tus 1.0.0."""

from __future__ import annotations

import hashlib
import os
import time
from base64 import b64encode
from collections.abc import Mapping
from io import BufferedReader, BytesIO

import httpx

from .connection import API, Connection, Facts
from .faults import PortalError

PIECE_BYTES = 16 * 2**20
# So often a piece is sent again after a broken connection, each time after a longer pause, until the upload goes on.
MOST_BREAKS, LONGEST_PAUSE_SECONDS = 12, 20.0
# The upload is elsewhere than this client thinks, the portal is busy, or it stands behind a proxy and starts anew.
ASK_AGAIN = (408, 409, 429, 502, 503, 504)
TUS = {"Tus-Resumable": "1.0.0"}
PIECE_TYPE = "application/offset+octet-stream"
Content = BufferedReader | BytesIO


def upload(connection: Connection, file: Content, *, key: str, payload: Mapping[str, str]) -> Facts:
    """Send a file, and return what the API says of its dataset. Raises PortalError, and httpx.TransportError.

    key: a random UUID, with which the same file is sent once. payload: its name and how it is read, by name.
    """
    sending = _Upload(connection, file, key, payload)
    breaks, furthest = 0, -1
    while sending.dataset is None:
        try:
            sending.go_on()
        except (httpx.TransportError, PortalError) as fault:
            if isinstance(fault, PortalError) and fault.status not in ASK_AGAIN:
                raise
            breaks = breaks + 1 if sending.offset <= furthest else 1
            if breaks > MOST_BREAKS:
                raise
            sending.is_lost, furthest = True, sending.offset
            time.sleep(min(LONGEST_PAUSE_SECONDS, 0.25 * 2**breaks))
    return sending.dataset


class _Upload:
    """How far it is, as the portal said last. is_lost: whether the portal has to be asked first."""

    def __init__(self, connection: Connection, file: Content, key: str, payload: Mapping[str, str]) -> None:
        self.connection, self.file, self.key = connection, file, key
        self.address, self.offset, self.is_lost = "", 0, True
        self.dataset: Facts | None = None
        file.seek(0)  # the same file may have been sent before
        self._metadata = {**payload, "sha256": hashlib.file_digest(file, "sha256").hexdigest()}
        self._size = file.seek(0, os.SEEK_END)

    def go_on(self) -> None:
        """Begin it, ask how far it is, or send the next piece."""
        if not self.address:
            self._hear(self._begun())
        elif self.is_lost:
            self._hear(self.connection.send("GET", self.address))
        else:
            self._send()

    def _begun(self) -> httpx.Response:
        pairs = (f"{name} {b64encode(text.encode()).decode()}" for name, text in self._metadata.items())
        headers = {"Upload-Length": str(self._size), "Upload-Metadata": ",".join(pairs), **TUS}
        return self.connection.send("POST", f"{API}/uploads", key=self.key, headers=headers)

    def _send(self) -> None:
        self.file.seek(self.offset)
        headers = {"Upload-Offset": str(self.offset), "Content-Type": PIECE_TYPE, **TUS}
        content = self.file.read(PIECE_BYTES)
        answer = self.connection.send("PATCH", self.address, content=content, headers=headers)
        self.offset = int(answer.headers["Upload-Offset"])
        self.is_lost = self.offset == self._size  # the portal knows the dataset by now

    def _hear(self, answer: httpx.Response) -> None:
        received = answer.json()
        self.address, self.offset = f"{API}/uploads/{received['id']}", received["offset"]
        self.dataset, self.is_lost = received["dataset"], False
