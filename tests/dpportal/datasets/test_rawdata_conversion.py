"""Files that become a table: what is stored, in which kinds, and what is said about it."""

import datetime as dt
import json
import os
import pickle
from decimal import Decimal
from pathlib import Path

import openpyxl
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from dpportal.datasets.rawdata import Limits, ReadOptions, TableFacts, UploadFault, convert, first_rows


class Stored:
    """An upload that was converted: its facts, its rows as Python values, and the types in the file."""

    def __init__(self, folder: Path, content: bytes, name: str = "table.csv", **options) -> None:
        source, self.path = folder / "upload", folder / "table.parquet"
        source.write_bytes(content)
        self.facts = convert(source, self.path, name, ReadOptions(**options))
        table = pq.read_table(self.path)
        self.rows = [tuple(row.values()) for row in table.to_pylist()]
        self.types = [str(field.type) for field in table.schema]
        self.kinds = [column.kind for column in self.facts.columns]


def workbook(folder: Path, *rows) -> bytes:
    book = openpyxl.Workbook()
    for row in rows:
        book.active.append(row)
    book.save(folder / "made.xlsx")
    return (folder / "made.xlsx").read_bytes()


def parquet(folder: Path, table: pa.Table) -> bytes:
    pq.write_table(table, folder / "made.parquet")
    return (folder / "made.parquet").read_bytes()


def test_each_kind_of_column_is_stored_as_itself(tmp_path):
    stored = Stored(tmp_path, b"n,x,t,d,b\n1,0.5,Ann,2020-02-29,true\n-2,3e2,Bob,1999-12-31,False\n")
    assert stored.kinds == ["integer", "real", "text", "date", "boolean"]
    assert stored.types == ["int64", "double", "string", "date32[day]", "bool"]
    assert stored.rows == [
        (1, 0.5, "Ann", dt.date(2020, 2, 29), True),
        (-2, 300.0, "Bob", dt.date(1999, 12, 31), False),
    ]


@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"])
def test_the_delimiter_is_found(tmp_path, delimiter):
    text = '"last, first";n\n"Doe; Ann\tB | C, D";1\n"x";2\n'.replace('";', f'"{delimiter}')
    stored = Stored(tmp_path, text.encode())
    assert stored.facts.delimiter == delimiter
    assert stored.rows == [("Doe; Ann\tB | C, D", 1), ("x", 2)]


@pytest.mark.parametrize(
    ("encoding", "said"),
    [
        ("utf-8", "utf-8"),
        ("utf-8-sig", "utf-8"),
        ("utf-16", "utf-16"),
        ("windows-1252", "windows-1252"),
    ],
)
def test_the_encoding_is_found(tmp_path, encoding, said):
    stored = Stored(tmp_path, "name,city\nJosé,Köln\nAnn,Århus\n".encode(encoding))
    assert stored.facts.encoding == said
    assert stored.rows == [("José", "Köln"), ("Ann", "Århus")]
    assert stored.facts.columns[0].name == "name"


def test_utf_16_with_the_high_byte_first_is_read(tmp_path):
    stored = Stored(tmp_path, b"\xfe\xff" + "a,b\né,1\n".encode("utf-16-be"))
    assert stored.rows == [("é", 1)]


def test_a_named_encoding_is_used(tmp_path):
    stored = Stored(tmp_path, "a,b\nцена,1\n".encode("cp1251"), encoding="cp1251")
    assert stored.rows == [("цена", 1)]


def test_bytes_without_meaning_in_windows_1252_are_read_as_latin_1(tmp_path):
    stored = Stored(tmp_path, b"a,b\n\x81\xe9,1\n")
    assert (stored.facts.encoding, stored.rows) == ("latin-1", [("\x81é", 1)])


def test_a_late_byte_that_is_not_utf_8_makes_the_file_windows_1252(tmp_path):
    head = b"name,n\n" + b"Ann,1\n" * 200_000
    stored = Stored(tmp_path, head + b"Jos\xe9,2\n" + b"Bob,3\n" * 100_000)
    assert stored.facts.encoding == "windows-1252"
    assert stored.rows[200_000] == ("José", 2)
    assert stored.facts.rows == 300_001


def test_emoji_quotes_and_markup_stay_as_they_are(tmp_path):
    stored = Stored(tmp_path, '"a ""b""",c\n"👩‍⚕️, <script>",=cmd()\n"say ""hi""",x\n'.encode())
    assert stored.facts.columns[0].name == 'a "b"'
    assert stored.rows == [("👩‍⚕️, <script>", "=cmd()"), ('say "hi"', "x")]


