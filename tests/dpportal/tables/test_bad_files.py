"""Files that cannot become a table: each is refused with its own fault, and none with a value of a cell."""

import gzip
import io
import pickle
import re
import zipfile
from pathlib import Path

import numpy as np
import openpyxl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from dpportal.tables import Limits, ReadOptions, UploadFault, convert, first_rows
from dpportal.tables.formats import import_worker

# Each reads a file in a process of its own, as the portal does.
pytestmark = pytest.mark.slow

SECRET = "Zebulon"


def refused(folder: Path, content: bytes, name: str = "table.csv", **options) -> UploadFault:
    source = folder / "upload"
    source.write_bytes(content)
    with pytest.raises(UploadFault) as caught:
        convert(source, folder / "table.parquet", name, ReadOptions(**options))
    assert not (folder / "table.parquet").exists()
    assert [path.name for path in folder.iterdir()] == ["upload"]
    assert SECRET not in caught.value.message
    return caught.value


def xlsx(*rows) -> bytes:
    workbook = openpyxl.Workbook()
    for row in rows:
        workbook.active.append(row)
    file = io.BytesIO()
    workbook.save(file)
    return file.getvalue()


def parquet(table: pa.Table, **options) -> bytes:
    file = io.BytesIO()
    pq.write_table(table, file, **options)
    return file.getvalue()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("content", "code"),
    [
        (b"", "empty"),
        (b"\n\n\r\n", "empty"),
        (b"x", "no-rows"),
        (b"age,name\n", "no-rows"),
        (b"age,name\r\n\r\n", "no-rows"),
        (b"age,,name\n1,2,3\n", "blank-name"),
        (b"age, Age \n1,2\n", "duplicate-name"),
        ("a,Ma\u00dfe,MASSE\n1,2,3\n".encode(), "duplicate-name"),
        ("e\u0301,\u00e9\n1,2\n".encode(), "duplicate-name"),
        ("age,a\u200bge\n1,2\n".encode(), "duplicate-name"),
        ("age,\u200b\n1,2\n".encode(), "blank-name"),
        (b"a" * 201 + b",b\n1,2\n", "long-name"),
        (b",".join(b"c%d" % i for i in range(600)) + b"\n" + b",".join([b"1"] * 600) + b"\n", "columns"),
        (b"age,name\n1,\x00Zebulon\n", "binary"),
        (b"\x89PNG\r\n\x1a\n" + bytes(100), "foreign"),
        (gzip.compress(b"a,b\n1,2\n", mtime=0), "foreign"),
        (b"%PDF-1.7\n", "foreign"),
        (bytes(range(256)) * 4, "binary"),
    ],
)
def test_a_file_that_is_no_table_is_refused(tmp_path, content, code):
    assert refused(tmp_path, content).code == code


@pytest.mark.slow
def test_a_long_row_is_named_with_both_numbers_of_fields(tmp_path):
    fault = refused(tmp_path, b"age,name\n1,Ann\n2,Zebulon,x\n")
    assert (fault.code, fault.row) == ("ragged", 3)
    assert "Row 3 has 3 fields where the first row has 2 fields" in fault.message


@pytest.mark.slow
def test_a_short_row_is_named(tmp_path):
    fault = refused(tmp_path, b"age,name\n1,Ann\nZebulon\n")
    assert (fault.code, fault.row) == ("ragged", 3)


@pytest.mark.slow
def test_a_ragged_row_far_into_a_file_is_named(tmp_path):
    fault = refused(tmp_path, b"a,b\n" + b"1,2\n" * 400_000 + b"1,2,3\n" + b"1,2\n" * 400_000)
    assert (fault.code, fault.row) == ("ragged", 400_002)


@pytest.mark.slow
def test_rows_are_counted_over_quoted_line_ends_as_a_spreadsheet_does(tmp_path):
    fault = refused(tmp_path, b'a,b\n1,"x\ny\nz"\n1,2,3\n')
    assert fault.row == 3


@pytest.mark.slow
def test_an_open_quotation_mark_is_named(tmp_path):
    fault = refused(tmp_path, b'age,name\n1,Ann\n2,"Zebulon\n3,Bob\n')
    assert (fault.code, fault.row) == ("quotes", 3)


