"""Workers are killed at every other statement of an update: each stream is before or after a period, never between."""

from __future__ import annotations

import json
import math
import time
from itertools import accumulate
from typing import Any

import pytest

from tests.dpportal.crashes.stage import CELERY_OPTIONS, PATIENCE_SECONDS, Stage, wait_until
from tests.dpportal.world import World, kill

# One case of each test a day, on one kind of portal or the other; a night runs all.
pytestmark = [pytest.mark.worker, pytest.mark.sampled]

COUNTS = [5, 3, 4, 0, 7, 1, 2, 9, 6]
TRUE = list(accumulate(COUNTS))
# So many workers die, spread over a job's statements from the second on; the last two are left out. Deaths come in turn
# before and after one: the latter also between the last change and the commit.
DEATHS = 31
# All noise drawn at the opening, or each node's when its turn comes.
MECHANISMS = [("p-identity", "binary-tree")[i // 2 % 2] for i in range(DEATHS)]
BATCH = 2


class StreamClerk:
    """Opens streams and looks at what is stored of them."""

    def __init__(self, world: World) -> None:
        self.process = world.start("-m", "tests.dpportal.crashes.stream_clerk", pipes=True)

    def ask(self, *question: Any) -> Any:
        assert self.process.stdin is not None and self.process.stdout is not None
        self.process.stdin.write(json.dumps(question).encode() + b"\n")
        self.process.stdin.flush()
        return json.loads(self.process.stdout.readline())


def test_a_worker_killed_anywhere_leaves_a_period_before_or_after(stage: Stage) -> None:
    clerk = StreamClerk(stage.world)
    statements = min(clerk.ask("length", mechanism, COUNTS, BATCH) for mechanism in CHECKS)
    jobs: list[str] = clerk.ask("prepare", MECHANISMS, COUNTS)
    opened = {job: clerk.ask("see", job) for job in jobs}
    strike_all(stage, dict(zip(jobs, places(statements), strict=True)))
    left = {job: clerk.ask("see", job) for job in jobs}
    for seen in left.values():
        check_whole(seen)
        # One change for the first period, one for the file's first two, and one for each two more and for its last one.
        done = len(seen["published"])
        assert seen["version"] == 1 + (math.ceil(done / BATCH) if done > 1 else 0)
    # Some died before their first batch, and some after each of the others; after the last one there may be some.
    assert {len(seen["published"]) for seen in left.values()} >= {1, 2, 4, 6, 8}

    clerk.ask("let_leases_end")
    successor = stage.worker(processes=2)
    wait_until(lambda: all(clerk.ask("see", job)["job"] == "done" for job in jobs), "all jobs are ended")
    kill(successor)
    for job, mechanism in zip(jobs, MECHANISMS, strict=True):
        done = clerk.ask("see", job)
        check_whole(done)
        assert len(done["published"]) == len(COUNTS)
        assert done["published"][: len(left[job]["published"])] == left[job]["published"]
        CHECKS[mechanism](opened[job], left[job], done)
    kill(clerk.process)


def places(statements: int) -> list[tuple[str, int]]:
    """Where the workers die, each before or after a statement."""
    numbers = [2 + place * (statements - 4) // (DEATHS - 1) for place in range(DEATHS)]
    return [(("before", "after")[place % 2], number) for place, number in enumerate(numbers)]


def strike_all(stage: Stage, places: dict[str, tuple[str, int]]) -> None:
    """Run every job in workers whose processes die, each at the job's own place; their leases do not end yet."""
    folder = stage.world.folder / f"sabotage-{next(iter(places))}"
    folder.mkdir()
    (folder / "places.json").write_text(json.dumps(places))
    # Messages of dead processes count as in work for 10 seconds; the others shall not wait for that.
    options = [*CELERY_OPTIONS, "--concurrency", "2", "--prefetch-multiplier", "50"]
    extra = {"SABOTAGE_FOLDER": str(folder), "DPPORTAL_JOB_LEASE": "600"}
    command = ("-m", "celery", "--quiet", "-A", "tests.dpportal.crashes.stream_saboteur", "worker", *options)

    def struck() -> int:
        return sum((folder / f"struck-{job}").exists() for job in places)

    until = time.monotonic() + PATIENCE_SECONDS
    while struck() < len(places):
        assert time.monotonic() < until, "every job is struck"
        saboteur = stage.world.start(*command, extra=extra)
        # Processes of one pool share a lock, which one that dies may hold: then all wait until they are started anew.
        before, quiet = struck(), time.monotonic()
        while time.monotonic() - quiet < 15 and struck() < len(places):
            time.sleep(0.1)
            if struck() > before:
                before, quiet = struck(), time.monotonic()
        kill(saboteur)


def check_whole(seen: dict[str, Any]) -> None:
    """Published periods, true sums and secret state are of one moment."""
    count = len(seen["published"])
    assert [period[0] for period in seen["published"]] == list(range(1, count + 1))
    assert seen["sums"] == TRUE[:count]
    assert seen["state"]["period"] == count
    assert seen["state"]["sums"] == [TRUE[count - 1]]


def check_drawn_in_advance(opened: dict[str, Any], _left: dict[str, Any], done: dict[str, Any]) -> None:
    """All noise was drawn at the opening, so the whole series was fixed then."""
    noise = [period[1] - true for period, true in zip(done["published"], TRUE, strict=True)]
    assert noise[1:] == [row[0] for row in opened["state"]["noise"]["ahead"]][: len(COUNTS) - 1]


def check_nodes(opened: dict[str, Any], left: dict[str, Any], done: dict[str, Any]) -> None:
    """A node's noise that a state remembers is part of every later count that the node belongs to."""
    noise = [period[1] - true for period, true in zip(done["published"], TRUE, strict=True)]
    for seen in (opened, left, done):
        for block, kept in zip(
            blocks_of(seen["state"]["period"]), seen["state"]["noise"]["blocks"], strict=True
        ):
            before = block - (block & -block)
            assert kept[0] == noise[block - 1] - (noise[before - 1] if before else 0)


def blocks_of(period: int) -> list[int]:
    """Where the blocks of a running count end: the partial sums of the period's binary digits."""
    digits = [1 << bit for bit in reversed(range(period.bit_length())) if period >> bit & 1]
    return list(accumulate(digits))


CHECKS = {"p-identity": check_drawn_in_advance, "binary-tree": check_nodes}
