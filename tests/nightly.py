"""What only a night has time for: NIGHTLY=1 runs every case and a million runs of each audit, the gate a share of them.

Of a test that is marked `sampled`, the gate runs one case in four, which the day's date chooses, and at least one. Slow
tests of the folders in TAKE_TURNS, those of Spark and ClickHouse among them, are run by the gate every third day. The
others are marked `nightly`.
"""

from __future__ import annotations

import datetime as dt
import os
from itertools import groupby
from zlib import crc32

import pytest

NIGHTLY = bool(os.environ.get("NIGHTLY"))
# Chosen once by whichever process is first, so that all processes of a run collect the same.
DAY = os.environ.setdefault("DPPORTAL_TEST_DAY", dt.datetime.now(dt.UTC).date().isoformat())
SHARE = 4
# Slow tests of these folders, and files of browser tests, whose tests go on where the one before has stopped.
TAKE_TURNS = tuple(
    f"tests/{folder}/"
    for folder in (
        *(
            "mechanisms",
            "browser",
            "dpportal/tables",
            "dpportal/streams",
            "dpportal/releases",
            "dpportal/datasets",
        ),
        *("dpportal/budgets", "dpportal/platform", "dpportal/jobs", "dpportal/catalogue", "dpportal/serving"),
    )
)
TURNS = 3
GO_ON = "tests/dpportal/restoring/"


def leave_to_the_night(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Mark the cases that the day does not choose, and deselect all that is nightly, unless it is asked for."""
    sampled = {item for item in items if item.get_closest_marker("sampled")}
    # Cases that share a portal stand together, those of one test need not.
    for _test, cases in groupby(sorted(sampled, key=_test_of), key=_test_of):
        for case in others(list(cases)):
            case.add_marker("nightly")
    for item in items:
        takes_turns = any(
            item.get_closest_marker(name) for name in ("slow", "browser", "spark", "clickhouse")
        )
        if takes_turns and item not in sampled and not is_due(item.nodeid):
            item.add_marker("nightly")
    if NIGHTLY or "nightly" in (config.getoption("-m") or ""):
        return
    late = [item for item in items if item.get_closest_marker("nightly")]
    config.hook.pytest_deselected(items=late)
    gone = set(late)
    items[:] = [item for item in items if item not in gone]


def is_due(nodeid: str, day: str = DAY) -> bool:
    """Whether the gate runs a test on a day; one that takes turns is run on one of any three days in a row."""
    together = nodeid.partition("::")[0] if nodeid.startswith("tests/browser/") else nodeid
    place = (crc32(together.encode()) + dt.date.fromisoformat(day).toordinal()) % TURNS
    return not (place and nodeid.startswith(TAKE_TURNS))


def _chosen_by(nodeid: str) -> str:
    """Tests of a restored portal go on where the one before has stopped: those of a file are chosen together."""
    file, _, test = nodeid.partition("::")
    return f"{file} {test.partition('[')[2]}" if nodeid.startswith(GO_ON) else nodeid


def _test_of(case: pytest.Item) -> str:
    return case.nodeid.partition("[")[0]


def others(cases: list[pytest.Item], day: str = DAY) -> list[pytest.Item]:
    """All cases of a test but the quarter that the day chooses."""
    ranked = sorted(cases, key=lambda case: crc32(f"{day} {_chosen_by(case.nodeid)}".encode()))
    return ranked[-(-len(ranked) // SHARE) :]
