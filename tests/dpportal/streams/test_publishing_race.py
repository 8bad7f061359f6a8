"""Twelve writers race for each period of a stream: one wins, the others are told, and nothing is drawn twice."""

from __future__ import annotations

import json
from itertools import accumulate
from typing import Any

import pytest

from tests.dpportal.world import World, embedded, with_servers

# Each starts racers as processes.
pytestmark = pytest.mark.slow

RACER = ("-m", "tests.dpportal.streams.racer")
PROCESSES, THREADS, PERIODS = 2, 6, 8


def race(world: World, stream: str) -> list[dict[str, Any]]:
    """Let all of them start together; returns each process's outcomes."""
    starts = range(1, 1 + PROCESSES * THREADS, THREADS)
    racers = [
        world.start(*RACER, stream, str(first), str(THREADS), str(PERIODS), pipes=True) for first in starts
    ]
    for racer in racers:
        assert racer.stdout is not None
        assert racer.stdout.readline() == b"ready\n"
    for racer in racers:
        assert racer.stdin is not None
        racer.stdin.write(b"go\n")
        racer.stdin.flush()
    outcomes = []
    for racer in racers:
        assert racer.stdout is not None
        outcomes.append(json.loads(racer.stdout.readline()))
    return outcomes


def check(world: World) -> None:
    stream = world.run(*RACER, "prepare").strip()
    outcomes = race(world, stream)
    won = sorted(one for outcome in outcomes for one in outcome["published"])
    repeated = [one for outcome in outcomes for one in outcome["repeated"]]
    released = {index: number for index, _content, number in won}
    assert [index for index, _content, _released in won] == list(range(1, PERIODS + 1))
    assert [outcome["refused"] for outcome in outcomes] == [[]] * PROCESSES
    assert len(repeated) == PROCESSES * THREADS * PERIODS - PERIODS
    assert all(number == released[index] for index, _content, number in repeated)
    assert json.loads(world.run(*RACER, "see", stream)) == {
        "released": [released for _index, _content, released in won],
        "sums": list(accumulate(content for _index, content, _released in won)),
        "state": PERIODS,
        "version": PERIODS,
    }


def test_sqlite_publishes_each_period_once_and_tells_all_others(tmp_path) -> None:
    with embedded(tmp_path) as world:
        check(world)


@pytest.mark.postgres
@pytest.mark.redis
def test_postgresql_publishes_each_period_once_and_tells_all_others(
    tmp_path, postgres_url, redis_url
) -> None:
    with with_servers(tmp_path, postgres_url, redis_url) as world:
        check(world)