@pytest.mark.slow
def test_text_after_a_closing_quotation_mark_is_named(tmp_path):
    fault = refused(tmp_path, b'age,name\n1,"Zebulon"x\n')
    assert (fault.code, fault.row) == ("quotes", 2)


@pytest.mark.slow
def test_a_single_line_of_300_megabytes_is_refused_without_reading_it(tmp_path):
    source = tmp_path / "upload"
    with source.open("wb") as file:
        for _ in range(300):
            file.write(b"x," * 500_000)
    with pytest.raises(UploadFault) as caught:
        convert(source, tmp_path / "table.parquet", "table.csv", limits=Limits(memory_bytes=250 * 2**20))
    assert (caught.value.code, caught.value.row) == ("long-line", 1)


@pytest.mark.slow
def test_a_long_line_after_good_ones_is_named(tmp_path):
    fault = refused(tmp_path, b"a,b\n1,2\n3," + b"x" * 3_000_000 + b"\n")
    assert (fault.code, fault.row) == ("long-line", 3)


@pytest.mark.slow
def test_blank_lines_that_are_read_as_one_line_are_named(tmp_path):
    """At once, too: nothing of such a file is read a second time."""
    gap = b"\n" * 2_100_000
    fault = refused(tmp_path, b"a,b\n1,2\n3,4\n" + gap + b"5,6\n")
    assert (fault.code, fault.row) == ("blank-lines", 3)
    for content, rows in ((b"a,b\n1,2\n" + gap, 1), (b"a\n1\n" + gap + b"2\n", 2_100_002)):
        (tmp_path / "upload").write_bytes(content)
        assert convert(tmp_path / "upload", tmp_path / "table.parquet", "table.csv").rows == rows


def test_text_named_parquet_is_refused(tmp_path):
    assert refused(tmp_path, b"a,b\n1,2\n", "table.parquet").code == "mismatch"


@pytest.mark.slow
@pytest.mark.parametrize("share", [0.1, 0.5, 0.99])
def test_a_parquet_file_cut_short_is_refused(tmp_path, share):
    whole = parquet(pa.table({"name": [SECRET + str(i) for i in range(5000)]}))
    assert refused(tmp_path, whole[: int(len(whole) * share)]).code == "damaged"


@pytest.mark.slow
def test_a_parquet_file_with_overwritten_pages_is_refused(tmp_path):
    whole = parquet(pa.table({"n": np.arange(50_000)}), compression="none", use_dictionary=False)
    assert refused(tmp_path, whole[:4] + b"\xff" * 5000 + whole[5004:]).code == "damaged"


@pytest.mark.slow
@pytest.mark.parametrize("kind", [pa.string(), pa.large_string(), pa.dictionary(pa.int32(), pa.string())])
def test_a_parquet_column_with_a_nul_character_is_refused_by_its_number(tmp_path, kind):
    fault = refused(tmp_path, parquet(pa.table({"a": [1, 2], "b": pa.array(["é\0A", "é\0B"]).cast(kind)})))
    assert (fault.code, fault.column) == ("binary", 2)


def test_a_nested_parquet_column_is_refused_by_its_number(tmp_path):
    fault = refused(tmp_path, parquet(pa.table({"a": [1], "b": [[1, 2]]})))
    assert (fault.code, fault.column) == ("nested", 2)


@pytest.mark.slow
def test_a_parquet_file_of_long_shared_texts_is_refused_before_it_unfolds(tmp_path):
    texts = pa.DictionaryArray.from_arrays(pa.array(np.zeros(6000, np.int32)), pa.array(["x" * 10**6]))
    bomb = parquet(pa.table({"text": texts}))
    assert len(bomb) < 2 * 2**20
    assert refused(tmp_path, bomb).code == "unfolds"


@pytest.mark.slow
def test_a_parquet_file_of_one_repeated_number_is_refused_past_the_limit(tmp_path):
    bomb = parquet(pa.table({"n": pa.array(np.zeros(20_000_000, np.int64))}), compression="zstd")
    assert len(bomb) < 100_000
    (tmp_path / "upload").write_bytes(bomb)
    with pytest.raises(UploadFault) as caught:
        convert(tmp_path / "upload", tmp_path / "t", "t.parquet", limits=Limits(unfolded_bytes=30 * 2**20))
    assert caught.value.code == "unfolds"


