"""Private files: modes, names by content, replacement in one step, and what the hourly sweep deletes."""

import hashlib
import os
import stat
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from django.conf import settings
from django.core.exceptions import ImproperlyConfigured
from django.core.files.base import ContentFile
from django.core.files.storage import default_storage

from dpportal.operations import sweeping
from dpportal.platform import data_folder, storage
from dpportal.platform.records_guard import reading
from dpportal.releases import results

DAY = 24 * 3600.0


@pytest.fixture(autouse=True)
def own_files(tmp_path, settings):
    """Files and scratch of this test only."""
    settings.SCRATCH_DIR = tmp_path / "scratch"
    settings.SCRATCH_DIR.mkdir()
    settings.STORAGES = {
        **settings.STORAGES,
        "default": {
            "BACKEND": "dpportal.platform.storage.PrivateStorage",
            "OPTIONS": {"location": tmp_path / "files"},
        },
    }


@pytest.fixture
def remote(settings):
    """A storage without local paths, as an object store is."""
    settings.STORAGES = {
        **settings.STORAGES,
        "default": {"BACKEND": "tests.dpportal.remote_storage.RemoteStorage"},
    }


def local_file(tmp_path: Path, content: bytes, name: str = "made.bin") -> Path:
    path = tmp_path / name
    path.write_bytes(content)
    return path


def mode(name: str) -> int:
    return stat.S_IMODE(Path(default_storage.path(name)).stat().st_mode)


def content(name: str) -> bytes:
    with reading(), storage.local_path(name) as path:
        return path.read_bytes()


def stored(name: str, age_seconds: float) -> str:
    name = default_storage.save(name, ContentFile(b"x"))
    moment = time.time() - age_seconds
    os.utime(default_storage.path(name), (moment, moment))
    return name


def test_a_stored_file_is_its_owners_only(tmp_path):
    name = storage.keep(local_file(tmp_path, b"x"), "records/a/made.bin")
    assert mode(name) == 0o600
    assert mode("records/a") == 0o700


def test_an_uploaded_file_is_its_owners_only():
    assert mode(default_storage.save("uploads/a", ContentFile(b"x"))) == 0o600


def test_a_private_file_has_no_address():
    with pytest.raises(ValueError, match="no URL"):
        default_storage.url("uploads/a")


def test_a_file_is_named_by_its_content(tmp_path):
    name, digest = storage.keep_by_digest(local_file(tmp_path, b"abc", "counts.npy"), "records/a")
    assert digest == hashlib.sha256(b"abc").hexdigest()
    assert (name, content(name)) == (f"records/a/{digest}.npy", b"abc")


def test_a_name_tells_nothing_of_a_file(tmp_path):
    names = {
        storage.keep_under_random_name(local_file(tmp_path, b"abc", "counts.npy"), "records/a")
        for _ in range(2)
    }
    digest = hashlib.sha256(b"abc").hexdigest()
    assert len(names) == 2 and not any(digest in name for name in names)
    assert {content(name) for name in names} == {b"abc"}


def test_a_file_of_the_same_name_is_replaced_and_nothing_is_left_beside_it(tmp_path):
    storage.keep(local_file(tmp_path, b"old"), "releases/a/page.json")
    storage.keep(local_file(tmp_path, b"new"), "releases/a/page.json")
    assert content("releases/a/page.json") == b"new"
    assert default_storage.listdir("releases/a") == ([], ["page.json"])


def test_files_that_are_kept_together_wait_for_their_folder_once(tmp_path, monkeypatch):
    files = {f"releases/a/{n}": local_file(tmp_path, b"%d" % n, str(n)) for n in range(10)}
    Path(default_storage.path("releases")).mkdir(parents=True)
    waited: list[Path] = []
    monkeypatch.setattr(os, "fsync", lambda number: waited.append(Path(f"/proc/self/fd/{number}").readlink()))
    storage.keep_all(files)
    folder = Path(default_storage.path("releases/a"))
    assert [waited.count(folder), waited.count(folder.parent), len(waited)] == [1, 1, 12]
    assert waited[-1] == folder
    assert [content(name) for name in files] == [b"%d" % n for n in range(10)]


def test_a_remote_storage_keeps_the_same_name_too(tmp_path, remote):
    storage.keep(local_file(tmp_path, b"old"), "releases/a/page.json")
    assert storage.keep(local_file(tmp_path, b"new"), "releases/a/page.json") == "releases/a/page.json"
    assert content("releases/a/page.json") == b"new"


def test_a_local_copy_of_a_remote_file_is_gone_afterwards(tmp_path, remote):
    storage.keep(local_file(tmp_path, b"x"), "records/a/table.parquet")
    with reading(), storage.local_path("records/a/table.parquet") as path:
        assert path.read_bytes() == b"x"
    assert not path.exists()


