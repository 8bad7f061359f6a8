"""Which dataset the portal itself is loading as a demonstration: a file of the data folder, until it is ready."""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from uuid import UUID

from django.conf import settings


def pending() -> UUID | None:
    """The dataset's id; it may not be uploaded yet."""
    try:
        return UUID(_path().read_text())
    except (FileNotFoundError, ValueError):
        return None


def begin(dataset_id: UUID) -> None:
    """Remember which dataset is being loaded."""
    _path().write_text(str(dataset_id))


def end() -> None:
    """Forget it, once it is ready."""
    _path().unlink(missing_ok=True)


@contextmanager
def alone() -> Iterator[bool]:
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
