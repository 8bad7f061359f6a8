"""A real S3 server for a test, and a portal that keeps its files there."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from dpportal.platform.objects import s3
from tests.dpportal.bucket import BACKEND, Bucket, bucket
from tests.dpportal.platform.objects.failing import FailingServer, failing_server


@pytest.fixture
def store(tmp_path, settings) -> Iterator[Bucket]:
    """An empty bucket, in which this test's portal keeps its files; its scratch space is its own, too."""
    settings.SCRATCH_DIR = tmp_path / "scratch"
    settings.SCRATCH_DIR.mkdir()
    with bucket(tmp_path / "server") as made:
        settings.STORAGES = {**settings.STORAGES, "default": {"BACKEND": BACKEND, "OPTIONS": made.options}}
        yield made


@pytest.fixture
def failing(tmp_path, settings, monkeypatch) -> Iterator[FailingServer]:
    """A server that fails as it is told to, in which this test's portal keeps its files; it is asked once."""
    settings.SCRATCH_DIR = tmp_path / "scratch"
    settings.SCRATCH_DIR.mkdir()
    for name, value in {"CONNECT_SECONDS": 2, "READ_SECONDS": 1.5, "TRIES": 1}.items():
        monkeypatch.setattr(s3, name, value)
    with failing_server() as made:
        settings.STORAGES = {**settings.STORAGES, "default": {"BACKEND": BACKEND, "OPTIONS": made.options}}
        yield made
