"""A disk that turns read-only, as a kernel makes it after a fault: no job is lost, and whoever sends a file is told."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from django.test import Client
from django.urls import reverse

from dpportal.jobs import readiness
from dpportal.jobs.claims import JobState
from dpportal.platform import storage
from dpportal.releases import execution
from tests.dpportal import building

pytestmark = pytest.mark.django_db
SENTENCE = "file storage does not answer"


def mount(*options: str) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(["mount", *options], capture_output=True, check=False)


@pytest.fixture
def disk(tmp_path: Path, settings) -> Iterator[Path]:
    """A file system of its own for what is written on the way."""
    own = tmp_path / "scratch"
    own.mkdir()
    if mount("-t", "tmpfs", "-o", "size=16m", "none", str(own)).returncode:
        pytest.skip("to mount a file system takes root")
    settings.SCRATCH_DIR = settings.FILE_UPLOAD_TEMP_DIR = own
    yield own
    subprocess.run(["umount", str(own)], check=True)
    readiness._latest.clear()


def turn(disk: Path, how: str) -> None:
    assert mount("-o", f"remount,{how}", "none", str(disk)).returncode == 0


def test_a_job_that_is_at_work_then_is_put_off_and_done_afterwards(disk, requested) -> None:
    assert not readiness.obstacle()  # as the worker found a moment ago
    turn(disk, "ro")
    assert storage.obstacle()
    for _ in range(4):
        execution.RELEASES.run(requested.pk)
    job = requested.job
    job.refresh_from_db()
    assert (job.state, job.attempts) == (JobState.QUEUED, 0)
    turn(disk, "rw")
    building.run_when_due(execution.RELEASES, requested.pk)
    job.refresh_from_db()
    assert (job.state, job.attempts) == (JobState.DONE, 1)


def test_whoever_sends_a_file_is_told(disk, curator, client: Client) -> None:
    client.force_login(curator)
    turn(disk, "ro")
    with (disk.parent / "table.csv").open("w+b") as file:
        file.write(b"a,b\n1,2\n")
        file.seek(0)
        answer = client.post(
            reverse("datasets:upload"),
            {**building.FORM, "file": file, "arrived": "whole"},
            headers={"Accept": "application/json"},
        )
    assert answer.status_code == 200  # to the script of the page, which shows what is to be corrected
    assert SENTENCE in str(answer.json()["errors"]["file"])
