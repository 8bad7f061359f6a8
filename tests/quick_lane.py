"""Which tests are quick: no server, process or simulation, a tenth of a second at most, and a few cases of each test.

How long a test takes was measured: `unhurried.txt` has the names of those that take longer, which the gate runs too.
Usage, on a machine that does nothing else: python -m tests.quick_lane writes the list anew.
"""

from __future__ import annotations

from collections import defaultdict
from itertools import groupby
from pathlib import Path

import pytest

LISTED = Path(__file__).with_name("unhurried.txt")
UNHURRIED = frozenset(LISTED.read_text().split())
# The mean of a test's cases.
MOST_SECONDS = 0.1
MOST_CASES = 4
HEAVY = {"browser", "worker", "postgres", "spark", "clickhouse", "redis", "slow"}


def mark(items: list[pytest.Item]) -> None:
    """Mark the cases of the quick lane."""
    hurried = sorted(filter(is_hurried, items), key=test_of)
    for _test, cases in groupby(hurried, key=test_of):
        for case in spread(list(cases)):
            case.add_marker("quick")


def is_light(item: pytest.Item) -> bool:
    """Whether it needs no server, process or simulation: the gate runs it every day."""
    return HEAVY.isdisjoint(mark.name for mark in item.iter_markers())


def is_hurried(item: pytest.Item) -> bool:
    return is_light(item) and test_of(item) not in UNHURRIED


def test_of(case: pytest.Item) -> str:
    """The name of the test that a case is one of."""
    return case.nodeid.partition("[")[0]


def spread(cases: list[pytest.Item]) -> list[pytest.Item]:
    """The first, the last, and what lies evenly between."""
    if len(cases) <= MOST_CASES:
        return cases
    return [cases[place * (len(cases) - 1) // (MOST_CASES - 1)] for place in range(MOST_CASES)]


class Watch:
    """Notes the seconds of every case."""

    def __init__(self) -> None:
        self.seconds: dict[str, defaultdict[str, float]] = defaultdict(lambda: defaultdict(float))

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        self.seconds[report.nodeid.partition("[")[0]][report.nodeid] += report.duration

    def unhurried(self) -> list[str]:
        means = {test: sum(cases.values()) / len(cases) for test, cases in self.seconds.items()}
        return sorted(test for test, mean in means.items() if mean > MOST_SECONDS)


if __name__ == "__main__":
    watch = Watch()
    pytest.main(["-q", "-n", "2", "-m", f"not ({' or '.join(sorted(HEAVY))})"], plugins=[watch])
    LISTED.write_text("".join(f"{test}\n" for test in watch.unhurried()))
