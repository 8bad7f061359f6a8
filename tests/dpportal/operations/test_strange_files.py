"""What lies among the portal's files and is not its own is named, and stays."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest
from django.core.files.base import ContentFile
from django.core.files.storage import FileSystemStorage, default_storage

from dpportal.operations import strange_files, sweeping, verification
from dpportal.platform import journal
from tests.dpportal.streams.building import open_stream

STORED = {"x.txt", "newfolder/a.csv"}
REMEMBERED = {"foo", "history/1", "streams/{stream}/9", "streams/{stream}/A", "places/x"}
IN_KEYS = {"foo", "stream_key.bak", ".secret_key.csv", ".stream_key.old.x"}
IN_SCRATCH = {"copy.csv", "work-ahead"}
LATER, EARLIER = time.time() + 4 * 3600, time.time() - 4 * 3600
OF_A_SERVER = {".nfs000123", "lost+found/x", "@eaDir/x"}


@pytest.fixture
def folders(settings, tmp_path, memory_of_its_own, dataset):
    """A portal with a running count, whose folders are its own alone; returns files, memory and keys."""
    settings.DATA_DIR = tmp_path
    own = {
        "BACKEND": f"{FileSystemStorage.__module__}.FileSystemStorage",
        "OPTIONS": {"location": tmp_path / "files"},
    }
    settings.STORAGES = {**settings.STORAGES, "default": own}
    default_storage.save("records/a/b.csv", ContentFile(b"swept, not strange"))
    for name in (
        "stream_key",
        "stream_key.old",
        "master_key.used",
        f".stream_key.{'0a' * 8}",
        ".master_key.used.71",
    ):
        put(tmp_path / "keys" / name)
    settings.SCRATCH_DIR = tmp_path / "scratch"
    for name in ("work-abc/table.parquet", "tmpabc"):
        put(tmp_path / "scratch" / name)
    return tmp_path / "files", memory_of_its_own, tmp_path / "keys"


def put(path: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(b"strange")


@pytest.mark.slow
def test_each_strange_file_is_named_and_none_of_the_portals_own(folders, dataset):
    stream = open_stream(dataset)
    assert list(strange_files.strange_files()) == []
    files, memory, keys = folders
    remembered = {name.replace("{stream}", str(stream.pk)) for name in REMEMBERED}
    for folder, names in ((files, STORED | OF_A_SERVER), (memory, remembered), (keys, IN_KEYS)):
        for name in names:
            put(folder / name)
    named = STORED | {f"memory/{name}" for name in remembered} | {f"keys/{name}" for name in IN_KEYS}
    assert set(strange_files.strange_files()) == named
    assert any("keys/foo lies among the portal's files" in said for said in verification.unnamed_files())
    assert journal.mark()


def test_what_no_job_put_among_temporary_files_is_named_and_what_bears_a_time_to_come(folders):
    assert list(strange_files.in_scratch()) == []
    scratch = folders[0].parent / "scratch"
    for name in ("work-ahead", "copy.csv", "library-at-work"):
        put(scratch / name)
    os.utime(scratch / "work-ahead", (LATER, LATER))
    os.utime(scratch / "copy.csv", (EARLIER, EARLIER))
    assert set(strange_files.in_scratch()) == {f"scratch/{name}" for name in IN_SCRATCH}
    said = [*verification.unnamed_files()]
    assert "scratch/copy.csv lies among temporary files, and no job of the portal put it there so." in said


def test_a_stored_file_that_bears_a_time_to_come_is_named_and_stays(folders):
    """By its date it would never be three hours old."""
    name = default_storage.save("releases/x/copy.csv", ContentFile(b"left"))
    assert list(sweeping.dated_ahead()) == []
    os.utime(folders[0] / name, (LATER, LATER))
    assert list(sweeping.dated_ahead()) == [name]
    assert any(
        f"stored file {name}, and it bears a time to come" in said for said in verification.unnamed_files()
    )
    sweeping.sweep_files()
    assert default_storage.exists(name)
