"""That the portal itself is loading its demonstration: a file of the data folder, until it is ready."""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from uuid import NAMESPACE_DNS, UUID, uuid5

from django.conf import settings

# Of the dataset; what is made of it is named after it, so that a start that was interrupted finds it again.
DATASET = uuid5(NAMESPACE_DNS, "demonstration.dpportal")


def named(part: str) -> UUID:
    """The id of something that the portal makes of the demonstration."""
    return uuid5(DATASET, part)


def is_pending() -> bool:
    """Whether something is left to do; the dataset may not be uploaded yet."""
    return _path().exists()


def begin() -> None:
    """Remember that it is being loaded."""
    _path().touch()


def end() -> None:
    """Forget it, once it is ready."""
    _path().unlink(missing_ok=True)


@contextmanager
def alone_at_step() -> Iterator[bool]:
    """Whether nobody else is at the next step; nobody begins one until the block ends."""
    lock = os.open(settings.DATA_DIR, os.O_RDONLY | os.O_DIRECTORY)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        yield True
    except BlockingIOError:
        yield False
    finally:
        os.close(lock)


def _path() -> Path:
    return settings.DATA_DIR / "demonstration.pending"
