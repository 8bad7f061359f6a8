"""A real worker is killed between what is remembered of a choice of values and the commit: there is no second draw."""

import signal
from decimal import Decimal
from uuid import UUID

import pytest

from tests.dpportal.crashes import points
from tests.dpportal.crashes.stage import Stage, wait_until
from tests.dpportal.world import kill

pytestmark = pytest.mark.worker


def test_a_worker_killed_as_it_commits_leaves_its_choice_to_the_next(stage: Stage):
    choice = UUID(stage.ask("choose_values"))
    victim = stage.saboteur(points.BEFORE_COMMIT, choice)
    assert victim.wait(200) == -signal.SIGKILL
    left = stage.ask("see_choice", str(choice))
    assert (left["kept"], left["charge"]) == (None, "reserved")
    assert [Decimal(delta) for delta in left["delta"]] == [0, Decimal("0.0000001")]
    assert left["remembered"] == ["blue", "green", "red"]
    successor = stage.worker()
    wait_until(lambda: stage.ask("see_choice", str(choice))["job"] == ["done", 2], "the choice is made")
    kill(successor)
    done = stage.ask("see_choice", str(choice))
    assert (done["kept"], done["remembered"], done["charge"]) == (
        left["remembered"],
        left["remembered"],
        "spent",
    )
    assert [Decimal(delta) for delta in done["delta"]] == [Decimal("0.0000001"), 0]
