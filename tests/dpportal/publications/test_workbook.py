"""A table as a workbook: the same values and missing ones, the same bytes, nothing that a spreadsheet would run."""

from __future__ import annotations

import datetime as dt

import openpyxl
import pytest

from dpportal.publications import workbook as workbooks
from dpportal.publications.table import Table
from dpportal.publications.workbook import workbook

FIELDS = [
    {"name": "text", "type": "string"},
    {"name": "whole", "type": "integer"},
    {"name": "real", "type": "number"},
    {"name": "yes", "type": "boolean"},
    {"name": "day", "type": "date"},
]
LINES = """text,whole,real,yes,day
red,-1,1.5,True,2020-02-29
"a <b> & ""c"", d",10,1e-07,False,1899-01-01
,,,,
"two
lines",0,0,True,1900-03-01
=1+1,1,2,False,1970-01-01
"""


def made(folder, lines: str = LINES, fields=FIELDS):
    path = folder / "table.csv"
    path.write_text(lines, encoding="utf-8", newline="")
    return workbook(Table(path, "A table", fields))


def rows(file) -> list[tuple]:
    return list(openpyxl.load_workbook(file.path, read_only=True).active.iter_rows(values_only=True))


def test_every_value_arrives_as_what_it_is_and_a_missing_one_as_none(tmp_path):
    day = dt.datetime
    assert rows(made(tmp_path)) == [
        ("text", "whole", "real", "yes", "day"),
        ("red", -1, 1.5, True, day(2020, 2, 29)),
        ('a <b> & "c", d', 10, 1e-07, False, "1899-01-01"),
        (None, None, None, None, None),
        ("two\nlines", 0, 0, True, day(1900, 3, 1)),
        ("=1+1", 1, 2, False, day(1970, 1, 1)),
    ]


def test_no_text_is_a_formula_or_has_an_apostrophe_of_the_csv(tmp_path):
    sheet = openpyxl.load_workbook(made(tmp_path, LINES.replace("=1+1", "'=1+1")).path).active
    assert sheet["A6"].value == "=1+1"
    assert {cell.data_type for cell in sheet["A"]} <= {"s", "n", "inlineStr"}
    assert "<f>" not in sheet["A6"].value


def test_signs_that_xml_cannot_hold_are_left_out_and_line_ends_stay(tmp_path):
    signs = '"a\x01\x1b\ufffe\uffffb\rc\r\nd",1,1,True,2020-01-01\n'
    (_header, line) = rows(made(tmp_path, LINES.partition("\n")[0] + "\n" + signs))
    assert line[0] == "ab\rc\r\nd"


@pytest.mark.parametrize(
    ("text", "there"), [("x" * 32_767, True), ("x" * 32_768, False), ("🎉" * 16_384, False)]
)
def test_what_a_cell_cannot_hold_has_no_workbook(tmp_path, text, there):
    assert (made(tmp_path, f"text\n{text}\n", FIELDS[:1]) is not None) == there


def test_a_line_that_is_longer_than_what_is_read_at_once_has_no_workbook(tmp_path, monkeypatch):
    monkeypatch.setattr(workbooks, "BLOCK", 100)
    assert made(tmp_path, "text\na\n" + "x" * 300 + "\n" + "b\n" * 90, FIELDS[:1]) is None


def test_more_columns_than_a_sheet_holds_have_no_workbook(tmp_path):
    fields = [{"name": f"c{place}", "type": "integer"} for place in range(16_385)]
    lines = ",".join(field["name"] for field in fields) + "\n" + ",".join("1" for _ in fields) + "\n"
    assert made(tmp_path, lines, fields) is None


def test_a_column_of_missing_values_alone_keeps_its_rows(tmp_path):
    file = made(tmp_path, "yes\nTrue\n\n\nFalse\ntrue\nfalse\n", [{"name": "yes", "type": "boolean"}])
    sheet = openpyxl.load_workbook(file.path).active
    assert [cell.value for cell in sheet["A"]] == ["yes", True, None, None, False, True, False]


def test_the_same_table_gives_the_same_bytes(tmp_path):
    assert made(tmp_path).path.read_bytes() == made(tmp_path).path.read_bytes()


def test_a_table_of_no_rows_has_its_header(tmp_path):
    assert rows(made(tmp_path, "text\n", FIELDS[:1])) == [("text",)]


@pytest.mark.parametrize("most, there", [(6, True), (5, False)])
def test_more_lines_than_a_sheet_holds_make_no_workbook(tmp_path, monkeypatch, most, there):
    monkeypatch.setattr(workbooks, "MOST_LINES", most)
    assert (made(tmp_path) is not None) == there
    assert (tmp_path / "table.xlsx").exists() == there


def test_a_file_without_described_columns_has_none(tmp_path):
    assert made(tmp_path, fields=[]) is None
