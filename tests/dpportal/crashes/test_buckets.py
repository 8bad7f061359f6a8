"""Workers are killed, and the S3 server goes, while a portal keeps its files there: nothing is lost or spent twice."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from uuid import UUID

import pytest

from tests.dpportal.bucket import Bucket, bucket
from tests.dpportal.crashes import points, test_releases
from tests.dpportal.crashes.stage import Stage, wait_until
from tests.dpportal.crashes.test_conversions import readers_of, slow  # noqa: F401 a fixture
from tests.dpportal.crashes.test_releases import AMOUNT, check_result, finish
from tests.dpportal.world import embedded, kill

pytestmark = pytest.mark.worker


@pytest.fixture(scope="module")
def server(tmp_path_factory) -> Iterator[Bucket]:
    with bucket(tmp_path_factory.mktemp("bucket")) as made:
        yield made


@pytest.fixture(scope="module")
def stage(server, tmp_path_factory) -> Iterator[Stage]:
    with embedded(tmp_path_factory.mktemp("with-a-bucket"), server) as world:
        yield Stage(world)


def test_a_bundle_that_a_killed_worker_began_is_written_with_the_same_bytes(stage: Stage):
    test_releases.test_a_worker_killed_at_any_point_costs_nothing_and_loses_nothing(stage, points.BUNDLING)


def test_a_worker_killed_while_it_reads_an_upload(stage: Stage, slow: str, tmp_path):  # noqa: F811
    victim = stage.worker()
    dataset = UUID(stage.ask("upload", slow))
    wait_until(lambda: bool(readers_of(victim.pid)), "the file is being read")
    kill(victim)
    (tmp_path / "next.csv").write_bytes(b"colour,age\nred,1\n")
    successor = stage.worker()
    wait_until(lambda: bool(readers_of(successor.pid)), "another worker reads it from the beginning")
    stage.ask("cancel", str(dataset))
    following = UUID(stage.ask("upload", str(tmp_path / "next.csv")))
    wait_until(lambda: stage.conversion(following)[0] == "stored", "the next file is read")
    kill(successor)
    assert not list((stage.world.folder / "data" / "scratch").glob("work-*/*"))


def test_a_server_that_is_gone_for_a_while_delays_a_release(stage: Stage, server: Bucket):
    """A worker that had the job wakes up to a server that is gone; the job is tried again once it is back."""
    spent, _reserved = stage.budget()
    release = UUID(stage.ask("confirm"))
    sleeper = stage.saboteur(points.COUNTING, release, signal.SIGSTOP)
    stage.wait_until_stopped(sleeper, release)
    server.stop()
    os.killpg(sleeper.pid, signal.SIGCONT)
    wait_until(lambda: stage.times_left(release) >= 1, "the worker gives the job back")
    assert stage.budget() == (spent, AMOUNT)
    server.start()
    finish(stage, release)
    kill(sleeper)
    assert stage.budget() == (spent + AMOUNT, 0)
    check_result(stage, stage.see(release))
