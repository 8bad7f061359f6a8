"""A further file of a table: each line is a row by itself, and spoils nothing but itself."""

from __future__ import annotations

import io
import random
import re
import zipfile
from pathlib import Path
from typing import Any

import openpyxl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from dpportal.tables import first_rows
from dpportal.tables.facts import TableFacts
from dpportal.tables.faults import UploadFault
from dpportal.tables.formats import Reading
from dpportal.tables.formats.import_worker import convert_here
from dpportal.tables.formats.line_rows import LineReader
from dpportal.tables.meaning.parse_options import MAX_LINE_BYTES, Limits, ReadOptions
from tests.dpportal.tables.storing import workbook

HEADER, GOOD = b"a,b,c\n", b"1,2,3"
SPOILED = {
    "a field too many": b"1,2,3,4",
    "a field too few": b"1,2",
    "an open quotation mark": b'"1,2,3',
    "an open quotation mark at the end": b'1,2,"3',
    "text after a quotation mark": b'1,"2"x,3',
    "a NUL": b"1,2\0,3",
    "too long": b"1,2," + b"3" * MAX_LINE_BYTES,
}
ROWS = [
    (b'"1","2",3', ["1", "2", "3"]),
    (b'"1,5",2,3', ["1,5", "2", "3"]),
    (b'"1""5",2,3', ['1"5', "2", "3"]),
    (b'1"5,2,3', ['1"5', "2", "3"]),
    (b"1,2,3,", ["1", "2", "3"]),
    (b'1,2,3,""', ["1", "2", "3"]),
    (b",,", [None, None, None]),
    (b"1,\xff,3", ["1", "\ufffd", "3"]),
]


def read(
    folder: Path, content: bytes, columns: int = 3, name: str = "more.csv", **options: Any
) -> tuple[TableFacts, list[list[Any]]]:
    """What a further file of that name is stored as."""
    source, target = folder / "more", folder / "table.parquet"
    source.write_bytes(content)
    settled = ReadOptions(**options).settled()
    reading = Reading(source, target, name, settled, Limits(), lambda share: None, None, columns)
    facts = convert_here(reading)
    return facts, [list(row) for row in first_rows(target, 10**6)]


@pytest.mark.parametrize("line", SPOILED.values(), ids=SPOILED.keys())
def test_a_line_that_is_no_row_is_none(line: bytes) -> None:
    assert LineReader(ReadOptions().settled(), width=3).row(line) is None


@pytest.mark.parametrize("spoiled", [*[[line] for line in SPOILED.values()][1:4], list(SPOILED.values())])
def test_lines_that_are_no_rows_are_left_out_and_no_others(tmp_path, spoiled: list[bytes]) -> None:
    facts, rows = read(tmp_path, HEADER + b"\n".join([spoiled[0], GOOD, *spoiled, GOOD, spoiled[-1]]) + b"\n")
    assert rows == [["1", "2", "3"]] * 2
    assert (facts.rows, facts.oddities.spoiled_rows, facts.oddities.broken_fields) == (2, 2 + len(spoiled), 0)


@pytest.mark.parametrize("before", [b"1,2,", b'"1",2,', "é,2,".encode()], ids=["plain", "quoted", "é"])
def test_the_longest_row_is_read_and_one_of_a_byte_more_is_left_out(tmp_path, before: bytes) -> None:
    longest = before + b"3" * (MAX_LINE_BYTES - 1 - len(before))
    facts, rows = read(tmp_path, HEADER + b"\n".join([GOOD, longest, longest + b"3", GOOD]) + b"\n")
    assert [len(row[2]) for row in rows] == [1, MAX_LINE_BYTES - 1 - len(before), 1]
    assert facts.oddities.spoiled_rows == 1


@pytest.mark.parametrize(
    "first", [b"", b"a\n", b"sep=;\n", b'"sep=,"\n'], ids=["none", "a", "sep", "quoted sep"]
)
def test_no_row_says_where_a_table_of_one_column_without_names_begins(tmp_path, first: bytes) -> None:
    """A blank line is a person without a value, whoever stands above it."""
    facts, rows = read(tmp_path, first + b"\n\nb\nsep=;\n", columns=1, header=False)
    assert rows == [["a"]] * (first == b"a\n") + [[None], [None], ["b"]]
    assert [column.name for column in facts.columns] == ["column_1"] and facts.options.header is False