@pytest.mark.slow
def test_a_parquet_page_larger_than_the_memory_is_refused(tmp_path):
    bomb = parquet(pa.table({"text": ["x" * (200 * 2**20)]}), compression="zstd", use_dictionary=False)
    assert len(bomb) < 100_000
    (tmp_path / "upload").write_bytes(bomb)
    with pytest.raises(UploadFault) as caught:
        convert(tmp_path / "upload", tmp_path / "t", "t.parquet", limits=Limits(memory_bytes=220 * 2**20))
    assert caught.value.code == "memory"


@pytest.mark.slow
@pytest.mark.parametrize("share", [0.1, 0.5, 0.99])
def test_a_workbook_cut_short_is_refused(tmp_path, share):
    whole = xlsx(["name"], *[[SECRET + str(i)] for i in range(500)])
    assert refused(tmp_path, whole[: int(len(whole) * share)], "t.xlsx").code == "damaged"


def test_a_zip_archive_that_is_no_workbook_is_refused(tmp_path):
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr("table.csv", "a,b\n1,2\n")
    assert refused(tmp_path, file.getvalue(), "t.xlsx").code == "foreign"


@pytest.mark.slow
def test_an_empty_workbook_is_refused(tmp_path):
    assert refused(tmp_path, xlsx(), "t.xlsx").code == "empty"


@pytest.mark.slow
def test_a_workbook_of_names_only_is_refused(tmp_path):
    assert refused(tmp_path, xlsx(["a", "b"]), "t.xlsx").code == "no-rows"


@pytest.mark.slow
def test_a_cell_beyond_the_named_columns_is_named(tmp_path):
    fault = refused(tmp_path, xlsx(["a", "b"], [1, 2], [1, 2, SECRET]), "t.xlsx")
    assert (fault.code, fault.row, fault.column) == ("ragged", 3, 3)


def sheet_replaced(part: str, content: bytes) -> bytes:
    """A workbook with one of its parts exchanged."""
    file = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(xlsx(["a"], [1]))) as old, zipfile.ZipFile(file, "w", 8) as new:
        for name in old.namelist():
            new.writestr(name, content if name == part else old.read(name))
    return file.getvalue()


@pytest.mark.slow
def test_a_workbook_that_unfolds_to_gigabytes_is_refused_by_its_directory(tmp_path):
    start = b'<worksheet xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"><sheetData>'
    bomb = sheet_replaced("xl/worksheets/sheet1.xml", start + b" " * 200_000_000)
    assert len(bomb) < 300_000
    assert refused(tmp_path, bomb, "t.xlsx").code == "unfolds"


@pytest.mark.slow
def test_a_workbook_whose_directory_lies_about_sizes_is_refused(tmp_path):
    start = b'<worksheet xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"><sheetData>'
    content = start + b" " * 50_000_000
    honest = sheet_replaced("xl/worksheets/sheet1.xml", content)
    lying = honest.replace(len(content).to_bytes(4, "little"), (5000).to_bytes(4, "little"))
    assert lying != honest
    assert refused(tmp_path, lying, "t.xlsx").code == "damaged"


@pytest.mark.slow
def test_a_workbook_with_an_entity_bomb_is_refused(tmp_path):
    lol = b'<!DOCTYPE x [<!ENTITY a "' + b"lol" * 1000 + b'"><!ENTITY b "' + b"&a;" * 1000 + b'">]>'
    sheet = (
        lol + b'<worksheet xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main">&b;</worksheet>'
    )
    assert refused(tmp_path, sheet_replaced("xl/worksheets/sheet1.xml", sheet), "t.xlsx").code == "damaged"


@pytest.mark.slow
def test_a_workbook_row_far_below_the_sheet_is_refused(tmp_path):
    sheet = (
        b'<worksheet xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"><sheetData>'
        b'<row r="1"><c r="A1"><v>1</v></c></row><row r="900000000"><c r="A900000000"><v>1</v></c></row>'
        b"</sheetData></worksheet>"
    )
    assert refused(tmp_path, sheet_replaced("xl/worksheets/sheet1.xml", sheet), "t.xlsx").code == "unfolds"


