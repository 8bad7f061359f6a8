"""What holds for sums of columns by groups in whatever engine: they are those of an upload, and of a count by hand."""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction

import numpy as np

from dpportal.tables import Persons, ReadOptions, power_sums
from dpportal.tables.pushdown.count_query import QuerySource
from dpportal.tables.pushdown.sum_query import (
    CELL_PARTS,
    PARTS,
    CellTable,
    cell_powers,
    cell_sums_statement,
    powers_of,
    sum_statement,
)
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


def engine_cell_sums(
    twin: Twin, columns: Columns, domain: Domain, tables: Sequence[CellTable], persons: Persons | None = None
) -> list[np.ndarray]:
    """(cells, 3) of each table."""
    types = {name: TYPES[kind] for name, (kind, _values) in columns.items()}
    source = QuerySource(twin.dialect, twin.table, types)
    sizes = [domain.project(table.columns).size for table in tables]
    found = np.zeros((sum(sizes), len(CELL_PARTS)), dtype=np.int64)
    places = found.reshape(-1)
    for place, value in twin.rows(cell_sums_statement(source, domain, tables, WORDS.settled(), persons)):
        places[place] = value
    return np.split(cell_powers(found), np.cumsum(sizes)[:-1])


def of_cells_are_those_of_an_upload(twin: Twin, folder) -> None:
    """Three columns by a group at once, one of which is not added up, and one in all."""
    path = stored(folder, COLUMNS)
    twin.fill(COLUMNS)
    g, cells = GROUPS.attributes[0], Integer("n", True, lower=5, upper=30, width=13)
    steps = [
        replace(reading, name=f" {place}", source=reading.name) for place, reading in enumerate(READINGS)
    ]
    together = [
        CellTable(("g", "n"), " 2"),
        CellTable(("g", "n"), ""),
        CellTable(("g",), " 0"),
        CellTable(("g",), " 3"),
    ]
    found = engine_cell_sums(twin, COLUMNS, Domain((g, cells, steps[0], *steps[2:])), together)
    alone = engine_cell_sums(twin, COLUMNS, Domain((cells, steps[2])), [CellTable(("n",), " 2")])
    for own, groups, added in (
        (found[0], Domain((g, cells)), 2),
        (found[2], GROUPS, 0),
        (found[3], GROUPS, 3),
        (alone[0], Domain((cells,)), 2),
    ):
        [powers] = power_sums(path, groups, [steps[added]], WORDS)
        # Rows without a value are in a cell, and add nothing.
        assert own.tolist() == [[n + missing, first, second] for n, first, second, missing, *_ends in powers]
    assert found[1][:, 0].tolist() == found[0][:, 0].tolist() and not found[1][:, 1:].any()


def of_cells_are_of_the_same_few_rows(twin: Twin) -> None:
    """One of two rows of each person counts: where one is counted, and the value that it adds, come of one draw."""
    people = [str(i // 2) for i in range(400)]
    columns: Columns = {
        "who": ("text", people),
        "g": ("text", [("a", "b")[i % 2] for i in range(400)]),
        "x": ("int4", [("10", "50")[i % 2] for i in range(400)]),
    }
    twin.fill(columns)
    steps = replace(MeasuredColumn.of(Integer("x", lower=0, upper=99)).reading, name=" 0", source="x")
    domain, tables = Domain((*GROUPS.attributes, steps)), [CellTable(("g",), " 0"), CellTable(("g",), "")]
    added, counted = engine_cell_sums(twin, columns, domain, tables, Persons("who", 1))
    (a, *of_a), (b, *of_b) = added.tolist()[:2]
    assert a + b == 200 and (of_a, of_b) == ([10 * a, 100 * a], [50 * b, 2500 * b])
    assert counted[:2, 0].tolist() == [a, b]


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