def test_leading_zeros_stay_text_even_if_they_come_late(tmp_path):
    stored = Stored(tmp_path, b"zip,n\n" + b"10115,1\n" * 200_000 + b"01067,2\n" + b"10115,1\n" * 200_000)
    assert stored.kinds == ["text", "integer"]
    assert stored.rows[200_000] == ("01067", 2)


def test_a_late_fraction_makes_whole_numbers_real(tmp_path):
    stored = Stored(tmp_path, b"x,n\n" + b"1,1\n" * 200_000 + b"2.5,2\n" + b"1,1\n" * 200_000)
    assert stored.kinds == ["real", "integer"]
    assert stored.rows[200_000] == (2.5, 2)


def test_mixed_types_are_text(tmp_path):
    stored = Stored(tmp_path, b"a,b\n1,x\n1.5,y\ntrue,z\n")
    assert (stored.kinds, stored.rows[2]) == (["text", "text"], ("true", "z"))


@pytest.mark.parametrize(
    "field",
    ["007", "+5", "1_000", "0x1F", "1e5x", "2020-02-30", "1,5", "99999999999999999999", "1 000", "--"],
)
def test_what_only_resembles_a_number_or_date_is_text(tmp_path, field):
    stored = Stored(tmp_path, f"a;b\n{field};1\n".encode())
    assert stored.rows == [(field, 1)]


def test_only_empty_fields_and_named_words_are_missing(tmp_path):
    stored = Stored(tmp_path, b'n,t\n1,\n,""\nNA,x\n4, \n-9,NA\n', missing=("NA", "-9"), strip=False)
    assert stored.rows == [(1, None), (None, None), (None, "x"), (4, " "), (None, None)]


def test_a_column_without_any_value_is_text(tmp_path):
    stored = Stored(tmp_path, b"a,b\n1,\n2,\n")
    assert (stored.kinds, stored.rows) == (["integer", "text"], [(1, None), (2, None)])


def test_a_blank_line_is_a_missing_value_of_a_single_column(tmp_path):
    assert Stored(tmp_path, b"a\n1\n\n3\n").rows == [(1,), (None,), (3,)]


def test_nan_and_infinity_are_real_numbers(tmp_path):
    stored = Stored(tmp_path, b"x,y\n1.5,a\nNaN,b\ninf,c\n-Infinity,d\n")
    assert stored.kinds[0] == "real"
    assert [str(row[0]) for row in stored.rows] == ["1.5", "nan", "inf", "-inf"]


def test_a_column_of_the_word_nan_is_text(tmp_path):
    assert Stored(tmp_path, b"name,n\nNan,1\nnan,2\n").kinds == ["text", "integer"]


def test_thousands_separators_are_text_with_a_remark_until_they_are_named(tmp_path):
    stored = Stored(tmp_path, b'pay,n\n"1,234",1\n"12,345,678",2\n')
    assert stored.rows == [("1,234", 1), ("12,345,678", 2)]
    assert "comma between thousands" in stored.facts.columns[0].remark


def test_named_thousands_separators_are_read(tmp_path):
    stored = Stored(tmp_path, b'pay,x\n"1,234","1,234.5"\n"12,345,678",7\n', thousands=",")
    assert stored.rows == [(1234, 1234.5), (12345678, 7.0)]


def test_named_decimal_commas_are_read(tmp_path):
    stored = Stored(tmp_path, b"pay;x\n1.234;1.234,5\n5;0,25\n", thousands=".", decimal=",")
    assert stored.rows == [(1234, 1234.5), (5, 0.25)]


def test_a_named_date_format_is_read(tmp_path):
    stored = Stored(tmp_path, b"d;n\n31.12.2020;1\n01.02.2021;2\n", date_format="%d.%m.%Y")
    assert stored.rows == [(dt.date(2020, 12, 31), 1), (dt.date(2021, 2, 1), 2)]


def test_the_time_of_day_is_left_out_of_dates(tmp_path):
    stored = Stored(tmp_path, b"d,n\n2020-01-01 23:59:59,1\n2020-01-02T00:00:00Z,2\n")
    assert stored.rows == [(dt.date(2020, 1, 1), 1), (dt.date(2020, 1, 2), 2)]


def test_spaces_after_every_delimiter_do_not_count(tmp_path):
    stored = Stored(tmp_path, b"age, work, pay\n39, Private, 40\n50, ?, 13\n", missing=("?",))
    assert stored.rows == [(39, "Private", 40), (50, None, 13)]
    assert [column.name for column in stored.facts.columns] == ["age", "work", "pay"]


