"""Forty workers race for a budget that has room for a quarter of what they want."""

import json
from collections import Counter
from uuid import UUID

import pytest

from tests.dpportal.world import World

# Each starts racers as processes.
pytestmark = [pytest.mark.slow, pytest.mark.sampled]

PROCESSES, THREADS, ATTEMPTS = 2, 20, 5
WANTED = PROCESSES * THREADS * ATTEMPTS
# ε = 5 in steps of 0.1, counted in millionths.
ROOM, STEP, TOTAL = 50, 100_000, 5_000_000


def race(world: World) -> tuple[UUID, Counter[str]]:
    """Let all of them start together; returns the dataset and how often each outcome came."""
    dataset = world.run("-m", "tests.dpportal.budgets.racer", "prepare").strip()
    arguments = ("-m", "tests.dpportal.budgets.racer", dataset, str(THREADS), str(ATTEMPTS))
    racers = [world.start(*arguments, pipes=True) for _ in range(PROCESSES)]
    for racer in racers:
        assert racer.stdout is not None
        assert racer.stdout.readline() == b"ready\n"
    outcomes: Counter[str] = Counter()
    for racer in racers:
        assert racer.stdin is not None
        racer.stdin.write(b"go\n")
        racer.stdin.flush()
    for racer in racers:
        assert racer.stdout is not None
        outcomes.update(json.loads(racer.stdout.readline()))
    return UUID(dataset), outcomes


def test_a_race_grants_exactly_what_there_is_and_loses_nobody(world: World) -> None:
    dataset, outcomes = race(world)
    assert outcomes == {"granted": ROOM, "refused": WANTED - ROOM}
    [(total, spent, reserved)] = world.rows(
        "SELECT total, spent, reserved FROM budgets_budget WHERE dataset_id = %s", dataset
    )
    assert total == spent + reserved == TOTAL
    lines = "SELECT count(*), sum(amount) FROM budgets_ledgerentry WHERE dataset_id = %s AND state = %s"
    assert world.rows(lines, dataset, "spent") == [(spent // STEP, spent)]
    assert world.rows(lines, dataset, "reserved") == [(reserved // STEP, reserved or None)]
    # Lines that were written at once are one chain, with whatever else this portal wrote.
    [(links, last)] = world.rows("SELECT count(*), max(position) FROM history_link")
    assert links == last > ROOM
    assert "All agrees" in world.run("manage.py", "verify")


def test_what_is_bound_together_changes_one_after_the_other(world: World) -> None:
    """Or one could publish the number of rows while another one promises that it stays hidden."""
    assert world.run("-m", "tests.dpportal.budgets.racer", "bound").strip() == "['waits', 'waits']"