@pytest.mark.django_db
@pytest.mark.parametrize(
    "name",
    [
        "uploads/orphan",
        "records/a/orphan.parquet",
        "records/a/orphan.npy",
        "records/a/orphan.npy.0a1b.part",
        "records/a/.spill-x/duckdb_temp_1_0_storage_DEFAULT-0.tmp",
        "releases/a/measurement/orphan.npy",
        "releases/a/bundle/synthetic.csv.0a1b.part",
    ],
)
def test_an_old_file_that_no_row_names_is_swept(name):
    stored(name, DAY)
    sweeping.sweep_files()
    assert not default_storage.exists(name)


@pytest.mark.django_db
def test_a_file_that_may_still_be_in_work_is_not_swept():
    name = stored("records/a/young.npy", 3600)
    sweeping.sweep_files()
    assert default_storage.exists(name)


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["table", "true_counts", "measurement", "bundle", "page", "comparison"])
def test_what_a_release_needs_is_never_swept(ready, kind):
    names = {
        "table": ready.dataset.table,
        "true_counts": ready.true_counts,
        "measurement": ready.measurement,
        "bundle": ready.artifacts.first().stored,
        "page": results.page_name(ready),
        "comparison": f"records/{ready.dataset_id}/comparison-{ready.pk}.json",
    }
    os.utime(default_storage.path(names[kind]), (0, 0))
    sweeping.sweep_files()
    assert default_storage.exists(names[kind])


@pytest.mark.django_db
def test_old_files_are_swept_from_scratch_and_young_ones_are_not():
    for name, age in [("old", DAY), ("young", 60)]:
        path = settings.SCRATCH_DIR / name
        path.touch()
        os.utime(path, (time.time() - age, time.time() - age))
    sweeping.sweep_files()
    assert [path.name for path in settings.SCRATCH_DIR.iterdir()] == ["young"]


LEAVES_COUNTS = """
import django, os, signal
django.setup()
from dpportal.platform import storage
with storage.scratch_folder() as folder:
    (folder / "counts.npy").write_text("true counts")
    os.kill(os.getpid(), signal.SIGKILL)
"""


@pytest.mark.slow
def test_what_a_killed_process_left_goes_and_what_is_in_use_stays():
    environment = {
        **os.environ,
        "DPPORTAL_DATA_DIR": str(settings.SCRATCH_DIR.parent),
        "DJANGO_SETTINGS_MODULE": "dpportal.settings",
        "PYTHONPATH": str(settings.BASE_DIR),
    }
    subprocess.run([sys.executable, "-c", LEAVES_COUNTS], env=environment, check=False)
    [left] = settings.SCRATCH_DIR.iterdir()
    assert (left / "counts.npy").exists()
    with storage.scratch_folder() as mine:
        library = settings.SCRATCH_DIR / "of-a-library"
        library.mkdir()
        storage.clear_scratch()
        assert sorted(settings.SCRATCH_DIR.iterdir()) == [library, mine]
    assert list(settings.SCRATCH_DIR.iterdir()) == [library]


def test_making_and_clearing_folders_do_not_disturb_each_other():
    """Whoever gets a folder keeps it, however often another process clears."""

    def work(_: int) -> bool:
        with storage.scratch_folder() as folder:
            (folder / "file").touch()
            storage.clear_scratch()
            return (folder / "file").exists()

    with ThreadPoolExecutor(8) as threads:
        assert all(threads.map(work, range(400)))


@pytest.mark.django_db
def test_messages_that_were_half_taken_are_swept_when_they_are_old(settings, tmp_path):
    settings.BROKER_DIR = broker = tmp_path
    for name, age in [(".1.celery.msg.taken", DAY), (".2.celery.msg.taken", 60), ("3.celery.msg", DAY)]:
        (broker / name).touch()
        os.utime(broker / name, (time.time() - age, time.time() - age))
    sweeping.sweep_files()
    assert sorted(path.name for path in broker.iterdir() if path.is_file()) == [
        ".2.celery.msg.taken",
        "3.celery.msg",
    ]


def test_a_file_that_vanishes_while_sweeping_does_no_harm(monkeypatch):
    stored("uploads/gone", DAY)

    class Vanishing(storage.PrivateStorage):
        def get_modified_time(self, name):
            self.delete(name)
            return super().get_modified_time(name)

    monkeypatch.setattr(storage, "default_storage", Vanishing(default_storage.location))
    assert not list(storage.orphans("uploads", set(), lambda written: True))


def test_the_data_folder_is_its_owners_only(tmp_path):
    folder = data_folder.prepare(tmp_path / "new" / "data")
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert stat.S_IMODE((folder / "broker").stat().st_mode) == 0o700


def test_a_data_folder_that_cannot_be_made_is_a_sentence_with_a_remedy(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(ImproperlyConfigured, match=r"cannot be made \(Not a directory\).*--data-dir"):
        data_folder.prepare(tmp_path / "file" / "data")


def test_a_folder_that_others_may_enter_is_closed(tmp_path):
    folder = tmp_path / "data"
    folder.mkdir(mode=0o755)
    folder.chmod(0o755)
    data_folder.prepare(folder)
    (folder / "portal.sqlite3").write_text("")
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert stat.S_IMODE((folder / "portal.sqlite3").stat().st_mode) == 0o600
