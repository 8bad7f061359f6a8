"""A number in a table of a page is that of the line it stands in: each that is changed or swapped is named."""

from __future__ import annotations

import io
import re
from itertools import combinations

import pandas as pd
import pytest

from mechanisms.verify.html_tables import compared

CELLS = """colour,age,noisy_count,count,standard_error,interval_lower,interval_upper
red,0–9,1213,1212,3.9,1205.2,1220.8
red,10–19,-4,0,3.9,-11.8,3.8
blue,0–9,87,88,3.9,79.2,94.8
blue,10–19,450,449,3.9,442.2,457.8
"""
ROWS = (("red", "0–9", "1,213", "8", "1,212"), ("red", "10–19", "−4", "8", "0"))
ROWS += (("blue", "0–9", "87", "8", "88"), ("blue", "10–19", "450", "8", "449"))


@pytest.fixture
def sources() -> dict[str, pd.DataFrame]:
    codebook = "name,value\nage,0–9\nage,10–19\n"
    texts = {"histogram": CELLS, "codebook": codebook}
    return {stem: pd.read_csv(io.StringIO(text), dtype=str) for stem, text in texts.items()}


def page(rows) -> str:
    lines = ["".join(f'<td class="number">{cell}</td>' for cell in row) for row in rows]
    body = "".join(f"<tr>{line}</tr>" for line in lines)
    return f"<table><thead><tr><th>A</th></tr></thead><tbody>{body}</tbody></table>"


def changed(text: str) -> str:
    return re.sub(r"(\d)(?=\D*$)", lambda digit: str((int(digit[1]) + 1) % 10), text)


def test_a_page_as_the_portal_writes_it_agrees(sources):
    assert compared(sources, page(ROWS)).numbers == 12
    assert compared(sources, page(ROWS)).strange == []
    assert compared(sources, page([*ROWS, ("All", "", "1,746", "16", "1,749")])).strange == []


def test_each_changed_number_is_named(sources):
    for line, row in enumerate(ROWS):
        for place in range(1, len(row)):  # of labels, too
            forged = [list(each) for each in ROWS]
            forged[line][place] = changed(row[place])
            assert compared(sources, page(forged)).strange, (line, place)


def test_two_swapped_numbers_are_named(sources):
    places = [(line, place) for line in range(len(ROWS)) for place in range(2, 5)]
    for (one, first), (other, second) in combinations(places, 2):
        forged = [list(each) for each in ROWS]
        forged[one][first], forged[other][second] = ROWS[other][second], ROWS[one][first]
        if forged != [list(each) for each in ROWS]:
            assert compared(sources, page(forged)).strange, (one, first, other, second)


def test_a_margin_that_is_rounded_down_among_others_is_named(sources):
    first, *others = ROWS
    assert compared(sources, page([(*first[:3], "7", first[4]), *others])).strange == ["7"]


def test_labels_of_two_lines_beside_each_other_are_named(sources):
    lines = [*sources["histogram"].index]
    table = {"histogram": sources["histogram"].iloc[lines[:-1]]}  # without blue, 10–19
    shown = [*ROWS[:3], ("blue", "10–19", "87", "8", "88")]
    assert compared(table, page(ROWS[:3])).strange == []
    assert "blue" in compared(table, page(shown)).strange


def test_a_number_without_its_sign_is_named(sources):
    first, second, *others = ROWS
    assert compared(sources, page([first, (*second[:2], "4", *second[3:]), *others])).strange == ["4"]


def test_of_two_columns_with_the_same_labels_the_fitting_one_names_the_lines():
    table = pd.DataFrame({"before": ["yes", "no"], "after": ["no", "maybe"], "count": ["412", "97"]})
    shown = page([("no", "412"), ("maybe", "97")])
    assert compared({"answers": table}, shown) == compared(
        {"answers": table[["after", "before", "count"]]}, shown
    )
    assert compared({"answers": table}, shown).strange == []


def test_a_table_of_one_line_is_read_by_its_headings():
    table = pd.DataFrame({"lead": ["1 person", "10 people"], "chance": ["0.994", "1"]})
    heads = "<thead><tr><th>1 person</th><th>10 people</th></tr></thead>"
    shown = f"<table>{heads}<tr><td>99.4 %</td><td>100 %</td></tr></table>"
    assert compared({"chances": table}, shown).numbers == 2
    assert compared({"chances": table}, shown.replace("99.4", "89.4")).strange == ["89.4"]


def test_a_date_is_the_day_of_its_number():
    table = pd.DataFrame(
        {
            "colour": ["red", "blue"],
            "mean": ["18506.74713", "18610.49573"],
            "mean_lower": ["18387", "18514.93146"],
            "mean_upper": ["18653", "18653"],
        }
    )
    rows = [("red", "2020-09-01 2020-05-05 to 2021-01-26"), ("blue", "2020-12-14 2020-09-09 to 2021-01-26")]
    assert compared({"totals": table}, page(rows)).strange == []
    assert compared(
        {"totals": table}, page([(rows[0][0], rows[0][1].replace("09-01", "09-02")), rows[1]])
    ).strange


def test_a_label_that_a_spreadsheet_would_run_is_shown_without_its_apostrophe():
    table = pd.DataFrame({"colour": ["'=1+1", "blue"], "count": ["412", "97"]})
    assert compared({"histogram": table}, page([("=1+1", "412"), ("blue", "97")])).strange == []
    assert compared({"histogram": table}, page([("=1+1", "412"), ("blue", "98")])).strange == ["98"]


def test_a_table_of_something_else_is_not_compared(sources):
    assert compared(sources, page([("sepal", "12", "13"), ("petal", "14", "15")])).numbers == 0
    # Labels that name no line for certain, as of made-up rows.
    assert compared(sources, page([("red", "7"), ("red", "8"), ("blue", "9")])).numbers == 0
