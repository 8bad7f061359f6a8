"""Workers whose machine is not as it should be: its clock is ahead, or its disk is full."""

from __future__ import annotations

import signal
import time
from pathlib import Path
from uuid import UUID

import pytest

from tests.dpportal.crashes import points
from tests.dpportal.crashes.stage import PATIENCE_SECONDS, Stage, wait_until
from tests.dpportal.crashes.test_releases import AMOUNT, finish
from tests.dpportal.world import LEASE_SECONDS, kill

# One case of each test a day, on one kind of portal or the other; a night runs all.
pytestmark = [pytest.mark.worker, pytest.mark.sampled]

DAY = 24 * 60 * 60


def test_a_worker_a_day_ahead_that_dies_holds_its_job_for_a_lease_only(stage: Stage):
    spent, _reserved = stage.budget()
    release = UUID(stage.ask("confirm"))
    victim = stage.saboteur(points.AFTER_CLAIM, release, ahead=DAY)
    assert victim.wait(PATIENCE_SECONDS) == -signal.SIGKILL
    assert stage.see(release).job["state"] == "running"
    successor = stage.worker()
    finish(stage, release)
    kill(successor)
    assert stage.see(release).job["attempts"] == 2
    assert stage.budget() == (spent + AMOUNT, 0)


def test_a_worker_without_space_begins_nothing_until_there_is_some(stage: Stage, tmp_path: Path):
    full = tmp_path / "full"
    full.touch()
    release = UUID(stage.ask("confirm"))
    worker = stage.worker_with_a_full_disk(full)
    wait_until(lambda: stage.times_left(release) >= 1, "the worker looks at the job")
    time.sleep(LEASE_SECONDS)
    job = stage.see(release).job
    assert (job["state"], job["attempts"]) == ("queued", 0)
    full.unlink()
    finish(stage, release)
    kill(worker)
    assert stage.see(release).job["attempts"] == 1
