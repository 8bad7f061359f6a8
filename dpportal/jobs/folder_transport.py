"""The embedded portal's queue: a file a message, in a folder that several workers share.

Kombu's own folder transport reads half-written messages, and ends the worker when it cannot read one. Here a message
appears complete or not at all, exactly one worker takes it, and unreadable messages are moved aside.
"""

from __future__ import annotations

import json
import logging
import time
import uuid
from pathlib import Path
from queue import Empty

from kombu.exceptions import ChannelError
from kombu.transport import TRANSPORT_ALIASES, filesystem
from kombu.utils.json import dumps

from dpportal.platform.json_types import Json

log = logging.getLogger(__name__)

SCHEME = "folder"
# The folder inside it for messages that nobody can read.
QUARANTINE = "unreadable"
PARTS = {"body", "headers", "properties"}


class Channel(filesystem.Channel):
    """Puts and takes messages. Every exchange has one queue, of the same name."""

    def get_table(self, exchange: str) -> list[tuple[str, str, str]]:
        return [filesystem.exchange_queue_t(exchange, "", exchange)]

    def _queue_bind(self, exchange: str, routing_key: str, pattern: str, queue: str) -> None:
        """Store nothing: each exchange has one queue."""

    def _put(self, queue: str, message: Json, **_: object) -> None:  # type: ignore[override]
        name = f"{time.time_ns()}_{uuid.uuid4().hex}.{queue}.msg"
        part = Path(self.data_folder_out) / f".{name}.part"
        try:
            part.write_text(dumps(message))  # type: ignore[no-untyped-call]
            part.rename(Path(self.data_folder_out) / name)
        except OSError as error:
            part.unlink(missing_ok=True)
            raise ChannelError(f"No message can be written ({error.strerror}).") from error

    def _get(self, queue: str, timeout: float | None = None) -> Json:
        inbox = Path(self.data_folder_in)
        for name in sorted(path.name for path in inbox.iterdir()):
            if name.startswith(".") or name.partition(".")[2] != f"{queue}.msg":
                continue
            taken = inbox / f".{name}.{uuid.uuid4().hex}.taken"
            try:
                (inbox / name).rename(taken)
            except OSError:  # another worker was faster
                continue
            message = _read(taken)
            if message is None:
                _set_aside(taken, inbox / QUARANTINE / name)
                continue
            taken.unlink()
            return message
        raise Empty


class Transport(filesystem.Transport):
    """Kombu's folder transport with the channel above."""

    Channel = Channel
    driver_type = driver_name = SCHEME


def register() -> None:
    """Let an address that begins with `folder://` mean this transport."""
    TRANSPORT_ALIASES[SCHEME] = f"{__name__}:{Transport.__name__}"


def _read(path: Path) -> Json | None:
    """The message, None if it is none."""
    try:
        message = json.loads(path.read_text())
    except (ValueError, OSError):
        return None
    return message if isinstance(message, dict) and message.keys() >= PARTS else None


def _set_aside(path: Path, name: Path) -> None:
    """Move an unreadable message aside for inspection. The sweep sends another message for its job."""
    log.warning("A message of the queue cannot be read; it is set aside as %s.", name.name)
    try:
        name.parent.mkdir(exist_ok=True, mode=0o700)
        path.rename(name)
    except OSError:
        path.unlink(missing_ok=True)
