"""Real workers are killed, stopped and told twice: one measurement, one charge, the same bytes each time."""

import os
import signal
from uuid import UUID

import pytest

from tests.dpportal.crashes import points
from tests.dpportal.crashes.stage import PATIENCE_SECONDS, Seen, Stage, wait_until
from tests.dpportal.world import kill

# One case of each test a day, on one kind of portal or the other; a night runs all.
pytestmark = [pytest.mark.worker, pytest.mark.sampled]

# ε = 0.1 in millionths.
AMOUNT = 100_000
DOWNLOADS = 20


@pytest.mark.parametrize("point", points.KILLED_AT)
def test_a_worker_killed_at_any_point_costs_nothing_and_loses_nothing(stage: Stage, point: str):
    expected = points.KILLED_AT[point]
    spent, _reserved = stage.budget()
    release = UUID(stage.ask("confirm"))
    victim = stage.saboteur(point, release)
    assert victim.wait(PATIENCE_SECONDS) == -signal.SIGKILL
    left = stage.see(release)
    assert (left.job["state"], left.charge["state"]) == (expected.job, expected.charge)
    assert bool(left.release["measurement"]) == expected.measured

    if point == points.PUBLISHED:
        redeliver(stage, release)
    else:
        successor = stage.worker()
        finish(stage, release)
        kill(successor)

    done = stage.see(release)
    assert done.job["attempts"] == expected.attempts
    assert stage.budget() == (spent + AMOUNT, 0)
    check_result(stage, done)
    if expected.measured:
        same = ("measurement", "measurement_sha256", "true_counts", "measured_at")
        assert [done.release[name] for name in same] == [left.release[name] for name in same]
    if left.artifacts:
        assert done.artifacts == left.artifacts
    # From the moment that a measurement is remembered, there is never another one.
    assert len(measurements(stage, release)) == 1


@pytest.mark.parametrize("point", [points.ENTITLED, points.COUNTED])
def test_a_worker_that_wakes_up_after_its_lease_changes_nothing(stage: Stage, point: str):
    spent, _reserved = stage.budget()
    release = UUID(stage.ask("confirm"))
    sleeper = stage.saboteur(point, release, signal.SIGSTOP)
    stage.wait_until_stopped(sleeper, release)
    other = stage.worker()
    finish(stage, release)
    done, files = stage.see(release), stage.files()

    os.killpg(sleeper.pid, signal.SIGCONT)
    wait_until(lambda: stage.times_left(release) >= 1, "the woken worker gives up")
    kill(sleeper)
    kill(other)

    assert stage.see(release) == done
    assert stage.budget() == (spent + AMOUNT, 0)
    now = stage.files()
    assert {name: now.get(name) for name in files} == files
    if point == points.ENTITLED:
        assert now.keys() == files.keys()


def test_a_job_delivered_three_times_is_done_once(stage: Stage):
    spent, _reserved = stage.budget()
    release = UUID(stage.ask("confirm"))
    stage.ask("deliver", str(release))
    stage.ask("deliver", str(release))
    worker = stage.tracing_worker(processes=2)
    wait_until(lambda: stage.times_left(release) >= 3, "all three deliveries are dealt with")
    finish(stage, release)
    kill(worker)
    done = stage.see(release)
    assert (done.job["attempts"], done.job["fence"]) == (1, 1)
    assert stage.budget() == (spent + AMOUNT, 0)
    check_result(stage, done)


def redeliver(stage: Stage, release: UUID) -> None:
    """Deliver the message that the killed worker never acknowledged, as a broker may, to another worker."""
    stage.ask("deliver", str(release))
    successor = stage.tracing_worker(processes=1)
    wait_until(lambda: stage.times_left(release) >= 1, "the message is dealt with")
    kill(successor)


def finish(stage: Stage, release: UUID) -> None:
    wait_until(lambda: stage.see(release).job["state"] == "done", "another worker finishes the job")


def check_result(stage: Stage, done: Seen) -> None:
    """The release is ready and charged; its files are those that its rows name, and come out again the same."""
    assert (done.release["state"], done.charge["state"]) == ("ready", "spent")
    release = str(UUID(str(done.release["id"])))
    digests = stage.ask("digests", release)
    assert stage.ask("digest", done.release["measurement"]) == digests.pop("measurement")
    assert len(done.artifacts) == DOWNLOADS
    stored = stage.files()
    assert {name: stored[file] for name, file in done.artifacts.items()} == digests
    assert stage.ask("rebuild", release) == digests


def measurements(stage: Stage, release: UUID) -> dict[str, str]:
    return {name: digest for name, digest in stage.files().items() if f"{release}/measurement/" in name}
