"""A disk with space and no room for another file's name: nothing is begun on it, and all goes on once there is room."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from django.core.files.base import ContentFile
from django.core.files.storage import default_storage

from dpportal.operations import health
from dpportal.platform import storage

INODES = 400


@pytest.fixture
def disk(tmp_path: Path, settings) -> Iterator[Path]:
    """A file system of 64 megabytes and so many inodes, on which the portal keeps everything."""
    small = tmp_path / "small"
    small.mkdir()
    options = f"size=64m,nr_inodes={INODES}"
    made = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", options, "none", str(small)], capture_output=True, check=False
    )
    if made.returncode:
        pytest.skip("to mount a small file system takes root")
    own = {**settings.STORAGES["default"], "OPTIONS": {"location": small / "files"}}
    settings.STORAGES, settings.DATA_DIR = {**settings.STORAGES, "default": own}, small
    yield small
    subprocess.run(["umount", str(small)], check=True)


@pytest.mark.django_db
def test_health_says_so_before_the_last_file(disk: Path):
    """Nothing is begun, and the space is there: an administrator would look for the reason in vain."""
    assert "disk-full" not in health.measured().troubles
    for place in range(INODES - 4):
        (disk / f"file-{place}").touch()
    assert not storage.obstacle()
    assert "disk-full" in health.measured().troubles


def test_nothing_is_begun_where_no_file_can_be_named(disk: Path):
    storage.require_space()
    names = [disk / f"file-{place}" for place in range(INODES)]
    with pytest.raises(OSError, match="No space left"):
        for name in names:
            name.touch()
    assert os.statvfs(disk).f_bavail > 0
    with pytest.raises(storage.DiskFullError):
        storage.require_space()
    for name in names[:20]:
        name.unlink()
    storage.require_space()
    assert default_storage.save("uploads/there-again", ContentFile(b"1"))
