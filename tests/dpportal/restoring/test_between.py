"""Power fails between the memory's write and the database's commit: the same answer comes out, and no other."""

from __future__ import annotations

import pytest

from tests.dpportal.restoring.conftest import Desk

pytestmark = pytest.mark.worker


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


def files(desk: Desk, release: str):
    return sorted((desk.world.folder / "data" / "files" / "releases" / release / "measurement").iterdir())


def measurements(desk: Desk, release: str) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in files(desk, release)}
