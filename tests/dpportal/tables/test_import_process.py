"""Files that become a table: what text is stored of each field, what is proposed, and what is said about it."""

import datetime as dt
import json
import os
import struct
from decimal import Decimal
from pathlib import Path

import duckdb
import openpyxl
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from dpportal.tables import ImportContext, Limits, ReadOptions, TableFacts, UploadFault, convert, first_rows
from dpportal.tables.formats.csv_table import accounted, understand
from dpportal.tables.formats.encoding import plain_text
from dpportal.tables.formats.line_ends import LineEnds
from mechanisms.microdata.limits import MOST_COLUMNS
from tests.dpportal.tables.storing import Stored, parquet, workbook

# Each reads a file in a process of its own, as the portal does.
pytestmark = pytest.mark.slow


def test_every_field_is_stored_as_its_text_and_kinds_are_proposed(tmp_path):
    stored = Stored(tmp_path, b"n,x,t,d,b\n1,0.50,Ann,2020-02-29,true\n-2,3e2,Bob,1999-12-31,False\n")
    assert stored.kinds == ["integer", "real", "text", "date", "boolean"]
    assert stored.rows == [
        ("1", "0.50", "Ann", "2020-02-29", "true"),
        ("-2", "3e2", "Bob", "1999-12-31", "False"),
    ]


def test_a_plain_number_is_stored_beside_its_text_and_nothing_else_is(tmp_path):
    last = ["1.50", "U", "007", "-0.5", "1e1", "1234567890123456", None, "-0", "0.0001"]
    content = "n,m\n" + "1,x\n" * 3000 + "".join(f"{text or ''},x\n" for text in last)
    stored = Stored(tmp_path, content.encode())
    table = pq.read_table(tmp_path / "table.parquet")
    of = {name: table[name].to_pylist()[-9:] for name in ("c0", "t0", "n0")}
    assert of["n0"] == [1.5, None, None, -0.5, None, None, None, 0, 0.0001]
    assert of["c0"] == [None, "U", "007", None, "1e1", "1234567890123456", None, None, None]
    assert of["t0"][:-1] == ["1.50", *[None] * 6, "-0"]
    assert [row[0] for row in stored.rows[-9:]] == last
    assert Stored(tmp_path, b"n\n1\n1.50\n1e1\nU\n007\n").kinds == ["text"]


@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"])
def test_the_delimiter_is_found(tmp_path, delimiter):
    text = '"last, first";n\n"Doe; Ann\tB | C, D";1\n"x";2\n'.replace('";', f'"{delimiter}')
    stored = Stored(tmp_path, text.encode())
    assert stored.facts.options.delimiter == delimiter
    assert stored.rows == [("Doe; Ann\tB | C, D", "1"), ("x", "2")]


def test_a_second_mark_and_a_separator_line_are_no_name(tmp_path):
    stored = Stored(tmp_path, "\ufeff\ufeffsep=;\na;b\n1;2,5\n".encode())
    assert ([c.name for c in stored.facts.columns], stored.rows) == (["a", "b"], [("1", "2,5")])
    assert stored.facts.options.decimal == ","


def test_emoji_quotes_and_markup_stay_as_they_are(tmp_path):
    stored = Stored(tmp_path, '"a ""b""",c\n"👩‍⚕️, <script>",=cmd()\n"say ""hi""",x\n'.encode())
    assert stored.facts.columns[0].name == 'a "b"'
    assert stored.rows == [("👩‍⚕️, <script>", "=cmd()"), ('say "hi"', "x")]


@pytest.mark.parametrize(
    "field",
    ["007", "+5", "1_000", "0x1F", "1e5x", "2020-02-30", "1,5", "99999999999999999999", "1 000", "--"],
)
def test_what_only_resembles_a_number_or_date_is_text(tmp_path, field):
    stored = Stored(tmp_path, f"a;b\n{field};1\n".encode())
    assert stored.rows == [(field, "1")]
    assert field in ("+5", "1,5") or stored.kinds[0] == "text"


def test_empty_fields_are_missing_and_words_for_missing_stay_texts(tmp_path):
    stored = Stored(tmp_path, b'n,t\n1,\n,""\nNA,x\n4, \n', missing=("NA",))
    assert stored.rows == [("1", None), (None, None), ("NA", "x"), ("4", " ")]
    assert stored.kinds == ["integer", "text"]


