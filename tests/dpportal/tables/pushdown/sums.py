"""What holds for sums of columns by groups in whatever engine: they are those of an upload, and of a count by hand."""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence
from fractions import Fraction

import numpy as np

from dpportal.tables import Persons, ReadOptions, power_sums
from dpportal.tables.pushdown.count_query import QuerySource
from dpportal.tables.pushdown.sum_query import PARTS, powers_of, sum_statement
from dpportal.tables.pushdown.types import TYPES
from mechanisms.domain import Attribute, Categorical, Date, Domain, Integer, Real
from mechanisms.moments.column import MeasuredColumn
from tests.dpportal.tables.pushdown.twins import Columns, Twin, stored

WORDS = ReadOptions(missing=("none",))
GROUPS = Domain((Categorical("g", values=("a", "b")),))
COARSER = Domain((Integer("n group", lower=5, upper=30, width=13, source="n"),))
NUMBERS = ["0", "1", "17", "17.9", "99999", "100000", "1e9", "-3", "", "none", "text", None, "54321", "99998"]
COLUMNS: Columns = {
    "g": ("text", [("a", "b", "c")[i % 3] for i in range(len(NUMBERS) * 3)]),
    "x": ("text", NUMBERS * 3),
    "y": ("float8", [None if i % 7 == 0 else str(i / 10) for i in range(len(NUMBERS) * 3)]),
    "d": (
        "date",
        [None if i % 5 == 0 else f"2000-0{1 + i % 4}-{1 + i % 28:02}" for i in range(len(NUMBERS) * 3)],
    ),
    "n": ("int4", [str(7 * i % 40) for i in range(len(NUMBERS) * 3)]),
}
READINGS = [
    MeasuredColumn.of(attribute, Fraction(step)).reading
    for attribute, step in (
        (Integer("x", lower=0, upper=99_999), "1"),
        (Real("y", lower=0.0, upper=4.0, bins=4), "0.1"),
        (Integer("n", lower=5, upper=30), "3"),
        (Date("d", lower=dt.date(2000, 1, 1), upper=dt.date(2000, 3, 1)), "1"),
    )
]


def engine_sums(
    twin: Twin,
    columns: Columns,
    groups: Domain,
    readings: Sequence[Attribute],
    persons: Persons | None = None,
) -> np.ndarray:
    types = {name: TYPES[kind] for name, (kind, _values) in columns.items()}
    source = QuerySource(twin.dialect, twin.table, types)
    found = np.zeros((groups.size, len(readings), len(PARTS)), dtype=np.int64)
    places = found.reshape(-1)
    for place, value in twin.rows(sum_statement(source, groups, readings, WORDS.settled(), persons)):
        places[place] = value
    return powers_of(found)


def are_those_of_an_upload(twin: Twin, folder) -> None:
    """Four columns at once by a group, one by a coarser column made of it, and each alone in all."""
    path = stored(folder, COLUMNS)
    twin.fill(COLUMNS)
    alone = ((Domain(()), [reading]) for reading in READINGS)
    for groups, readings in ((GROUPS, READINGS), (COARSER, READINGS[2:3]), *alone):
        ours = power_sums(path, groups, readings, WORDS)
        assert engine_sums(twin, COLUMNS, groups, readings).tolist() == ours.tolist()


def are_those_of_a_count_by_hand(twin: Twin) -> None:
    """x in all: of each fourteen texts nine are numbers; three are at or above 99,999, and two at or below 0."""
    twin.fill(COLUMNS)
    v = [0, 1, 17, 17, 99_999, 99_999, 99_999, 0, 54_321, 99_998]
    by_hand = [3 * len(v), 3 * sum(v), 3 * sum(x * x for x in v), 3 * 4, 3 * 2, 3 * 3]
    assert engine_sums(twin, COLUMNS, Domain(()), READINGS[:1]).tolist() == [[by_hand]]


def count_few_rows_of_each_person(twin: Twin) -> None:
    """Two of each person's rows count, the same in every sum: all values of a person are alike, so sums are known."""
    people = [str(i % 5) for i in range(50)]
    columns: Columns = {"who": ("text", people), "x": ("int4", people), "y": ("int4", people)}
    twin.fill(columns)
    readings = [MeasuredColumn.of(Integer(name, lower=0, upper=4)).reading for name in ("x", "y")]
    one = [10, 20, 60, 0, 2, 2]
    assert engine_sums(twin, columns, Domain(()), readings, Persons("who", 2)).tolist() == [[one], [one]]
