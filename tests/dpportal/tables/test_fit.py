"""The fit of a table to its declarations, held against a count row by row in Python."""

from __future__ import annotations

import datetime as dt
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from dpportal.tables import Persons, ReadOptions, convert, count_cells, fit_table
from dpportal.tables.fit import ColumnFit, TableFit
from dpportal.tables.fitting import SHOWN_CHARACTERS
from dpportal.tables.meaning import python_semantics
from mechanisms.domain import Attribute, Boolean, Categorical, Date, Domain, Integer, Real

OPTIONS = ReadOptions(delimiter=";", decimal=".", missing=("NA",), date_format="iso").settled()
NAMES = ("who", "code", "age", "dose", "day", "smoker")
FIELDS = [
    ["P1", "P1 ", "P2", "p2", "", "P3"],
    ["a", "b", " a ", "c", "", "NA", "Other", "A", "x" * 300],
    ["5", "17.9", "-1", "121", "120", "1e3", "old", "", "NA", "0"],
    ["0", "0.5", "1", "1.0001", "-0.1", "inf", "nan", "1,5", ""],
    ["2024-01-01", "2024-12-31", "2023-12-31", "2025-01-01", "2024-02-30", "31.01.2024", ""],
    ["yes", "NO", "1.0", "0", "2", "maybe", "", "NA"],
]
PERSONS = Persons("who", max_rows=3)
DOMAIN = Domain(
    (
        Categorical("code", values=("a", "b"), closed=True),
        Integer("age", False, 0, 120, 10, closed=True),
        Real("dose", True, 0.0, 1.0, 4),
        Date("day", False, dt.date(2024, 1, 1), dt.date(2024, 12, 31)),
        Boolean("smoker", closed=True),
    )
)
ROWS = [
    tuple(texts[(i * step) % len(texts)] for texts, step in zip(FIELDS, (1, 1, 3, 2, 1, 5), strict=True))
    for i in range(400)
]


@pytest.fixture(scope="module")
def table(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("fit")
    source, target = folder / "table.csv", folder / "table.parquet"
    source.write_text("\n".join(";".join(row) for row in [NAMES, *ROWS]) + "\n")
    convert(source, target, source.name, OPTIONS, lambda done, total: None)
    return target


@pytest.fixture(scope="module")
def found(table) -> TableFit:
    return fit_table(table, DOMAIN, OPTIONS, PERSONS)


def reason(attribute: Attribute, field: str) -> str | None:
    """Why a field does not fit, by its own text."""
    text = python_semantics.text_of(field, OPTIONS)
    if text is None:
        return "missing"
    if isinstance(attribute, Categorical):
        return None if text in attribute.values else "undeclared"
    if isinstance(attribute, Boolean):
        return "unreadable" if python_semantics.truth_of(text, OPTIONS) is None else None
    read = {
        Integer: python_semantics.integer_of,
        Real: python_semantics.number_of,
        Date: python_semantics.day_of,
    }[type(attribute)]
    value = read(text, OPTIONS)
    if value is None:
        return "unreadable"
    return "below" if value < attribute.lower else "above" if value > attribute.upper else None


def leaves_out(attribute: Attribute, field: str) -> bool:
    why = reason(attribute, field)
    if why in ("missing", "unreadable"):
        return attribute.missing is None
    return why == "undeclared" and attribute.other is None


def column_of(found: TableFit, name: str) -> ColumnFit:
    return next(column for column in found.columns if column.column == name)


@pytest.mark.slow
@pytest.mark.parametrize("attribute", DOMAIN.attributes, ids=lambda a: a.name)
def test_each_column_is_counted_by_reason(found, attribute):
    fields = [row[NAMES.index(attribute.name)] for row in ROWS]
    expected = Counter(reason(attribute, field) for field in fields)
    column = column_of(found, attribute.name)
    reasons = ("missing", "unreadable", "below", "above", "undeclared")
    assert [getattr(column, why) for why in reasons] == [expected[why] for why in reasons]
    assert column.left_out == sum(leaves_out(attribute, field) for field in fields)
    homeless = 0 if attribute.missing_cell else expected["missing"]
    assert column.unplaced == sum(expected[why] for why in reasons[1:]) + homeless


@pytest.mark.slow
@pytest.mark.parametrize("attribute", DOMAIN.attributes, ids=lambda a: a.name)
def test_the_most_frequent_misfits_are_told_with_their_rows(found, attribute):
    fields = [row[NAMES.index(attribute.name)] for row in ROWS]
    why = ((reason(attribute, field), python_semantics.text_of(field, OPTIONS)) for field in fields)
    expected = Counter((r, text[:SHOWN_CHARACTERS]) for r, text in why if r not in (None, "missing"))
    told = {(m.reason, m.text): m.rows for m in column_of(found, attribute.name).frequent}
    assert told == expected  # none of these columns has more than ten


@pytest.mark.slow
def test_only_the_ten_most_frequent_are_told(table, tmp_path):
    source, target = tmp_path / "t.csv", tmp_path / "t.parquet"
    source.write_text("code\n" + "".join(f"c{n:02}\n" * (n + 1) for n in range(30)))
    convert(source, target, source.name, OPTIONS, lambda done, total: None)
    [column] = fit_table(target, Domain((Categorical("code", values=("z",)),)), OPTIONS, None).columns
    assert [(m.text, m.rows) for m in column.frequent] == [(f"c{n:02}", n + 1) for n in range(29, 19, -1)]
    assert column.undeclared == 30 * 31 // 2


@pytest.mark.slow
def test_whole_rows_and_persons_are_as_the_count_has_them(table, found):
    """What the fit says is counted is exactly what a count of all the columns counts."""
    assert found.rows == len(ROWS)
    kept = [
        row for row in ROWS if not any(leaves_out(a, row[NAMES.index(a.name)]) for a in DOMAIN.attributes)
    ]
    assert 0 < len(kept) < len(ROWS)
    assert found.left_out == len(ROWS) - len(kept)
    people = {python_semantics.person_of(row[0], ignore_case=False) for row in ROWS}
    of_each = Counter(python_semantics.person_of(row[0], ignore_case=False) for row in kept)
    assert found.persons.persons == len(people - {None})
    assert found.persons.without == of_each.pop(None) > 0
    assert found.persons.beyond == sum(max(0, n - 3) for n in of_each.values()) > 0
    assert found.counted == np.sum(count_cells(table, DOMAIN, OPTIONS, persons=PERSONS, key=b"k"))


@pytest.mark.slow
def test_without_persons_only_closed_columns_leave_rows_out(table):
    open_domain = Domain((Categorical("code", values=("a",)),))
    whole = fit_table(table, open_domain, OPTIONS, None)
    assert (whole.left_out, whole.persons, whole.counted) == (0, None, len(ROWS))


@pytest.mark.slow
def test_numbers_compared_as_numbers_fit_however_they_are_written(tmp_path):
    source, target = tmp_path / "t.csv", tmp_path / "t.parquet"
    source.write_text("code\n1\n1.0\n01\n2\nU\n")
    convert(source, target, source.name, OPTIONS, lambda done, total: None)
    [column] = fit_table(
        target, Domain((Categorical("code", values=("1",), as_numbers=True),)), OPTIONS, None
    ).columns
    assert {m.text for m in column.frequent} == {"2", "U"}


@pytest.mark.slow
def test_it_is_kept_as_json_and_read_back(found):
    assert TableFit.from_json(found.to_json()) == found
