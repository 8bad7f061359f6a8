"""Stored numbers of a release that everyone may know: what was measured, and estimates beside it.

Where files lie on a file server, each page of a release would fetch them anew; so the last ones stay here for a while.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np
from django.core.files.storage import default_storage

from dpportal.platform import storage
from dpportal.releases.models import Release

# Numbers fetched from a file server, by the place of their file, the last that was asked for at the end: mapped, from a
# file that has no name on the disk any more. A file is never written again with other numbers.
MOST_COPIED_BYTES = 2**29
_copies: OrderedDict[tuple[object, str], np.ndarray] = OrderedDict()
_changing = threading.Lock()


@contextmanager
def measured(release: Release) -> Iterator[np.ndarray]:
    """The integers with noise, mapped."""
    with _mapped(release.measurement) as values:
        yield values


def keep_estimates(page: str, values: np.ndarray) -> None:
    """Store the estimates that a release is published with, from which readers' sums are taken.

    page: the stored name of its page, beside which they lie: a worker that wakes late writes neither over another's.
    """
    with storage.scratch_folder() as scratch:
        path = scratch / "estimates.npy"
        np.save(path, values)
        storage.keep(path, _beside(page))


def has_estimates(release: Release) -> bool:
    """Whether there are any: of too many rows none are kept."""
    return any(map(default_storage.exists, stored_names(release)))


@contextmanager
def estimates(release: Release) -> Iterator[np.ndarray]:
    """What `keep_estimates` kept, mapped."""
    *others, last = stored_names(release)
    with _mapped(next(filter(default_storage.exists, others), last)) as values:
        yield values


@contextmanager
def _mapped(name: str) -> Iterator[np.ndarray]:
    if storage.is_local():
        with storage.local_path(name) as path:
            yield np.asarray(np.load(path, mmap_mode="r"))
    else:
        yield _copied(name)


def _copied(name: str) -> np.ndarray:
    """The numbers of a file on a server; fetched while nobody else is kept waiting."""
    place = getattr(default_storage, "bucket_name", None), name
    with _changing:
        if (known := _copies.get(place)) is not None:
            _copies.move_to_end(place)
            return known
    with storage.local_path(name) as path:
        values = np.asarray(np.load(path, mmap_mode="r"))
    with _changing:
        _copies[place] = values
        while sum(copy.nbytes for copy in _copies.values()) > MOST_COPIED_BYTES:
            _copies.popitem(last=False)
    return values


def stored_names(release: Release) -> list[str]:
    """Where the estimates lie, if there are any; behind it where an earlier version stored them."""
    return [*([_beside(release.result)] if release.result else []), f"releases/{release.pk}/estimates"]


def _beside(page: str) -> str:
    return page.removesuffix(".json")
