"""Stored numbers of a release that everyone may know: what was measured, and estimates beside it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np
from django.core.files.storage import default_storage

from dpportal.platform import storage
from dpportal.releases.models import Release


@contextmanager
def measured(release: Release) -> Iterator[np.ndarray]:
    """The integers with noise, mapped."""
    with _mapped(release.measurement) as values:
        yield values


def keep_estimates(release: Release, values: np.ndarray) -> None:
    """Store the estimates that a release was published with, from which readers' sums are taken."""
    with storage.scratch_folder() as scratch:
        path = scratch / "estimates.npy"
        np.save(path, values)
        storage.keep(path, stored_name(release))


def has_estimates(release: Release) -> bool:
    """Whether there are any: of too many rows none are kept."""
    return default_storage.exists(stored_name(release))


@contextmanager
def estimates(release: Release) -> Iterator[np.ndarray]:
    """What `keep_estimates` kept, mapped."""
    with _mapped(stored_name(release)) as values:
        yield values


@contextmanager
def _mapped(name: str) -> Iterator[np.ndarray]:
    with storage.local_path(name) as path:
        yield np.asarray(np.load(path, mmap_mode="r"))


def stored_name(release: Release) -> str:
    """Where the estimates lie, if there are any."""
    # Without an ending: it belongs to the release for good, and is not swept with what no row points to.
    return f"releases/{release.pk}/estimates"
