"""Records whose erasure is killed on its way: either nothing is gone, or all goes by itself, and a receipt says so."""

from __future__ import annotations

import signal
from typing import Any
from uuid import UUID

import pytest

from tests.dpportal.crashes.eraser import ERASED, UNTOUCHED
from tests.dpportal.crashes.stage import PATIENCE_SECONDS, Stage, wait_until

# One case of each test a day, on one kind of portal or the other; a night runs all.
pytestmark = [pytest.mark.worker, pytest.mark.sampled]


def killed(stage: Stage, point: str) -> tuple[UUID, dict[str, Any]]:
    """A dataset whose erasure was killed there, and what was there of it before."""
    dataset = UUID(stage.ask("prepare_erasure"))
    before = stage.ask("see_erasure", str(dataset))
    assert before["files"] and before["has_key"] and before["true_sums"] and before["decided_bytes"]
    assert stage.eraser(dataset, point).wait(PATIENCE_SECONDS) == -signal.SIGKILL
    return dataset, before


def require_erased(stage: Stage, dataset: UUID, before: dict[str, Any]) -> None:
    """Nothing of the records is left, all that was published is, and database and memory say so once."""
    assert stage.ask("see_erasure", str(dataset)) == {
        "state": "erased",
        "named": ["", ""],
        "has_key": False,
        "files": [],
        "stream": "closed",
        "true_sums": False,
        "decided_bytes": 0,
        "published": before["published"],
        "budget": before["budget"],
        "receipt": True,
        "remembered": True,
        "recorded": 1,
        "contradictions": [],
    }


@pytest.mark.parametrize("point", UNTOUCHED)
def test_before_it_commits_all_is_as_it_was_and_it_can_be_asked_for_again(stage: Stage, point: str):
    dataset, before = killed(stage, point)
    assert stage.ask("see_erasure", str(dataset)) == before
    assert stage.ask("erase", str(dataset)) == ""
    require_erased(stage, dataset, before)


@pytest.mark.parametrize("point", ERASED)
def test_once_it_has_committed_the_sweep_does_the_rest(stage: Stage, point: str):
    dataset, before = killed(stage, point)
    seen = stage.ask("see_erasure", str(dataset))
    assert (seen["state"], seen["named"], seen["has_key"]) == ("erased", ["", ""], False)
    assert (seen["stream"], seen["true_sums"], seen["receipt"], seen["recorded"]) == (
        "closed",
        False,
        True,
        1,
    )
    stage.ask("sweep_files")
    wait_until(lambda: stage.ask("see_erasure", str(dataset))["remembered"], "it is remembered")
    wait_until(lambda: not stage.ask("see_erasure", str(dataset))["decided_bytes"], "the memory forgets")
    require_erased(stage, dataset, before)
