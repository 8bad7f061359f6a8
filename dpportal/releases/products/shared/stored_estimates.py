"""Stored numbers of a release that everyone may know: what was measured, estimates beside it, and tables of both.

Where files lie on a file server, each page of a release would fetch them anew; so the last ones stay here for a while.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from mmap import ACCESS_READ, mmap
from pathlib import Path
from typing import TypeVar, cast

import numpy as np
from django.core.files.storage import default_storage

from dpportal.platform import storage
from dpportal.platform.bounded_cache import BoundedCache
from dpportal.releases.models import Release

Mapped = TypeVar("Mapped", np.ndarray, mmap)


def _size(copied: np.ndarray | mmap) -> int:
    return len(copied) if isinstance(copied, mmap) else copied.nbytes


# Numbers fetched from a file server, by the place of their file: mapped, from a file that has no name on the disk any
# more. A file is never written again with other numbers.
_copies = BoundedCache[tuple[object, str], np.ndarray | mmap](2**29, _size)


@contextmanager
def measured(release: Release) -> Iterator[np.ndarray]:
    """The integers with noise, mapped."""
    with _mapped(release.measurement, _numbers_of) as values:
        yield values


def keep_estimates(page: str, values: np.ndarray) -> None:
    """Store the estimates that a release is published with, from which readers' sums are taken.

    page: the stored name of its page, beside which they lie: a worker that wakes late writes neither over another's.
    """
    with storage.scratch_folder() as scratch:
        path = scratch / "estimates.npy"
        np.save(path, values)
        storage.keep(path, _folder_of(page))


def has_estimates(release: Release) -> bool:
    """Whether there are any: of too many rows none are kept."""
    return any(map(default_storage.exists, stored_names(release)))


@contextmanager
def estimates(release: Release) -> Iterator[np.ndarray]:
    """What `keep_estimates` kept, mapped."""
    *others, last = stored_names(release)
    with _mapped(next(filter(default_storage.exists, others), last), _numbers_of) as values:
        yield values


@contextmanager
def content(name: str) -> Iterator[mmap]:
    """The bytes of a file of a release that is never written again and is not empty, mapped."""
    with _mapped(name, _bytes_of) as values:
        yield values


@contextmanager
def _mapped(name: str, read: Callable[[Path], Mapped]) -> Iterator[Mapped]:
    if storage.is_local():
        with storage.local_path(name) as path:
            yield read(path)
    else:
        yield _copied(name, read)


def _copied(name: str, read: Callable[[Path], Mapped]) -> Mapped:
    """The numbers of a file on a server; fetched while nobody else is kept waiting."""
    place = getattr(default_storage, "bucket_name", None), name
    return cast(
        Mapped, _copies.get(place, partial(_fetched, name, read))
    )  # a file is always read in the same way


def _fetched(name: str, read: Callable[[Path], Mapped]) -> Mapped:
    with storage.local_path(name) as path:
        return read(path)


def _numbers_of(path: Path) -> np.ndarray:
    return np.asarray(np.load(path, mmap_mode="r"))


def _bytes_of(path: Path) -> mmap:
    with path.open("rb") as file:
        return mmap(file.fileno(), 0, access=ACCESS_READ)


def stored_names(release: Release) -> list[str]:
    """Where the estimates lie, if there are any; behind it where an earlier version stored them."""
    return [*([_folder_of(release.result)] if release.result else []), f"releases/{release.pk}/estimates"]


def _folder_of(page: str) -> str:
    return page.removesuffix(".json")
