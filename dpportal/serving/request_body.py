"""What a request may bring: how much, and how slowly."""

from __future__ import annotations

import asyncio
import math
from collections.abc import Mapping

from dpportal.platform import storage
from dpportal.serving.handler import AsgiScope, Message, Receive

# For anyone: every form that can be sent without signing in is smaller. So much is held in memory, never on disk.
ANYONE_BYTES = 2**14
# Longer bodies are kept on disk meanwhile; after each so many bytes the free space is looked at again.
SPACE_BYTES = 2**20
# A body has so long, and more for what has come: a slow line of 8 kB a second is fast enough.
BODY_SECONDS = 30.0
LEAST_BYTES_PER_SECOND = 8192
# Nothing at all for so long is the end, however much has come.
SILENT_SECONDS = 30.0


class BodyRefusedError(Exception):
    """A request that is not read further. status, headers: of the answer; the message is for whoever sent it."""

    def __init__(self, status: int, text: str, headers: Mapping[str, str] | None = None) -> None:
        super().__init__(text)
        self.status = status
        self.headers = dict(headers or {})


class Body:
    """Hands on what is received, up to `limit` bytes, as long as it comes quickly enough and the disk has space for it.

    most_seconds: that all of it may take, however quickly it comes. Raises RefusedError.
    """

    def __init__(self, receive: Receive, limit: int, most_seconds: float = math.inf) -> None:
        self.receive = receive
        self.limit = limit
        self.most_seconds = most_seconds
        self.received = 0
        self.looked = ANYONE_BYTES
        self.begun = asyncio.get_running_loop().time()

    async def __call__(self) -> Message:
        try:
            async with asyncio.timeout_at(self._deadline()):
                message: Message = await self.receive()
        except TimeoutError:
            raise BodyRefusedError(408, "The request came too slowly. Try again.") from None
        self.received += len(message.get("body", b""))
        if self.received > self.limit:
            raise BodyRefusedError(413, too_large(self.limit))
        if self.received > self.looked:
            self.looked = self.received + SPACE_BYTES
            require_space()
        return message

    def _deadline(self) -> float:
        enough = self.begun + min(self.most_seconds, BODY_SECONDS + self.received / LEAST_BYTES_PER_SECOND)
        return min(enough, asyncio.get_running_loop().time() + SILENT_SECONDS)


def no_space() -> BodyRefusedError:
    """The refusal of a body that the disk has no room for."""
    return BodyRefusedError(507, str(storage.DiskFullError()))


def disk_fails(fault: storage.StorageFault) -> BodyRefusedError:
    """The refusal of a body that the disk does not take."""
    return no_space() if isinstance(fault, storage.StorageFullFault) else BodyRefusedError(503, str(fault))


def require_space(more: int = 0) -> None:
    """Raises RefusedError if the disk has not the space for so many more bytes."""
    if storage.is_full(more):
        raise no_space()


def too_large(limit: int) -> str:
    """Why a body is refused. limit: in bytes."""
    shown = f"{limit // 1024:,} KB" if limit < 2**20 else f"{limit // 2**20:,} MB"
    return f"This is larger than the {shown} that can be sent here."


def length(scope: AsgiScope) -> int | None:
    """The number of bytes that the request says it brings, None if it does not say."""
    announced = dict(scope["headers"]).get(b"content-length", b"")
    if announced.isdigit():
        return int(announced)
    return None if b"transfer-encoding" in dict(scope["headers"]) else 0
