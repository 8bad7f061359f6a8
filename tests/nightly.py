"""What only a night has time for: NIGHTLY=1 runs every case and a million runs of each audit, the gate a share of them.

Of a test that is marked `sampled`, the gate runs one case in eight, which the day's date chooses, and at least one. All
others that need a server, a process or a simulation take turns: the gate runs each of them every sixth day, those of a
browser or a cluster every twelfth, and those marked `every_day` always, which see what any change may have forgotten.
What is left is `nightly`.
"""

from __future__ import annotations

import datetime as dt
import os
from itertools import groupby
from zlib import crc32

import pytest

from tests.quick_lane import is_light, test_of

NIGHTLY = bool(os.environ.get("NIGHTLY"))
# Chosen once by whichever process is first, so that all processes of a run collect the same.
DAY = os.environ.setdefault("DPPORTAL_TEST_DAY", dt.datetime.now(dt.UTC).date().isoformat())
SHARE = 8
TURNS = 6
# Of those that a browser, Spark or ClickHouse has to be started for.
RARE_TURNS = 12
RARE = {"browser", "spark", "clickhouse"}
# Those of a file share what takes long to start, or go on where the one before has stopped.
OF_PORTALS = {"browser", "worker"}
GO_ON = "tests/dpportal/restoring/"


def leave_to_the_night(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Mark the cases that the day does not choose, and deselect all that is nightly, unless it is asked for."""
    sampled = {item for item in items if item.get_closest_marker("sampled")}
    # Cases that share a portal stand together, those of one test need not.
    for _test, cases in groupby(sorted(sampled, key=test_of), key=test_of):
        for case in others(list(cases)):
            case.add_marker("nightly")
    for item in items:
        if item not in sampled and _takes_turns(item) and not is_due(*_turn_of(item)):
            item.add_marker("nightly")
    if NIGHTLY or "nightly" in (config.getoption("-m") or ""):
        return
    late = [item for item in items if item.get_closest_marker("nightly")]
    config.hook.pytest_deselected(items=late)
    gone = set(late)
    items[:] = [item for item in items if item not in gone]


def is_due(turn: str, turns: int, day: str = DAY) -> bool:
    """Whether the gate runs a test or a file that takes turns on a day: on one of any so many days in a row."""
    return (crc32(turn.encode()) + dt.date.fromisoformat(day).toordinal()) % turns == 0


def _takes_turns(item: pytest.Item) -> bool:
    return not is_light(item) and "every_day" not in _marks(item)


def _turn_of(item: pytest.Item) -> tuple[str, int]:
    """With which others a test takes its turn, and on one of how many days."""
    marks = _marks(item)
    together = item.nodeid.partition("::")[0] if marks & OF_PORTALS else item.nodeid
    return together, RARE_TURNS if marks & RARE else TURNS


def _marks(item: pytest.Item) -> set[str]:
    return {mark.name for mark in item.iter_markers()}


def _chosen_by(nodeid: str) -> str:
    """Tests of a restored portal go on where the one before has stopped: those of a file are chosen together."""
    file, _, test = nodeid.partition("::")
    return f"{file} {test.partition('[')[2]}" if nodeid.startswith(GO_ON) else nodeid


def others(cases: list[pytest.Item], day: str = DAY) -> list[pytest.Item]:
    """All cases of a test but the share that the day chooses."""
    ranked = sorted(cases, key=lambda case: crc32(f"{day} {_chosen_by(case.nodeid)}".encode()))
    return ranked[-(-len(ranked) // SHARE) :]