def test_a_column_without_any_value_is_text(tmp_path):
    stored = Stored(tmp_path, b"a,b\n1,\n2,\n")
    assert (stored.kinds, stored.rows) == (["integer", "text"], [("1", None), ("2", None)])


def test_a_blank_line_is_a_missing_value_of_a_single_column(tmp_path):
    assert Stored(tmp_path, b"a\n1\n\n3\n").rows == [("1",), (None,), ("3",)]


def test_nan_and_infinity_are_real_numbers(tmp_path):
    stored = Stored(tmp_path, b"x,y\n1.5,a\nNaN,b\ninf,c\n-Infinity,d\n")
    assert stored.kinds[0] == "real"
    assert [row[0] for row in stored.rows] == ["1.5", "NaN", "inf", "-Infinity"]


def test_a_column_of_the_word_nan_is_text(tmp_path):
    assert Stored(tmp_path, b"name,n\nNan,1\nnan,2\n").kinds == ["text", "integer"]


def test_marks_in_numbers_are_proposed_only_where_they_can_be_nothing_else(tmp_path):
    clear = Stored(tmp_path, b'pay,n\n"1,234",1\n"12,345,678",2\n').facts
    assert (clear.options.thousands, clear.options.decimal, clear.columns[0].kind) == (",", ".", "integer")
    unclear = Stored(tmp_path, b'pay,n\n"1,234",1\n"12,345",2\n').facts
    assert (unclear.options.thousands, unclear.columns[0].kind) == ("", "text")
    assert "comma" in unclear.columns[0].remark


def test_decimal_commas_and_german_dates_are_proposed_from_the_first_rows(tmp_path):
    facts = Stored(tmp_path, b"pay;d\n1.234,5;31.12.2020\n0,25;01.02.2021\n").facts
    assert (facts.options.decimal, facts.options.thousands, facts.options.date_format) == (
        ",",
        ".",
        "day-first",
    )
    assert [column.kind for column in facts.columns] == ["real", "date"]


def test_a_slip_among_the_first_rows_changes_no_proposal(tmp_path):
    rows = "Zürich;1,5;31.12.2020\n" * 100
    facts = Stored(tmp_path, ("place;pay;day\n" + rows).encode() + b"Z\xfcrich;U;?\n").facts
    assert (facts.options.encoding, facts.options.decimal, facts.options.date_format) == (
        "utf-8",
        ",",
        "day-first",
    )
    assert [column.kind for column in facts.columns] == ["text", "real", "date"]


def test_declared_options_are_not_proposed_anew(tmp_path):
    declared = {
        "decimal": ".",
        "thousands": "",
        "date_format": "iso",
        "delimiter": ";",
        "encoding": "latin-1",
    }
    facts = Stored(tmp_path, b"pay;d\n1.234,5;31.12.2020\n0,25;01.02.2021\n", **declared).facts
    assert facts.options == ReadOptions(**declared).settled()


def test_quoted_line_ends_are_normalised_and_told(tmp_path):
    stored = Stored(tmp_path, b'a,b\r\n"x\r\ny",1\r\n\r\n"longer\rz",2\r\n')
    assert stored.rows == [("x\ny", "1"), ("longer\nz", "2")]
    oddities = stored.oddities
    assert (oddities.broken_fields, oddities.longest_broken, oddities.blank_rows) == (2, 8, 1)


def test_a_row_that_the_engine_lost_is_no_blank_line(tmp_path):
    """A file that has one row more than was stored of it, with and without a blank line."""
    for text, blank in (("a,b\n1,2\n3,4\n", 0), ("a,b\n\n1,2\n3,4\n", 1)):
        file = tmp_path / "table.csv"
        file.write_text(text)
        plain = plain_text(file, tmp_path / "plain.csv", "utf-8", lambda lines: None)
        table = understand(plain, "table.csv", ReadOptions(encoding="utf-8"), Limits())
        assert accounted(table, 2, LineEnds()).blank_rows == blank
        with pytest.raises(duckdb.InvalidInputException):
            accounted(table, 1, LineEnds())


