"""A table of a page shows under each heading what it says, line by line in the order of its file."""

from __future__ import annotations

import io
import re
from itertools import combinations

import pandas as pd
import pytest

from mechanisms.domain import Categorical, Domain, Integer
from mechanisms.verify.headings import is_translation, numbers_of
from mechanisms.verify.html_tables import compared
from mechanisms.verify.page_tables import page_tables
from mechanisms.verify.translated import strange_cells

CELLS = """colour,age,noisy_count,count,standard_error,interval_lower,interval_upper
red,0–9,1213,1212,3.9,1205,1221
red,,-4,0,3.9,-12,4
blue,0–9,87,88,3.9,79,95
blue,,450,449,3.9,442,458
"""
HEADS = ("colour", "age", "Noisy count", "Margin", "Adjusted count")
ROWS = [["red", "0–9", "1,213", "± 8", "1,212"], ["red", "Missing", "−4", "± 8", "0"]]
ROWS += [["blue", "0–9", "87", "± 8", "88"], ["blue", "Missing", "450", "± 8", "449"]]
COLOURS = Categorical("colour", values=("red", "blue"), closed=True)
DOMAIN = Domain((COLOURS, Integer("age", True, lower=0, upper=9, width=10)))
RELEASE = {"product": "histogram", "plan": {"domain": DOMAIN.to_json()}}


def page(heads, rows) -> str:
    head = "".join(f"<th>{text}</th>" for text in heads)
    lines = ["".join(f"<td>{cell}</td>" for cell in row) for row in rows]
    body = "".join(f"<tr>{line}</tr>" for line in lines)
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def strange(heads, rows) -> list[str]:
    tables = {"histogram": pd.read_csv(io.StringIO(CELLS), dtype=str, keep_default_na=False)}
    return compared(tables, page(heads, rows), page_tables(RELEASE, tables)).strange


def test_a_page_as_the_portal_writes_it_agrees():
    assert strange(HEADS, ROWS) == []
    assert strange(HEADS, ROWS[:2]) == []
    assert strange([h for h in HEADS if h != "Margin"], [[*row[:3], row[4]] for row in ROWS]) == []


@pytest.mark.parametrize("first, second", [*combinations(range(5), 2)])
def test_two_exchanged_headings_and_two_exchanged_columns_are_named(first, second):
    heads = list(HEADS)
    heads[first], heads[second] = heads[second], heads[first]
    assert strange(heads, ROWS)
    rows = [list(row) for row in ROWS]
    for row in rows:
        row[first], row[second] = row[second], row[first]
    assert strange(HEADS, rows)
    assert strange(heads, rows)  # no portal has them in this order


@pytest.mark.parametrize("first, second", [*combinations(range(4), 2)])
def test_the_labels_of_two_lines_that_are_exchanged_are_named(first, second):
    rows = [list(row) for row in ROWS]
    rows[first][:2], rows[second][:2] = ROWS[second][:2], ROWS[first][:2]
    assert strange(HEADS, rows)


def test_other_headings_lines_and_cells_are_named():
    assert strange((*HEADS[:2], "True count", *HEADS[3:]), ROWS) == ["colour"]
    assert strange(HEADS, [*ROWS, ROWS[0]])
    assert strange(HEADS, [ROWS[0][:4], *ROWS[1:]])
    assert strange(HEADS, [[*ROWS[0], ""], *ROWS[1:]])
    # All numbers others, too, as of another table.
    assert len(strange(HEADS, [[*row[:2], "7", "± 9", "8"] for row in ROWS])) >= 8


def test_a_table_that_a_page_has_twice_is_named():
    tables = {"histogram": pd.read_csv(io.StringIO(CELLS), dtype=str, keep_default_na=False)}
    twice = page(HEADS, ROWS) * 2
    assert compared(tables, twice, page_tables(RELEASE, tables)).strange == ["colour"]


def test_a_component_shows_its_own_column():
    shown = numbers_of("2: 46.6% of the variance")
    assert shown and shown.fullmatch("2") and not shown.fullmatch("1")
    assert numbers_of("A column") is None


CHINESE_HEADS = ("colour", "age", "加噪计数", "误差范围", "调整后的计数")
CHINESE_ROWS = [[cell.replace("Missing", "缺失") for cell in row] for row in ROWS]


def test_a_chinese_page_calls_all_as_it_is_translated():
    english = page(HEADS, ROWS)
    assert strange_cells(english, page(CHINESE_HEADS, CHINESE_ROWS)) == []
    for first, second in combinations(range(5), 2):
        heads = list(CHINESE_HEADS)
        heads[first], heads[second] = heads[second], heads[first]
        assert strange_cells(english, page(heads, CHINESE_ROWS))
    rows = [list(row) for row in CHINESE_ROWS]
    rows[0][0], rows[2][0] = "blue", "red"
    assert strange_cells(english, page(CHINESE_HEADS, rows)) == ["blue", "red"]
    assert strange_cells(english, page(CHINESE_HEADS, CHINESE_ROWS[:3])) == ["¶"]


@pytest.mark.parametrize(
    "english, chinese",
    [
        ("13,540 [13,255 to 16,327]", "13,540 [13,255 至 16,327]"),
        ("2013-06-15 ± 9.9 days", "2013-06-15 ± 9.9 天"),
        ("over 99.9 %", "超过 99.9%"),
        ("17 or less [17 or less to 49]", "17 或更小 [17 或更小 至 49]"),
        ("At 90 or above", "不小于 90"),
        ("red − Other", "red − 其他"),
        ("first visit n (%)", "first visit n（%）"),
        ("Clusters used here", "聚类 此处所用"),
    ],
)
def test_words_beside_numbers_are_translated(english, chinese):
    assert is_translation(english, chinese)
    assert not is_translation(english, chinese + "0")
    assert not is_translation(re.sub("[0-9a-z]", "7", english, count=1), chinese)
