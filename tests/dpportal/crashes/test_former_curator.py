"""Jobs that wait when their curator leaves the office are not done: nothing is measured, published or charged."""

from __future__ import annotations

from uuid import UUID

import pytest

from tests.dpportal.crashes.stage import Stage, wait_until
from tests.dpportal.world import kill

# One case of each test a day, on one kind of portal or the other; a night runs all.
pytestmark = [pytest.mark.worker, pytest.mark.sampled]


@pytest.fixture
def _left_the_office(stage: Stage):
    yield
    stage.ask("appoint", "curator")


@pytest.mark.usefixtures("_left_the_office")
def test_nothing_is_done_for_a_former_curator(stage: Stage):
    spent, _reserved = stage.budget()
    release = UUID(stage.ask("confirm"))
    to_open, to_publish = stage.ask("ask_for_streams")
    stage.ask("appoint", "analyst")
    worker = stage.worker()
    wait_until(lambda: stage.see(release).job["state"] == "failed", "the release's job ends")
    for job in (to_open, to_publish):
        wait_until(lambda: stage.ask("told", job)[0] == "failed", "the stream's job ends")  # noqa: B023
    kill(worker)

    left = stage.see(release)
    assert (left.release["state"], left.charge["state"], left.release["measurement"]) == (
        "failed",
        "void",
        "",
    )
    opening, publishing = stage.ask("told", to_open), stage.ask("told", to_publish)
    assert opening[1:4] == ["failed", "void", 0]
    # The stream was opened before; it stays open, for whoever gets the office back.
    assert publishing[1:4] == ["open", "spent", 0]
    for failure in (stage.ask("why_failed", str(release)), opening[4], publishing[4]):
        assert "not a curator of this portal any more" in failure
    assert stage.budget() == (spent + 500_000, 0)