def test_a_column_may_be_called_like_a_name_of_the_engine(tmp_path):
    stored = Stored(tmp_path, b"file_row_number,c0,n0\n7,x,1\n")
    assert [column.name for column in stored.facts.columns] == ["file_row_number", "c0", "n0"]
    assert stored.rows == [("7", "x", "1")]


def test_spaces_after_every_delimiter_do_not_count(tmp_path):
    stored = Stored(tmp_path, b"age, work, pay\n39, Private, 40\n50, ?, 13\n", missing=("?",))
    assert stored.rows == [("39", " Private", " 40"), ("50", " ?", " 13")]
    assert stored.kinds == ["integer", "text", "integer"]
    assert [column.name for column in stored.facts.columns] == ["age", "work", "pay"]


@pytest.mark.parametrize(
    "content", [b"a,b\r1,2\r3,4\r", b"a,b\r\n1,2\n3,4\r\n", b"\n\na,b\n1,2\n\n3,4", b"a,b\n1,2,\n3,4,\n"]
)
def test_line_ends_blank_lines_and_trailing_delimiters_do_not_count(tmp_path, content):
    assert Stored(tmp_path, content).rows == [("1", "2"), ("3", "4")]


def test_quoted_line_ends_belong_to_the_value(tmp_path):
    assert Stored(tmp_path, b'a,b\n"x\ny",1\n"z",2\n').rows == [("x\ny", "1"), ("z", "2")]


def test_a_file_without_names_is_read_when_it_is_said(tmp_path):
    stored = Stored(tmp_path, b"1,x\n2,y\n", header=False)
    assert [column.name for column in stored.facts.columns] == ["column_1", "column_2"]
    assert stored.rows == [("1", "x"), ("2", "y")]


def test_a_first_row_that_looks_like_data_is_still_the_names(tmp_path):
    stored = Stored(tmp_path, b"1,2\n3,4\n")
    assert ([column.name for column in stored.facts.columns], stored.rows) == (["1", "2"], [("3", "4")])


def test_a_parquet_file_is_read_in_all_its_flat_types(tmp_path):
    table = pa.table(
        {
            "i8": pa.array([1, None], pa.int8()),
            "u32": pa.array([2**32 - 1, 0], pa.uint32()),
            "f32": pa.array([0.7, None], pa.float32()),
            "money": pa.array([Decimal("1.25"), Decimal("2.50")]),
            "when": pa.array([dt.datetime(2020, 1, 1, 12), None]),  # noqa: DTZ001
            "category": pa.array(["x", "y"]).dictionary_encode(),
            "yes": pa.array([True, None]),
            "nothing": pa.nulls(2),
            "words": pa.array(["", "NA"]),
        }
    )
    stored = Stored(tmp_path, parquet(tmp_path, table), missing=("NA",))
    assert stored.rows == [
        ("1", "4294967295", "0.7", "1.25", "2020-01-01 12:00:00", "x", "true", None, None),
        (None, "0", None, "2.5", None, "y", None, None, "NA"),
    ]
    assert stored.kinds == ["integer", "integer", "real", "real", "date", "text", "boolean", "text", "text"]


def test_typed_values_have_one_text_each(tmp_path):
    moment = dt.datetime(2020, 1, 1, 23, 30, tzinfo=dt.UTC)
    table = pa.table(
        {
            "whole": [1.0, 2.0**53 - 1, -0.0, 1e20],
            "real": [0.1, 1e-7, float("nan"), float("-inf")],
            "money": [Decimal("100.00"), Decimal("0.10"), Decimal("-2.50"), None],
            "large": pa.array([2**64 - 1, 0, 1, 10**18], pa.uint64()),
            "moment": pa.array(
                [moment, moment.replace(hour=0, minute=0)] * 2, pa.timestamp("us", "Europe/Berlin")
            ),
            "bytes": pa.array([b"Z\xc3\xbcrich", b"Z\xfcrich", b"a\r\nb", b""]),
        }
    )
    stored = Stored(tmp_path, parquet(tmp_path, table))
    assert list(zip(*stored.rows, strict=True)) == [
        ("1", "9007199254740991", "0", "1e+20"),
        ("0.1", "1e-7", "nan", "-inf"),
        ("100", "0.1", "-2.5", None),
        ("18446744073709551615", "0", "1", "1000000000000000000"),
        ("2020-01-01 23:30:00", "2020-01-01") * 2,
        ("Zürich", "Z\ufffdrich", "a\nb", None),
    ]
    assert (stored.oddities.replaced_bytes, stored.oddities.broken_fields) == (1, 1)


