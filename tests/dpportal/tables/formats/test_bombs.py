"""Small files that stand for very much: each is refused in seconds, or read as fast as a file that is worth it."""

from __future__ import annotations

import io
import resource
import struct
import zipfile
from dataclasses import replace
from pathlib import Path
from xml.parsers.expat import ExpatError

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from openpyxl.reader.strings import read_string_table

from dpportal.tables import Limits, UploadFault, convert, first_rows
from dpportal.tables.formats.archives import MOST_DIRECTORY_BYTES, parts_of
from dpportal.tables.formats.number_fields import number_fields
from dpportal.tables.formats.parquet_text import Texts, as_text
from dpportal.tables.formats.shared_strings import UNUSED, read_shared_strings
from dpportal.tables.formats.sheet_parser import MostCells, SheetParser
from tests.dpportal.tables.test_bad_files import SHEET, TABLE, sheet, sheet_replaced

MEGABYTE = 2**20
SECONDS = 3.0
STRINGS = b'<sst xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main">%s</sst>'
STRINGS_TYPE = (
    b'<Override PartName="/xl/sharedStrings.xml" '
    b'ContentType="application/vnd.openxmlformats-officedocument.spreadsheetml.sharedStrings+xml"/></Types>'
)


def fault_of(folder: Path, name: str, limits: Limits | None = None) -> UploadFault:
    """How the file `upload` is refused, within SECONDS of the processor."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    with pytest.raises(UploadFault) as caught:
        convert(folder / "upload", folder / "table.parquet", name, limits=limits)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    assert after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime < SECONDS
    return caught.value


def workbook_of_strings(strings: bytes, rows: bytes = TABLE) -> bytes:
    file = io.BytesIO()
    content = sheet_replaced("xl/worksheets/sheet1.xml", SHEET % rows)
    with zipfile.ZipFile(io.BytesIO(content)) as old, zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as new:
        for name in old.namelist():
            new.writestr(name, old.read(name).replace(b"</Types>", STRINGS_TYPE))
        new.writestr("xl/sharedStrings.xml", STRINGS % strings)
    return file.getvalue()


def with_large_end(content: bytes, length: int, last_length: int) -> bytes:
    """An archive with the further records of a large one. length: of its directory, as they say it; last_length: as
    the last record does."""
    end = content.rfind(b"PK\5\6")
    place = int.from_bytes(content[end + 16 : end + 20], "little")
    entries = int.from_bytes(content[end + 10 : end + 12], "little")
    record = b"PK\6\6" + struct.pack("<QHHLLQQQQ", 44, 45, 45, 0, 0, entries, entries, length, place)
    locator = b"PK\6\7" + struct.pack("<LQL", 0, end, 1)
    last = content[end : end + 12] + struct.pack("<L", last_length) + content[end + 16 :]
    return content[:end] + record + locator + last


@pytest.mark.slow
@pytest.mark.parametrize(
    ("values", "options"),
    [
        (np.arange(6_000_000), {"column_encoding": {"x": "DELTA_BINARY_PACKED"}, "use_dictionary": False}),
        (np.full(6_000_000, True), {}),
        (np.full(6_000_000, 0.12345678901234567), {}),
        (np.full(1_500_000, "2020-02-29T12:30:15", "M8[us]"), {}),
        (
            ["x" * 10_000] * 3_000,
            {"column_encoding": {"x": "DELTA_BYTE_ARRAY"}, "use_dictionary": False},
        ),
        (
            ["x" * 10_000] * 3_000,
            {
                "column_encoding": {"x": "DELTA_LENGTH_BYTE_ARRAY"},
                "use_dictionary": False,
                "compression": "zstd",
            },
        ),
    ],
    ids=["integers", "booleans", "fractions", "moments", "shared beginnings", "lengths"],
)
def test_a_small_parquet_file_of_very_many_values_is_refused(tmp_path, values, options):
    pq.write_table(pa.table({"x": values}), tmp_path / "upload", **options)
    assert (tmp_path / "upload").stat().st_size < 200_000
    fault = fault_of(tmp_path, "t.parquet", Limits(unfolded_bytes=20 * MEGABYTE))
    assert fault.code == "unfolds"
    assert "CSV" in fault.message


@pytest.mark.slow
def test_a_workbook_of_far_more_strings_than_cells_is_refused(tmp_path):
    (tmp_path / "upload").write_bytes(workbook_of_strings(b"<si/>" * (UNUSED + 100_000)))
    fault = fault_of(tmp_path, "t.xlsx")
    assert fault.code == "unfolds"
    assert "more texts than cells" in fault.message


@pytest.mark.slow
def test_a_string_of_very_many_runs_is_read_in_one_pass(tmp_path):
    rows = TABLE + b'<row r="3"><c r="A3" t="s"><v>0</v></c></row>'
    runs = b"<si>%s</si>" % (b"<r><t>ab</t></r>" * 300_000)
    (tmp_path / "upload").write_bytes(workbook_of_strings(runs, rows))
    before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
    convert(tmp_path / "upload", tmp_path / "table.parquet", "t.xlsx")
    assert first_rows(tmp_path / "table.parquet") == [["7"], ["ab" * 300_000]]
    assert resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before < SECONDS


@pytest.mark.parametrize(
    "strings",
    [
        b"<si><t>a</t></si><si/><si><t/></si><si><t xml:space='preserve'> b </t></si>",
        b"<si><r><rPr><b/></rPr><t>a</t></r><r><t>b</t></r></si>",
        b"<si><t>a</t><rPh sb='0' eb='1'><t>pronounced</t></rPh><phoneticPr fontId='1'/></si>",
        b"<si><t>_x005F_x000D_ &lt;b&gt; &#228;&#10;c</t></si>",
        b"<other><t>nothing</t><si><t>inside</t></si></other>",
        b"<si><t>before<x>in</x>after</t></si>",
        b"<si><r><t>run</t></r><t>plain</t><t>last</t></si>",
        b"<si xmlns='elsewhere'><t>none</t></si>",
    ],
)
def test_shared_strings_are_read_as_the_library_reads_them(strings):
    content = STRINGS % strings
    assert read_shared_strings(io.BytesIO(content), 0) == read_string_table(io.BytesIO(content))


def test_strings_with_entities_of_their_own_or_without_an_end_are_no_strings():
    with pytest.raises(ValueError):
        read_shared_strings(io.BytesIO(b"<!DOCTYPE sst><sst/>"), 0)
    with pytest.raises(ExpatError):
        read_shared_strings(io.BytesIO((STRINGS % b"<si><t>a</t></si>")[:-5]), 0)


@pytest.mark.slow
def test_a_small_workbook_of_very_many_cells_is_refused(tmp_path, monkeypatch):
    from dpportal.tables.formats import xlsx_table
    from dpportal.tables.formats.reader import Reading
    from dpportal.tables.meaning.parse_options import ReadOptions

    monkeypatch.setattr(xlsx_table, "MOST_CELLS", 10_000)
    (tmp_path / "upload").write_bytes(sheet(b"<row><c><v>1</v></c></row>" * 200_000))
    reading = Reading(
        tmp_path / "upload", tmp_path / "t", "t.xlsx", ReadOptions(), Limits(), lambda share: None
    )
    with pytest.raises(UploadFault, match=r"more than .* cells, far more than a table") as caught:
        xlsx_table.unpack_xlsx(reading, tmp_path / "sheet.csv")
    assert caught.value.code == "unfolds"


@pytest.mark.parametrize("blank", [b"<c/>", b"<c><v/></c>", b"<x/>", b'<c r="A1" s="1"/>'])
def test_a_workbook_of_very_many_empty_cells_is_refused_before_they_are_read(tmp_path, monkeypatch, blank):
    from dpportal.tables.formats import plain_rows, sheet_parser, xlsx_table
    from dpportal.tables.formats.reader import Reading
    from dpportal.tables.meaning.parse_options import ReadOptions

    monkeypatch.setattr(xlsx_table, "MOST_BLANK", 1_000)
    monkeypatch.setattr(sheet_parser, "PIECE_BYTES", 1_000)
    monkeypatch.setattr(plain_rows, "MOST_HELD", 1_000)
    read, begin = [], sheet_parser.SheetParser._begin
    monkeypatch.setattr(
        sheet_parser.SheetParser, "_begin", lambda self, *said: (read.append(1), begin(self, *said))
    )
    (tmp_path / "upload").write_bytes(sheet(b"<row>%s</row>" % (blank * 40_000)))
    reading = Reading(
        tmp_path / "upload", tmp_path / "t", "t.xlsx", ReadOptions(), Limits(), lambda share: None
    )
    with pytest.raises(UploadFault, match=r"more than .* empty cells.*save the table as CSV") as caught:
        xlsx_table.unpack_xlsx(reading, tmp_path / "sheet.csv")
    assert caught.value.code == "unfolds" and len(read) < 40_000


def test_what_follows_a_last_empty_cell_is_not_taken_for_its_content():
    parser = SheetParser(
        io.BytesIO(
            b'<worksheet xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"><sheetData><row>'
            b'<c><v>1</v></c><c s="1"/></row></sheetData><mergeCells><mergeCell ref="A1:B1"/></mergeCells></worksheet>'
        ),
        [],
        data_only=True,
        most=MostCells(10, 10),
    )
    [(_number, cells)] = parser.parse()
    assert len(cells) == 1 and parser.merged.total() == 1


@pytest.mark.parametrize("last_length", [1_000, 2**32 - 1])
def test_a_directory_is_as_long_as_a_large_archive_s_record_says(tmp_path, last_length):
    content = with_large_end(sheet(b""), MOST_DIRECTORY_BYTES + 1, last_length)
    (tmp_path / "upload").write_bytes(content)
    with pytest.raises(UploadFault, match="many thousand parts"):
        parts_of(tmp_path / "upload")


def test_a_small_archive_with_the_records_of_a_large_one_is_read(tmp_path):
    content = sheet(b"")
    end = content.rfind(b"PK\5\6")
    length = int.from_bytes(content[end + 12 : end + 16], "little")
    (tmp_path / "upload").write_bytes(with_large_end(content, length, 2**32 - 1))
    assert "xl/workbook.xml" in {part.filename for part in parts_of(tmp_path / "upload")}


def test_texts_of_a_dictionary_are_those_of_its_rows_whichever_values_occur():
    different = pa.array(
        [b"a", b"\xff\xfe", b"b\r\nc", b"", None, b"never\nread\xff", b"a", b"\xef\xbf\xbd\xff"]
    )
    places = pa.array([0, 1, 1, 2, 3, None, 4, 6, 7, 2], pa.int32())
    encoded = pa.DictionaryArray.from_arrays(places, different)
    found, expected = as_text(encoded), as_text(different.take(places))
    assert found.texts.equals(expected.texts)
    assert replace(found, texts=None) == replace(expected, texts=None) == Texts(None, 5, 2, 3)


def test_a_number_s_fields_depend_on_it_alone_however_often_it_occurs():
    different = [0.1234567890123456, 0.12345678901234567, 1e300, 5e-324, -0.0, None, float("nan"), 1.5]
    array = pa.array(different * 3, pa.float64())
    fields = number_fields(array)
    for place, number in enumerate(array):
        alone = number_fields(pa.array([number.as_py()], pa.float64()))
        for part in ("texts", "otherwise", "numbers"):
            assert getattr(fields, part)[place] == getattr(alone, part)[0]