def test_lines_that_are_rows_are_read_as_in_an_upload(tmp_path) -> None:
    facts, rows = read(tmp_path, HEADER + b"\n".join(line for line, _fields in ROWS) + b"\n")
    assert rows == [fields for _line, fields in ROWS]
    assert facts.oddities.spoiled_rows == 0


def test_whatever_stands_in_other_lines_a_line_is_read_by_its_own_text(tmp_path) -> None:
    drawn = random.Random(7)
    lines = ["".join(drawn.choices('",,a é', k=drawn.randrange(2, 7))).encode() for _ in range(200)]
    _facts, together = read(tmp_path, HEADER + b"\n".join(lines) + b"\n")
    reversed_lines = HEADER + b"\n".join(lines[::-1]) + b"\n"
    assert len(together) > 9 and read(tmp_path, reversed_lines)[1] == together[::-1]


def test_two_open_quotation_marks_join_no_rows(tmp_path) -> None:
    _facts, rows = read(tmp_path, HEADER + b'1,"2,3\n4,5,6\n7",8,9\n')
    assert rows == [["4", "5", "6"], ['7"', "8", "9"]]


def test_a_file_of_names_alone_has_no_rows(tmp_path) -> None:
    facts, rows = read(tmp_path, HEADER)
    assert (facts.rows, rows, [column.name for column in facts.columns]) == (0, [], ["a", "b", "c"])


def test_without_names_the_first_line_decides_nothing(tmp_path) -> None:
    _facts, rows = read(tmp_path, b"1,2\n" + GOOD + b",\n" + GOOD + b"\n", header=False)
    assert rows == [["1", "2", "3"]] * 2


@pytest.mark.parametrize("content, header", [(b"", True), (b"\n\n", True), (b"", False), (b"1,2\n", False)])
def test_a_file_in_which_nothing_is_a_row_says_so(tmp_path, content: bytes, header: bool) -> None:
    with pytest.raises(UploadFault) as fault:
        read(tmp_path, content, header=header)
    assert fault.value.code in ("empty", "no-rows")


def test_another_encoding_and_another_quotation_mark_are_as_declared(tmp_path) -> None:
    text = "sep=;\r\n\r\na;b;c\r\n'ü;';2;3\r\n\"1;2;3\r\n'4;5;6\r\n"
    facts, rows = read(tmp_path, text.encode("utf-16"), delimiter=";", quote="'", encoding="utf-16")
    assert rows == [["ü;", "2", "3"], ['"1', "2", "3"]]
    assert facts.oddities.spoiled_rows == 1


def test_a_row_of_a_workbook_that_reaches_too_far_is_left_out(tmp_path) -> None:
    made = openpyxl.Workbook()
    for row in (["a", "b", "c"], [1, 2, 3], [1, 2, 3, 4], [4, "5\n6", 7]):
        made.active.append(row)
    made.save(tmp_path / "made.xlsx")
    facts, rows = read(tmp_path, (tmp_path / "made.xlsx").read_bytes(), name="made.xlsx")
    assert rows == [["1", "2", "3"], ["4", "5\n6", "7"]]
    assert facts.oddities.spoiled_rows == 1


def test_a_long_text_in_a_wide_workbook_is_left_out_with_its_row(tmp_path) -> None:
    """The marks between empty fields count, too. Excel writes no such text, but other programs do."""
    content = workbook(tmp_path, [f"c{place}" for place in range(300)], [1] * 300, ["here"], [2] * 300)
    long = b">" + b"8" * (MAX_LINE_BYTES - 100) + b"<"
    with zipfile.ZipFile(io.BytesIO(content)) as old, zipfile.ZipFile(tmp_path / "new.xlsx", "w", 8) as new:
        for name in old.namelist():
            new.writestr(name, old.read(name).replace(b">here<", long))
    facts, rows = read(tmp_path, (tmp_path / "new.xlsx").read_bytes(), 300, "new.xlsx")
    assert [row[0] for row in rows] == ["1", "2"]
    assert facts.oddities.spoiled_rows == 1


