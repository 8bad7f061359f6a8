"""A real S3 server for a test, and a portal that keeps its files there."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.dpportal.bucket import BACKEND, Bucket, bucket


@pytest.fixture
def store(tmp_path, settings) -> Iterator[Bucket]:
    """An empty bucket, in which this test's portal keeps its files; its scratch space is its own, too."""
    settings.SCRATCH_DIR = tmp_path / "scratch"
    settings.SCRATCH_DIR.mkdir()
    with bucket(tmp_path / "server") as made:
        settings.STORAGES = {**settings.STORAGES, "default": {"BACKEND": BACKEND, "OPTIONS": made.options}}
        yield made
