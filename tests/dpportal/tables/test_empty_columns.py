"""A sheet's table that begins in its second column, or has an empty one between two others, is read."""

from __future__ import annotations

from pathlib import Path

import openpyxl
import pytest

from dpportal.tables.faults import UploadFault
from tests.dpportal.tables.test_frame import read

ROWS = 45
NAMES = ["Respondent: Sex", "Respondent: Age", "Household: Region", "Household: Persons"]


def sheet(folder: Path, places: str, *further: tuple[str, object], titles: bool = True) -> bytes:
    """places: the letters of the table's columns. further: cells besides."""
    book = openpyxl.Workbook()
    page = book.active
    start = 5 if titles else 1
    for address, text in (
        (("B2", "Table T1. Health Survey 2023"), ("B3", "Ministry of Health")) if titles else ()
    ):
        page[address] = text
    for place, text in zip(places, ("Respondent", None, "Household", None), strict=True):
        page[f"{place}{start}"] = text
    rows = [["Sex", "Age", "Region", "Persons"]]
    rows.extend(["fm"[n % 2], 20 + n, "North", 1 + n % 4] for n in range(ROWS))
    for number, row in enumerate(rows, start + 1):
        for place, value in zip(places, row, strict=True):
            page[f"{place}{number}"] = value
    for address, value in further:
        page[address] = value
    book.save(folder / "made.xlsx")
    return (folder / "made.xlsx").read_bytes()


@pytest.mark.parametrize("titles", [True, False], ids=["titles", "no titles"])
@pytest.mark.parametrize("places", ["ABCD", "BCDE", "BCEF", "DEFG"])
def test_empty_columns_are_left_out(tmp_path, places, titles):
    """The declared lines do as well as the proposed ones."""
    content = sheet(tmp_path, places, titles=titles)
    facts, rows = read(tmp_path, content, "t.xlsx")
    assert [column.name for column in facts.columns] == NAMES
    assert (facts.options.title_lines, facts.options.header_lines) == (4 if titles else 0, 2)
    assert facts.rows == ROWS and rows[0] == ["f", "20", "North", "1"]
    again, _rows = read(tmp_path, content, "t.xlsx", title_lines=4 if titles else 0, header_lines=2)
    assert [column.name for column in again.columns] == NAMES


def test_a_value_in_a_column_that_was_left_out_is_refused(tmp_path):
    with pytest.raises(UploadFault, match="Row 50 has a value in column 5, but the first row only has 4"):
        read(tmp_path, sheet(tmp_path, "BCEF", ("D50", 7)), "t.xlsx")


def test_a_column_with_values_and_no_name_is_refused(tmp_path):
    with pytest.raises(UploadFault, match="Column 1 has values and no name"):
        read(tmp_path, sheet(tmp_path, "BCDE", ("A7", 1), ("A8", 2)), "t.xlsx", title_lines=4, header_lines=2)