@pytest.mark.parametrize("encoding", ["DELTA_BYTE_ARRAY", "DELTA_LENGTH_BYTE_ARRAY"])
def test_texts_that_lie_as_differences_are_read(tmp_path, encoding):
    """As the second version of Parquet's pages has them."""
    table, path = pa.table({"word": ["Ann", "Anna", None, "Ann"]}), tmp_path / "made.parquet"
    pq.write_table(table, path, use_dictionary=False, column_encoding={"word": encoding})
    assert Stored(tmp_path, path.read_bytes()).rows == [("Ann",), ("Anna",), (None,), ("Ann",)]


def test_broken_bytes_of_a_dictionary_are_repaired_in_their_rows_or_named(tmp_path):
    """Arrow reads a dictionary of 64 bits by another, and refuses what is not UTF-8 on the way."""
    offsets = pa.py_buffer(struct.pack("<3i", 0, 2, 8))
    words = pa.Array.from_buffers(pa.string(), 2, [None, offsets, pa.py_buffer(b"okZ\xfcrich")])

    def stored(places: pa.DataType) -> Stored:
        rows = pa.DictionaryArray.from_arrays(pa.array([0, 1, 1], places), words)
        return Stored(tmp_path, parquet(tmp_path, pa.table({"word": rows})))

    found = stored(pa.int32())
    assert (found.rows, found.oddities.replaced_bytes) == ([("ok",), ("Z\ufffdrich",), ("Z\ufffdrich",)], 2)
    with pytest.raises(UploadFault, match="not UTF-8"):
        stored(pa.int64())


def test_the_first_visible_sheet_of_a_workbook_is_read(tmp_path):
    rows = [["n", "x", "zip", "d", "b", "mixed"]]
    rows += [[1, 0.5, "007", dt.date(2020, 1, 2), True, 'a, "b"\nc'], [], [2, 3.0, "10115", None, False, 5]]
    stored = Stored(tmp_path, workbook(tmp_path, *rows), "t.xlsx")
    assert stored.rows == [
        ("1", "0.5", "007", "2020-01-02", "true", 'a, "b"\nc'),
        ("2", "3", "10115", None, "false", "5"),
    ]
    assert (stored.facts.format, stored.facts.options.sheet) == ("xlsx", "Sheet")
    assert (stored.oddities.blank_rows, stored.oddities.broken_fields) == (1, 1)


def book_of_sheets(folder: Path) -> bytes:
    book = openpyxl.Workbook()
    hidden, table = book.active, book.create_sheet("Table")
    hidden.title, hidden.sheet_state = "Notes", "hidden"
    hidden.append(["note"])
    hidden.append(["for us"])
    for row in (["a", "b", "c"], ["#N/A", "=1+1", 1], ["x", None, 2]):
        table.append(row)
    table["A3"].value, table["A2"].data_type = "x", "e"
    table.merge_cells("B3:C3")
    book.save(folder / "made.xlsx")
    return (folder / "made.xlsx").read_bytes()


def test_a_column_of_a_sheet_may_be_called_like_a_separator_line(tmp_path):
    stored = Stored(tmp_path, workbook(tmp_path, ["sep=;"], ["x"], ["y"]), "t.xlsx")
    assert ([column.name for column in stored.facts.columns], stored.rows) == (["sep=;"], [("x",), ("y",)])


def test_sheets_are_named_and_can_be_chosen(tmp_path):
    content = book_of_sheets(tmp_path)
    facts = Stored(tmp_path, content, "t.xlsx").facts
    assert [(sheet.name, sheet.hidden) for sheet in facts.sheets] == [("Notes", True), ("Table", False)]
    assert facts.options.sheet == "Table"
    assert Stored(tmp_path, content, "t.xlsx", sheet="Notes").rows == [("for us",)]
    with pytest.raises(UploadFault, match="no sheet of the declared name"):
        Stored(tmp_path, content, "t.xlsx", sheet="Missing")


