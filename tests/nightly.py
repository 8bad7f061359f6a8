"""What only a night has time for: NIGHTLY=1 runs every case and a million runs of each audit, the gate a share of them.

Tests that need a server, a process or a simulation, or are marked `sampled`, take turns: the gate runs each of them
every tenth day, those of a browser or a cluster every twentieth. Cases of a sampled test take theirs one by one. Those
marked `every_day` run always: they see what any change may have forgotten. What is left is `nightly`.
"""

from __future__ import annotations

import datetime as dt
import os
from zlib import crc32

import pytest

from tests.quick_lane import is_light

NIGHTLY = bool(os.environ.get("NIGHTLY"))
# Chosen once by whichever process is first, so that all processes of a run collect the same.
DAY = os.environ.setdefault("DPPORTAL_TEST_DAY", dt.datetime.now(dt.UTC).date().isoformat())
TURNS = 10
# Of those that a browser, Spark or ClickHouse has to be started for.
RARE_TURNS = 20
RARE = {"browser", "spark", "clickhouse"}
# Those of a file share what takes long to start, or go on where the one before has stopped.
OF_PORTALS = {"browser", "worker"}
GO_ON = "tests/dpportal/restoring/"


def leave_to_the_night(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Mark the cases that the day does not choose, and deselect all that is nightly, unless it is asked for."""
    for item in items:
        if _takes_turns(item) and not is_due(*_turn_of(item)):
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
    marks = _marks(item)
    return "every_day" not in marks and ("sampled" in marks or not is_light(item))


def _turn_of(item: pytest.Item) -> tuple[str, int]:
    """With which others a case takes its turn, and on one of how many days."""
    marks = _marks(item)
    return _together(item.nodeid, marks), RARE_TURNS if marks & RARE else TURNS


def _together(nodeid: str, marks: set[str]) -> str:
    """Tests of a restored portal go on where the one before has stopped: those of a file for one kind of portal."""
    file, _, test = nodeid.partition("::")
    if nodeid.startswith(GO_ON):
        return f"{file} {test.partition('[')[2]}"
    return file if "sampled" not in marks and marks & OF_PORTALS else nodeid


def _marks(item: pytest.Item) -> set[str]:
    return {mark.name for mark in item.iter_markers()}
