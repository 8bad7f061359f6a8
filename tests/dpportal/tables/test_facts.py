"""The digest that recognises a table, and what a curator is shown of it."""

import datetime as dt
import io
import random
from pathlib import Path

import openpyxl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from dpportal.tables import ReadOptions, UploadFault, convert, first_rows, suggest

# Each reads a file in a process of its own, as the portal does.
pytestmark = pytest.mark.slow

CSV = "n,t,x,d,b\n1,é,0.5,2020-01-01,true\n2,,3,2020-02-01,false\n2,,3,2020-02-01,false\n"
RECORDED = "0ffca3d934f3eac29953473126bc26ab87820a0eae3ef432de38dda4a72fa152"
LINES = CSV.splitlines(keepends=True)


def digest(folder: Path, content: bytes, **options) -> str:
    (folder / "upload").write_bytes(content)
    return convert(folder / "upload", folder / "t.parquet", "t", ReadOptions(**options)).content_digest


def as_parquet() -> bytes:
    days = [dt.date(2020, 1, 1), dt.date(2020, 2, 1), dt.date(2020, 2, 1)]
    columns = {"n": pa.array([1, 2, 2], pa.int8()), "t": ["é", None, None], "x": [0.5, 3.0, 3.0]}
    file = io.BytesIO()
    pq.write_table(pa.table({**columns, "d": days, "b": [True, False, False]}), file)
    return file.getvalue()


def as_xlsx() -> bytes:
    book = openpyxl.Workbook()
    for row in (
        ["n", "t", "x", "d", "b"],
        [1, "é", 0.5, dt.date(2020, 1, 1), True],
        [2, None, 3, dt.datetime(2020, 2, 1), False],  # noqa: DTZ001 a workbook's dates have no zone
        [2, None, 3.0, dt.date(2020, 2, 1), False],
    ):
        book.active.append(row)
    file = io.BytesIO()
    book.save(file)
    return file.getvalue()


@pytest.mark.parametrize(
    "content",
    [
        CSV.replace(",", ";").encode("utf-16"),
        CSV.replace("\n", "\r\n").encode("windows-1252"),
        "".join([LINES[0], *LINES[:0:-1]]).encode(),
        CSV.replace(",3,", ",3.0,").replace("true", "TRUE").encode(),
        as_parquet(),
        as_xlsx(),
    ],
)
def test_the_digest_is_the_same_in_every_form(tmp_path, content):
    assert digest(tmp_path, content) == digest(tmp_path, CSV.encode())


def test_the_digest_does_not_depend_on_the_order_of_columns(tmp_path):
    swapped = "".join(",".join(line.strip().split(",")[::-1]) + "\n" for line in LINES)
    assert digest(tmp_path, swapped.encode()) == digest(tmp_path, CSV.encode())


@pytest.mark.parametrize(
    "content",
    [
        CSV.replace("0.5", "0.25"),
        CSV.replace("é", ""),
        CSV.replace("n,t", "m,t"),
        "".join(LINES[:-1]),
        CSV + LINES[-1],
        CSV.replace("1,é", "2,é").replace("2,,3,2020-02-01", "1,,3,2020-02-01", 1),
    ],
)
def test_the_digest_changes_with_the_content(tmp_path, content):
    assert digest(tmp_path, content.encode()) != digest(tmp_path, CSV.encode())


def test_the_digest_is_the_same_for_shuffled_rows_of_a_large_file(tmp_path):
    rows = [f"{i % 100},v{i % 7}\n" for i in range(200_000)]
    first = digest(tmp_path, ("a,b\n" + "".join(rows)).encode())
    random.Random(1).shuffle(rows)
    assert digest(tmp_path, ("a,b\n" + "".join(rows)).encode()) == first


def test_the_digest_stays_what_it_was_in_earlier_versions(tmp_path):
    """Recorded once: a changed digest would let every stored table be uploaded again."""
    assert digest(tmp_path, CSV.encode()) == RECORDED


def stored(folder: Path, **columns: list) -> Path:
    path = folder / "table.parquet"
    pq.write_table(pa.table({name: pa.array(column, pa.string()) for name, column in columns.items()}), path)
    return path


def test_first_rows_are_texts_in_file_order(tmp_path):
    path = stored(tmp_path, n=["3", "1.0", None], **{'a "b"': ["x", "👩‍⚕️", None]})
    assert first_rows(path, 2) == [["3", "x"], ["1.0", "👩‍⚕️"]]


def test_text_values_are_suggested_in_order(tmp_path):
    path = stored(tmp_path, t=["b", None, "a", "b"])
    assert suggest(path, "t") == {"kind": "text", "missing": True, "values": ["a", "b"]}


def test_the_range_of_numbers_is_suggested_without_infinity(tmp_path):
    path = stored(tmp_path, x=["1.5", "inf", "-2.0"], n=["3", "7", "5"], code=["007", "1", "2"])
    assert suggest(path, "x") == {"kind": "real", "missing": False, "lower": -2.0, "upper": 1.5}
    assert suggest(path, "n") == {"kind": "integer", "missing": False, "lower": 3, "upper": 7}
    assert suggest(path, "code")["values"] == ["007", "1", "2"]


def test_the_range_of_dates_is_suggested_in_the_declared_format(tmp_path):
    path = stored(tmp_path, d=["01.01.2021", "31.12.2020"], b=["true", None])
    found = suggest(path, "d", ReadOptions(date_format="day-first"))
    assert (found["kind"], found["lower"], found["upper"]) == (
        "date",
        dt.date(2020, 12, 31),
        dt.date(2021, 1, 1),
    )
    assert suggest(path, "b") == {"kind": "boolean", "missing": True}


def test_two_hundred_texts_are_listed_and_one_more_is_refused(tmp_path):
    texts = [f"{i:03d}" for i in range(201)]
    assert len(suggest(stored(tmp_path, t=texts[:200]), "t")["values"]) == 200
    with pytest.raises(UploadFault, match="more than 200"):
        suggest(stored(tmp_path, t=texts), "t")


def test_a_column_without_values_is_refused(tmp_path):
    with pytest.raises(UploadFault, match="no values"):
        suggest(stored(tmp_path, t=[None] * 3), "t")


def test_no_sign_of_a_column_s_name_turns_what_stands_beside_it(tmp_path):
    (tmp_path / "upload").write_text("n,a\u202egni\u202c,\u05d0\u200f\n1,2,3\n")
    facts = convert(tmp_path / "upload", tmp_path / "t.parquet", "t", ReadOptions())
    assert [column.name for column in facts.columns] == ["n", "agni", "\u05d0\u200f"]