@pytest.mark.parametrize(
    "content", [b"a,b\r1,2\r3,4\r", b"a,b\r\n1,2\n3,4\r\n", b"\n\na,b\n1,2\n\n3,4", b"a,b\n1,2,\n3,4,\n"]
)
def test_line_ends_blank_lines_and_trailing_delimiters_do_not_count(tmp_path, content):
    assert Stored(tmp_path, content).rows == [(1, 2), (3, 4)]


def test_quoted_line_ends_belong_to_the_value(tmp_path):
    assert Stored(tmp_path, b'a,b\n"x\ny",1\n"z",2\n').rows == [("x\ny", 1), ("z", 2)]


def test_a_file_without_names_is_read_when_it_is_said(tmp_path):
    stored = Stored(tmp_path, b"1,x\n2,y\n", header=False)
    assert [column.name for column in stored.facts.columns] == ["column_1", "column_2"]
    assert stored.rows == [(1, "x"), (2, "y")]


def test_a_first_row_that_looks_like_data_is_still_the_names(tmp_path):
    stored = Stored(tmp_path, b"1,2\n3,4\n")
    assert ([column.name for column in stored.facts.columns], stored.rows) == (["1", "2"], [(3, 4)])


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
        (1, 2**32 - 1, 0.7, 1.25, dt.date(2020, 1, 1), "x", True, None, None),
        (None, 0, None, 2.5, None, "y", None, None, None),
    ]
    assert stored.kinds == ["integer", "integer", "real", "real", "date", "text", "boolean", "text", "text"]


def test_the_first_sheet_of_a_workbook_is_read(tmp_path):
    rows = [["n", "x", "zip", "d", "b", "mixed"]]
    rows += [[1, 0.5, "007", dt.date(2020, 1, 2), True, 'a, "b"\nc'], [], [2, 3.0, "10115", None, False, 5]]
    stored = Stored(tmp_path, workbook(tmp_path, *rows), "t.xlsx")
    assert stored.rows == [
        (1, 0.5, "007", dt.date(2020, 1, 2), True, 'a, "b"\nc'),
        (2, 3.0, "10115", None, False, "5"),
    ]
    assert (stored.facts.format, stored.facts.delimiter) == ("xlsx", None)


def test_rows_keep_the_order_of_a_large_file(tmp_path):
    stored = Stored(tmp_path, b"n,t\n" + b"".join(b"%d,x%d\n" % (i, i % 7) for i in range(500_000)))
    assert [row[0] for row in stored.rows] == list(range(500_000))
    assert first_rows(stored.path, 2) == [["0", "x0"], ["1", "x1"]]


def test_a_file_is_read_as_pandas_reads_it(tmp_path):
    frame = pd.DataFrame(
        {"n": range(1000), "t": [f'v"{i % 5}\n, x' for i in range(1000)], "x": [i / 7 for i in range(1000)]}
    )
    stored = Stored(tmp_path, frame.to_csv(index=False).encode())
    assert stored.rows == list(frame.itertuples(index=False, name=None))


def test_progress_is_told_in_rows_and_ends_with_the_table(tmp_path):
    (tmp_path / "upload").write_bytes(b"n,t\n" + b"1,x\n" * 3_000_000)
    told: list[tuple[int, int | None]] = []
    facts = convert(
        tmp_path / "upload", tmp_path / "t", "t.csv", on_progress=lambda *report: told.append(report)
    )
    assert facts.rows == 3_000_000
    assert told
    assert all(expected == pytest.approx(3_000_000, rel=0.01) for _, expected in told)


class AbortedError(Exception):
    pass


def children() -> set[str]:
    return set(Path(f"/proc/self/task/{os.getpid()}/children").read_text().split())


def test_a_progress_call_that_raises_ends_the_child_and_leaves_nothing(tmp_path):
    (tmp_path / "upload").write_bytes(b"n,t\n" + b"1,x\n" * 3_000_000)

    def abort(rows: int, expected: int | None) -> None:
        raise AbortedError

    before = children()
    with pytest.raises(AbortedError):
        convert(tmp_path / "upload", tmp_path / "t", "t.csv", on_progress=abort)
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


@pytest.mark.parametrize(
    "wrong", [{"delimiter": "x"}, {"decimal": "x"}, {"thousands": "."}, {"thousands": "x"}]
)
def test_options_that_cannot_be_are_refused(wrong):
    with pytest.raises(ValueError, match=r"separator|delimiter"):
        ReadOptions(**wrong)


def test_a_fault_passes_between_processes():
    fault = UploadFault("ragged", "Row 3 is too long.", row=3, column=2)
    assert pickle.loads(pickle.dumps(fault)).to_json() == fault.to_json()
