"""Power fails, or a writer sleeps, between the memory's write and the database's commit: the same answer comes out."""

from __future__ import annotations

from hashlib import sha256
from pathlib import Path

import pytest

from tests.dpportal.restoring.conftest import Desk

# One case of each test a day, on one kind of portal or the other; a night runs all.
pytestmark = [pytest.mark.worker, pytest.mark.sampled]


@pytest.mark.parametrize("mechanism", ["p-identity", "binary-tree"])
def test_a_period_that_was_decided_is_published_as_it_was(desk: Desk, mechanism: str) -> None:
    stream = desk.ask("opened", desk.ask("dataset", mechanism), mechanism, "0.5")
    desk.ask("publish", stream, 1, 5)
    assert desk.ask("publish_and_die", stream, 2, 7) is None
    [[index, released]] = desk.ask("decided", stream)
    assert (index, len(desk.ask("series", stream))) == (2, 1)
    assert "Database and memory agree" in desk.manage("check_restored")
    assert desk.ask("publish", stream, 2, 7) == [released, False]
    assert desk.ask("publish", stream, 2, 7) == [released, False]
    assert desk.ask("publish", stream, 3, 7)[1]


def test_whatever_is_sent_after_it_is_answered_alike_and_nothing_else_is_published(desk: Desk) -> None:
    """Who sends a guess of what was decided learns nothing by the answer."""
    stream = desk.ask("opened", desk.ask("dataset", "other content"), "binary-tree", "0.5")
    assert desk.ask("publish_and_die", stream, 1, 7) is None
    decided = desk.ask("decided", stream)
    answers = [desk.ask("publish", stream, 1, guess) for guess in (8, 7)]
    assert answers == [[decided[0][1], False]] * 2
    assert desk.ask("series", stream) == decided
    assert desk.ask("publish", stream, 2, 1)[1]


def test_nothing_is_published_for_somebody_who_left_meanwhile(desk: Desk) -> None:
    stream = desk.ask("opened", desk.ask("dataset", "left"), "binary-tree", "0.5")
    assert desk.ask("publish_and_die", stream, 1, 7) is None
    desk.ask("appoint", "curator", "analyst")
    assert "not a curator" in desk.ask("publish", stream, 1, 7)
    assert desk.ask("series", stream) == []
    desk.ask("appoint", "curator", "curator")
    decided = desk.ask("decided", stream)
    assert desk.ask("publish", stream, 1, 7) == [decided[0][1], False]
    assert desk.ask("series", stream) == decided


def test_a_measurement_that_was_decided_is_released_as_it_was(desk: Desk) -> None:
    release = desk.ask("drafted", desk.ask("dataset", "measured"))
    assert desk.ask("confirmed", release) == ""
    assert desk.ask("measure_and_die", release) is None
    before = measurements(desk, release)
    assert len(before) == 1
    desk.ask("let_leases_end")
    assert "its charge is spent" in desk.ask("cancelled", release)
    assert desk.ask("executed", release)[:3] == ["ready", "done", "spent"]
    assert measurements(desk, release) == before


def test_a_measurement_that_was_decided_and_is_lost_is_not_drawn_again(desk: Desk) -> None:
    dataset = desk.ask("dataset", "lost")
    release = desk.ask("drafted", dataset)
    assert desk.ask("confirmed", release) == ""
    assert desk.ask("measure_and_die", release) is None
    for path in files(desk, release):
        path.unlink()
    desk.ask("let_leases_end")
    state, job, charge, _digest, failure = desk.ask("executed", release)
    assert (state, job, charge) == ("failed", "failed", "spent") and "Release it anew" in failure
    assert desk.ask("account", dataset) == ["5", "0.1", "0"]


# On SQLite whoever sleeps in a transaction keeps all others out of it.
SERVERS = pytest.mark.parametrize(
    "desk",
    [pytest.param("servers", marks=[pytest.mark.postgres, pytest.mark.redis])],
    indirect=True,
    ids=["PostgreSQL and Redis"],
)


@SERVERS
def test_a_period_of_a_writer_that_wakes_late_is_not_published_and_changes_no_memory(desk: Desk) -> None:
    stream = desk.ask("opened", desk.ask("dataset", "late"), "binary-tree", "0.5")
    sleeper = desk.ask("begin", "publish_late", stream, 1, 7)
    desk.end_open_transactions()
    published = desk.ask("publish", stream, 1, 7)
    desk.ask("publish", stream, 2, 7)
    series = desk.ask("series", stream)
    memory = contents(desk.memory)
    assert desk.ask("wake", sleeper) == [published[0], False]
    assert contents(desk.memory) == memory
    assert desk.ask("series", stream) == series
    assert desk.ask("publish", stream, 3, 7)[1]


@SERVERS
def test_of_two_writers_of_a_period_the_one_that_was_remembered_first_is_published(desk: Desk) -> None:
    stream = desk.ask("opened", desk.ask("dataset", "two writers"), "binary-tree", "0.5")
    first = desk.ask("begin", "publish_late", stream, 1, 7)
    desk.end_open_transactions()
    second = desk.ask("begin", "publish_late", stream, 1, 7)
    assert desk.ask("wake", first) is None  # its transaction is gone
    [[index, released]] = desk.ask("decided", stream)
    assert desk.ask("wake", second) == [released, False]  # decided by the first
    assert desk.ask("series", stream) == [[index, released]]


@SERVERS
def test_a_charge_of_a_writer_that_wakes_late_loses_no_other_one(desk: Desk) -> None:
    dataset = desk.ask("dataset", "late charges")
    release, other = desk.ask("drafted", dataset), desk.ask("drafted", dataset)
    for each in (release, other):
        assert desk.ask("confirmed", each) == ""
    sleeper = desk.ask("begin", "executed_late", release)
    desk.end_open_transactions()
    desk.ask("let_leases_end")
    done = desk.ask("executed", release)
    assert done[:3] == desk.ask("executed", other)[:3] == ["ready", "done", "spent"]
    memory, before = contents(desk.memory), measurements(desk, release)
    assert desk.ask("wake", sleeper) == done
    assert contents(desk.memory) == memory
    assert measurements(desk, release) == before
    assert desk.ask("account", dataset) == ["5", "0.2", "0"]
    assert desk.ask("confirmed", desk.ask("drafted", dataset)) == ""


@SERVERS
def test_a_charge_that_was_remembered_first_is_what_another_worker_publishes(desk: Desk) -> None:
    release = desk.ask("drafted", desk.ask("dataset", "first charge"))
    assert desk.ask("confirmed", release) == ""
    first = desk.ask("begin", "executed_late", release)
    desk.end_open_transactions()
    desk.ask("let_leases_end")
    second = desk.ask("begin", "executed_late", release)
    both = measurements(desk, release)
    desk.ask("wake", first)
    state, job, charge, digest, _failure = desk.ask("wake", second)
    assert (state, job, charge) == ("ready", "done", "spent")
    [remembered] = [name for name, content in both.items() if sha256(content).hexdigest() == digest]
    desk.ask("sweep_files")
    assert list(measurements(desk, release)) == [remembered] and len(both) == 2


def contents(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def files(desk: Desk, release: str):
    return sorted(
        (desk.world.folder / "data" / "files" / "releases" / release / "measurement").rglob("*.npy")
    )


def measurements(desk: Desk, release: str) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in files(desk, release)}
