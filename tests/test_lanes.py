"""The quick lane stays quick: no servers, processes or simulations; and no mechanism is left out of it."""

from __future__ import annotations

import datetime as dt
import json
import subprocess
import sys
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from mechanisms import registry
from tests import nightly, quick_lane

ROOT = Path(__file__).resolve().parents[1]
SERVERS = {"postgres_url", "redis_url", "cluster", "portal", "browser", "visit", "stage"}
# What starts the portal's processes.
STARTERS = {
    "tests.dpportal.world.World",
    "tests.dpportal.crashes.stage.Stage",
    "tests.dpportal.portal_command.starting.Portal",
}
FAMILIES = (registry.HISTOGRAMS, registry.SELECTIONS, registry.RESPONSES, registry.QUERIES, registry.STREAMS)
MECHANISMS = {f"{type(m).__module__}.{type(m).__qualname__}" for family in FAMILIES for m in family}
# Those of the audit, of which a lane runs millions.
SIMULATED = "keeps_its_promise"

Listed = dict[str, Any]


def intruders(tests: list[Listed]) -> list[str]:
    """Tests that use what the quick lane is to do without."""
    return [
        test["id"]
        for test in tests
        if SERVERS & set(test["fixtures"]) or STARTERS & set(test["classes"]) or SIMULATED in test["id"]
    ]


def left_out(tests: list[Listed]) -> set[str]:
    """Mechanisms of the registry whose own arithmetic no test looks at; that they have a name is none."""
    told = [t for t in tests if t["id"].startswith("tests/mechanisms/") and "test_registry.py" not in t["id"]]
    return MECHANISMS - {name for test in told for name in test["classes"]}


@pytest.fixture(scope="module")
def every() -> list[Listed]:
    """All tests of the suite."""
    command = [sys.executable, "-m", "tests.lane"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    return [json.loads(line) for line in done.stdout.splitlines()]


@pytest.fixture(scope="module")
def quick(every: list[Listed]) -> list[Listed]:
    return [test for test in every if test["quick"]]


@pytest.mark.slow
def test_no_quick_test_needs_a_server_a_process_or_a_million_runs(quick: list[Listed]) -> None:
    assert intruders(quick) == []


@pytest.mark.slow
def test_every_mechanism_has_a_quick_test(quick: list[Listed]) -> None:
    assert left_out(quick) == set()


@pytest.mark.slow
@pytest.mark.parametrize("subject", ["budgets/test_ledger", "releases/wizard/", "streams/test_pages"])
def test_the_ledger_the_wizard_and_the_pages_are_in_the_quick_lane(quick: list[Listed], subject: str) -> None:
    assert any(test["id"].startswith(f"tests/dpportal/{subject}") for test in quick)


@pytest.mark.slow
def test_a_slow_test_in_the_quick_lane_would_be_seen(every: list[Listed]) -> None:
    """Of the whole suite the rule finds those that the quick lane leaves out."""
    found = " ".join(intruders(every))
    assert all(
        f"tests/{place}" in found for place in ("browser/", "dpportal/crashes/", "mechanisms/test_audit")
    )


def test_a_mechanism_without_a_quick_test_would_be_seen() -> None:
    """PrivTree is named by its class or given as a parameter, and not by a test of the registry alone."""
    name = "mechanisms.histogram.privtree.PrivTree"
    test = {"id": "tests/mechanisms/histogram/test_privtree.py::test_a", "fixtures": [], "classes": [name]}
    assert name not in left_out([test])
    assert name in left_out([{**test, "classes": []}])
    assert name in left_out([{**test, "id": "tests/mechanisms/test_registry.py::test_a"}])


@pytest.mark.slow
@pytest.mark.every_day
def test_every_name_of_those_that_take_their_time_is_a_tests(every: list[Listed]) -> None:
    assert {test["id"].partition("[")[0] for test in every} >= quick_lane.UNHURRIED


def test_of_many_cases_the_quick_lane_takes_the_first_the_last_and_two_between() -> None:
    for many in range(1, 40):
        cases: Any = list(range(many))
        chosen = quick_lane.spread(cases)
        assert len(chosen) == len(set(chosen)) == min(many, quick_lane.MOST_CASES)
        assert (chosen[0], chosen[-1]) == (0, many - 1)


def test_what_takes_its_time_is_told_by_the_mean_of_its_cases() -> None:
    watch = quick_lane.Watch()
    for name, seconds in {"a[1]": 0.3, "a[2]": 0.1, "b[1]": 0.12, "b[2]": 0.01, "c": 0.09}.items():
        report: Any = SimpleNamespace(nodeid=name, duration=seconds / 2)
        watch.pytest_runtest_logreport(report)
        watch.pytest_runtest_logreport(report)
    assert watch.unhurried() == ["a"]


@pytest.mark.parametrize("turns", [nightly.TURNS, nightly.RARE_TURNS])
def test_tests_that_take_turns_run_on_one_of_so_many_days(turns: int) -> None:
    names = [f"tests/dpportal/test_a.py::test_{number}" for number in range(200)]
    first = dt.date(2026, 2, 1)
    days = [(first + dt.timedelta(day)).isoformat() for day in range(2 * turns)]
    for name in names:
        due = [nightly.is_due(name, turns, day) for day in days]
        assert sum(due[:turns]) == 1 and due == due[:turns] * 2
    assert all(any(nightly.is_due(name, turns, day) for name in names) for day in days[:turns])


def listed(*marks: str, file: str = "tests/browser/test_a.py", number: int = 0, case: str = "") -> Any:
    """A test as it is collected."""
    found = [SimpleNamespace(name=name) for name in marks]
    nodeid = f"{file}::test_{number}" + (f"[{case}]" if case else "")
    return SimpleNamespace(nodeid=nodeid, iter_markers=lambda: found)


def test_tests_that_go_on_where_another_stopped_take_their_turn_together() -> None:
    """Of a portal that was restored: those of a file on the same day, for the same kind of portal."""
    restored = partial(listed, file="tests/dpportal/restoring/test_older_copy.py")
    for marks in (("worker",), ("worker", "sampled")):
        turns = {
            nightly._turn_of(restored(*marks, number=number, case=kind))
            for number in range(3)
            for kind in ("SQLite", "PostgreSQL")
        }
        assert len(turns) == 2


def test_what_shares_a_portal_takes_its_turn_together_and_a_guard_of_every_day_takes_none() -> None:
    assert len({nightly._turn_of(listed("worker", number=number)) for number in range(9)}) == 1
    assert len({nightly._turn_of(listed("slow", number=number)) for number in range(9)}) == 9
    assert nightly._turn_of(listed("browser"))[1] == nightly.RARE_TURNS
    cases = {nightly._turn_of(listed("worker", "sampled", case=str(number))) for number in range(9)}
    assert len(cases) == 9
    assert nightly._takes_turns(listed("postgres")) and nightly._takes_turns(listed("sampled"))
    assert not nightly._takes_turns(listed("slow", "every_day")) and not nightly._takes_turns(listed())