def test_errors_and_formulas_without_a_result_are_missing_and_told(tmp_path):
    stored = Stored(tmp_path, book_of_sheets(tmp_path), "t.xlsx")
    assert stored.rows[0] == (None, None, "1")
    oddities = stored.oddities
    assert (oddities.error_cells, oddities.uncached_formulas, oddities.merged_ranges) == (1, 1, 1)


def test_rows_keep_the_order_of_a_large_file(tmp_path):
    stored = Stored(tmp_path, b"n,t\n" + b"".join(b"%d,x%d\n" % (i, i % 7) for i in range(500_000)))
    assert [row[0] for row in stored.rows] == list(map(str, range(500_000)))
    assert first_rows(stored.path, 2) == [["0", "x0"], ["1", "x1"]]


def test_a_file_is_read_as_pandas_reads_it(tmp_path):
    frame = pd.DataFrame(
        {"n": range(1000), "t": [f'v"{i % 5}\n, x' for i in range(1000)], "x": [i / 7 for i in range(1000)]}
    )
    stored = Stored(tmp_path, frame.to_csv(index=False).encode())
    assert stored.rows == [tuple(map(str, row)) for row in frame.itertuples(index=False, name=None)]


def test_progress_is_told_in_bytes_and_ends_with_the_table(tmp_path):
    (tmp_path / "upload").write_bytes(b"n,t\n" + b"1,x\n" * 3_000_000)
    told: list[tuple[int, int]] = []
    facts = convert(
        tmp_path / "upload",
        tmp_path / "t",
        "t.csv",
        context=ImportContext(lambda *report: told.append(report)),
    )
    assert facts.rows == 3_000_000
    assert {total for _done, total in told} == {12_000_004}
    done = [done for done, _total in told]
    assert done == sorted(done) and 0 < done[-1] <= 12_000_004


class AbortedError(Exception):
    pass


def children() -> set[str]:
    return set(Path(f"/proc/self/task/{os.getpid()}/children").read_text().split())


def test_a_progress_call_that_raises_ends_the_child_and_leaves_nothing(tmp_path):
    (tmp_path / "upload").write_bytes(b"n,t\n" + b"1,x\n" * 3_000_000)

    def abort(done: int, total: int) -> None:
        raise AbortedError

    before = children()
    with pytest.raises(AbortedError):
        convert(tmp_path / "upload", tmp_path / "t", "t.csv", context=ImportContext(abort))
    assert [path.name for path in tmp_path.iterdir()] == ["upload"]
    assert children() <= before


def test_reading_stops_when_its_time_is_over(tmp_path):
    (tmp_path / "upload").write_bytes(b"n,t\n1,x\n")
    with pytest.raises(UploadFault) as caught:
        convert(tmp_path / "upload", tmp_path / "t", "t.csv", limits=Limits(seconds=0.05))
    assert caught.value.code == "time"


def test_facts_and_options_survive_json(tmp_path):
    stored = Stored(tmp_path, b"n,t\n1,x\n")
    assert TableFacts.from_json(json.loads(json.dumps(stored.facts.to_json()))) == stored.facts
    options = ReadOptions(delimiter=";", missing=("NA",), thousands=",")
    assert ReadOptions.from_json(json.loads(json.dumps(options.to_json()))) == options


def test_as_many_columns_as_a_synthetic_table_may_have_are_read_in_the_memory_there_is(tmp_path):
    """Of few different texts each, in as many rows as make the engine hold pieces of every column at once."""
    columns = MOST_COLUMNS
    names = ",".join(f"c{number}" for number in range(columns))
    rows = (",".join(str((row * 7 + number) % 10) for number in range(columns)) for row in range(6_000))
    (tmp_path / "upload").write_text("\n".join([names, *rows]) + "\n")
    facts = convert(
        tmp_path / "upload",
        tmp_path / "table.parquet",
        "wide.csv",
        context=ImportContext(sketch_key=b"k" * 32),
    )
    assert (facts.rows, len(facts.columns), bool(facts.sketch)) == (6_000, columns, True)