@pytest.mark.parametrize("first", [[1], [1, 2, 3, 4]])
def test_the_first_row_of_a_workbook_without_names_decides_on_no_other(tmp_path, first: list[Any]) -> None:
    made = openpyxl.Workbook()
    for row in (first, [4, "5", 6], [7]):
        made.active.append(row)
    made.save(tmp_path / "made.xlsx")
    facts, rows = read(tmp_path, (tmp_path / "made.xlsx").read_bytes(), name="made.xlsx", header=False)
    assert rows[-2:] == [["4", "5", "6"], ["7", None, None]]
    assert (len(rows), facts.oddities.spoiled_rows) == ((3, 0) if first == [1] else (2, 1))


CELLS = {
    "a word as a number": b'<c r="B3" t="n"><v>many</v></c>',
    "no day": b'<c r="B3" t="d"><v>2020-02-31</v></c>',
    "a text that there is not": b'<c t="s"><v>99</v></c>',
    "too many digits": b'<c r="B3"><v>' + b"9" * 5000 + b"</v></c>",
}


@pytest.mark.parametrize("cell", CELLS.values(), ids=CELLS.keys())
def test_a_cell_of_a_workbook_that_means_nothing_spoils_itself(tmp_path, cell: bytes) -> None:
    too_long = b'<c r="B4" t="inlineStr"><is><t>' + b"8" * MAX_LINE_BYTES + b"</t></is></c>"
    made = openpyxl.Workbook()
    for row in (["a", "b", "c"], [1, 2, 3], [4, 5, 6], [7, 88, 9]):
        made.active.append(row)
    made.save(tmp_path / "made.xlsx")
    with zipfile.ZipFile(tmp_path / "made.xlsx") as old, zipfile.ZipFile(tmp_path / "new.xlsx", "w") as new:
        for name in old.namelist():
            content = old.read(name)
            if name.endswith("sheet1.xml"):
                content = re.sub(rb'<c r="B3"[^>]*><v>5</v></c>', cell, content)
                content = re.sub(rb'<c r="B4"[^>]*><v>88</v></c>', too_long, content)
                assert cell in content and too_long in content
            new.writestr(name, content, zipfile.ZIP_DEFLATED)
    content = (tmp_path / "new.xlsx").read_bytes()
    facts, rows = read(tmp_path, content, name="new.xlsx")
    assert len(rows) == 2 and rows == [["1", "2", "3"], ["4", None, "6"]]
    assert (facts.oddities.error_cells, facts.oddities.spoiled_rows) == (1, 1)
    with pytest.raises(UploadFault):  # its curator can correct an upload before anything is counted
        read(tmp_path, content, columns=0, name="new.xlsx")


def test_a_text_with_a_nul_in_a_parquet_file_spoils_itself(tmp_path) -> None:
    pq.write_table(pa.table({"a": ["x", "y\0z"], "b": [1, 2], "c": [0.5, None]}), tmp_path / "made.parquet")
    _facts, rows = read(tmp_path, (tmp_path / "made.parquet").read_bytes(), name="made.parquet")
    assert rows == [["x", "1", "0.5"], ["y\ufffdz", "2", None]]


@pytest.mark.parametrize("use_dictionary", [True, False])
def test_a_row_of_a_parquet_file_with_more_text_than_a_line_may_have_is_left_out(
    tmp_path, use_dictionary: bool
) -> None:
    half = "y" * (MAX_LINE_BYTES // 2 + 1)
    columns = {"a": ["x", half, None], "b": [1, 2, 3], "c": [half, half, "z"]}
    pq.write_table(pa.table(columns), tmp_path / "made.parquet", use_dictionary=use_dictionary)
    content = (tmp_path / "made.parquet").read_bytes()
    facts, rows = read(tmp_path, content, name="made.parquet")
    assert [row[:2] for row in rows] == [["x", "1"], [None, "3"]]
    assert (facts.rows, facts.oddities.spoiled_rows) == (2, 1)
    assert read(tmp_path, content, columns=0)[0].rows == 3  # an upload is read as it is


def test_an_empty_line_of_a_table_of_one_column_is_a_missing_value_as_in_an_upload(tmp_path):
    content = b"a\nx\n\ny\n\n"
    facts, rows = read(tmp_path, content, columns=1)
    assert (facts.rows, rows) == (4, [["x"], [None], ["y"], [None]])
    source, target = tmp_path / "first", tmp_path / "first.parquet"
    source.write_bytes(content)
    options = ReadOptions().settled()
    uploaded = convert_here(Reading(source, target, "a.csv", options, Limits(), lambda share: None, None))
    assert (uploaded.rows, [list(row) for row in first_rows(target, 10)]) == (facts.rows, rows)
