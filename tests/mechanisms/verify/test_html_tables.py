"""A number in a table of a page is that of the line it stands in: each that is changed or swapped is named."""

from __future__ import annotations

import json
import re
import zipfile
from itertools import combinations
from pathlib import Path

import pytest

from mechanisms.verify.bundle import Bundle
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
def bundle(tmp_path: Path) -> Bundle:
    path = tmp_path / "release.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("release.json", json.dumps({"plan": {}, "files": {}, "product": "histogram"}))
        archive.writestr("histogram.csv", CELLS)
        archive.writestr("codebook.csv", "name,value\nage,0–9\nage,10–19\n")
    return Bundle.read(path)


def page(rows) -> str:
    lines = ["".join(f'<td class="number">{cell}</td>' for cell in row) for row in rows]
    body = "".join(f"<tr>{line}</tr>" for line in lines)
    return f"<table><thead><tr><th>A</th></tr></thead><tbody>{body}</tbody></table>"


def changed(text: str) -> str:
    return re.sub(r"(\d)(?=\D*$)", lambda digit: str((int(digit[1]) + 1) % 10), text)


def test_a_page_as_the_portal_writes_it_agrees(bundle):
    assert compared(bundle, page(ROWS)).numbers == 12
    assert compared(bundle, page(ROWS)).strange == []
    assert compared(bundle, page([*ROWS, ("All", "", "1,746", "16", "1,749")])).strange == []


def test_each_changed_number_is_named(bundle):
    for line, row in enumerate(ROWS):
        for place in range(1, len(row)):  # of labels, too
            forged = [list(each) for each in ROWS]
            forged[line][place] = changed(row[place])
            assert compared(bundle, page(forged)).strange, (line, place)


def test_two_swapped_numbers_are_named(bundle):
    places = [(line, place) for line in range(len(ROWS)) for place in range(2, 5)]
    for (one, first), (other, second) in combinations(places, 2):
        forged = [list(each) for each in ROWS]
        forged[one][first], forged[other][second] = ROWS[other][second], ROWS[one][first]
        if forged != [list(each) for each in ROWS]:
            assert compared(bundle, page(forged)).strange, (one, first, other, second)


def test_a_margin_that_is_rounded_down_among_others_is_named(bundle):
    first, *others = ROWS
    assert compared(bundle, page([(*first[:3], "7", first[4]), *others])).strange == ["7"]


def test_a_table_of_something_else_is_not_compared(bundle):
    assert compared(bundle, page([("sepal", "12", "13"), ("petal", "14", "15")])).numbers == 0
    # Labels that name no line for certain, as of made-up rows.
    assert compared(bundle, page([("red", "7"), ("red", "8"), ("blue", "9")])).numbers == 0