SHEET = b'<worksheet xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"><sheetData>%s</sheetData></worksheet>'
TABLE = (
    b'<row r="1"><c r="A1" t="inlineStr"><is><t>age</t></is></c></row><row r="2"><c r="A2"><v>7</v></c></row>'
)


def sheet(rows: bytes) -> bytes:
    return sheet_replaced("xl/worksheets/sheet1.xml", SHEET % (TABLE + rows))


def read(folder: Path, content: bytes, seconds: float) -> tuple[int, int]:
    """Rows and blank rows of a workbook that must be read within that time."""
    (folder / "upload").write_bytes(content)
    limits = Limits(seconds=seconds)
    facts = convert(folder / "upload", folder / "table.parquet", "t.xlsx", limits=limits)
    return facts.rows, facts.oddities.blank_rows


@pytest.mark.slow
def test_a_sheet_that_is_formatted_to_its_end_is_read(tmp_path):
    """Less than a megabyte of nothing once kept a worker busy for minutes."""
    blank = b"".join(b'<row r="%d">%s</row>' % (number, b'<c s="1"/>' * 10) for number in range(3, 300_003))
    assert read(tmp_path, sheet(blank), 60) == (1, 0)


@pytest.mark.slow
def test_rows_of_sixteen_thousand_blank_cells_are_read(tmp_path):
    wide = (b'<row r="3">' + b"<c/>" * 16_000 + b"</row>") * 500
    assert read(tmp_path, sheet(wide), 60) == (1, 0)


@pytest.mark.slow
def test_blank_columns_far_away_are_no_columns(tmp_path):
    far = b'<row r="3"><c r="A3"><v>8</v></c><c r="XFD3" s="1"/></row>'
    assert read(tmp_path, sheet(far), 60) == (2, 0)


@pytest.mark.slow
def test_a_value_in_a_column_far_away_is_refused(tmp_path):
    far = b'<row r="3"><c r="XFD3"><v>8</v></c></row>'
    assert refused(tmp_path, sheet(far), "t.xlsx").code == "columns"


@pytest.mark.slow
@pytest.mark.parametrize("row", [b"<row/>", b'<row r="3"/>'])
def test_more_rows_than_a_sheet_can_have_are_refused_however_they_are_numbered(tmp_path, row):
    assert "more rows than a sheet can have" in refused(tmp_path, sheet(row * 1_100_000), "t.xlsx").message


@pytest.mark.slow
def test_cells_without_an_address_follow_the_blank_ones_before_them(tmp_path):
    head = (
        b'<row r="1">'
        + b"".join(b'<c t="inlineStr"><is><t>%s</t></is></c>' % n for n in (b"a", b"b", b"c", b"d"))
        + b"</row>"
    )
    row = b'<row r="2"><c r="B2" s="1"/><c/><c><v>4</v></c></row><row><c/><c><v>2</v></c></row>'
    (tmp_path / "upload").write_bytes(sheet_replaced("xl/worksheets/sheet1.xml", SHEET % (head + row)))
    convert(tmp_path / "upload", tmp_path / "table.parquet", "t.xlsx")
    assert first_rows(tmp_path / "table.parquet") == [[None, None, None, "4"], [None, "2", None, None]]


def test_of_a_fault_that_nobody_foresaw_its_class_and_the_last_own_line_are_known(tmp_path):
    """A column's name that is no UTF-8, which the library meets with an error of Python's own."""
    content = parquet(pa.table({"colour": ["red"]}), store_schema=False).replace(b"colour", b"colou\xff")
    fault = refused(tmp_path, content, "t.parquet")
    place = re.fullmatch(r"UnicodeDecodeError at (\w+\.py):(\d+)", fault.origin)
    assert fault.code == "unforeseen" and place
    lines = (Path(import_worker.__file__).parent / place[1]).read_text().splitlines()
    assert "pq.ParquetFile(" in lines[int(place[2]) - 1]


def test_a_fault_passes_between_processes():
    fault = UploadFault("ragged", "Row 3 is too long.", row=3, column=2)
    assert pickle.loads(pickle.dumps(fault)).to_json() == fault.to_json()
