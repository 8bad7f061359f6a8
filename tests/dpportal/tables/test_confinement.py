"""What a reading process may have: what is resident counts, not what is reserved, and each end says what ran out."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
import zipfile
from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyarrow import csv

from dpportal.tables import Limits, UploadFault, convert
from dpportal.tables.formats.confinement import Confinement, Exhausted
from dpportal.tables.formats.detection import detect_format
from dpportal.tables.formats.import_process import _fault_of_death
from dpportal.tables.formats.xlsx_table import _check_parts
from tests.dpportal.tables.formats.test_parquet_pages import one_page_each
from tests.dpportal.tables.test_bad_files import SHEET, TABLE, sheet_replaced

pytestmark = pytest.mark.slow

MEGABYTE = 2**20
# The interpreter, the libraries and one piece of a file for each of two threads.
SMALL = Limits(memory_bytes=330 * MEGABYTE)
RESERVING = (
    "import mmap, time; held = mmap.mmap(-1, 2**34, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS); time.sleep(.3)"
)
FILLING = "held = []\nwhile True: held.append(bytearray(b'x') * 2**20)"


def ended_by(folder: Path, program: str, limits: Limits) -> Exhausted | None:
    process = subprocess.Popen([sys.executable, "-c", program])
    with Confinement(process, folder, limits).held() as confinement:
        process.wait()
    return confinement.exhausted


def fault_of(source: Path, name: str, limits: Limits) -> UploadFault:
    with pytest.raises(UploadFault) as caught:
        convert(source, source.with_name("table.parquet"), name, limits=limits)
    return caught.value


def test_memory_that_is_reserved_and_holds_nothing_does_not_count(tmp_path):
    assert ended_by(tmp_path, RESERVING, Limits(memory_bytes=100 * MEGABYTE)) is None


def test_a_process_ends_that_fills_its_memory(tmp_path):
    assert ended_by(tmp_path, FILLING, Limits(memory_bytes=100 * MEGABYTE)) is Exhausted.MEMORY


def test_a_file_is_read_as_often_as_one_likes_in_little_more_than_the_libraries_take(tmp_path):
    """The engine reserves half as much again, the more the longer it reads."""
    (tmp_path / "upload").write_text(
        "person,age\n" + "".join(f"{7919 * row % 1_000_003},{row % 90}.{row % 7}\n" for row in range(300_000))
    )
    for _ in range(3):
        assert convert(tmp_path / "upload", tmp_path / "t", "t.csv", limits=SMALL).rows == 300_000


def test_a_file_of_twenty_times_the_memory_is_read_three_times_in_a_row(tmp_path):
    """Few different texts, so that the file is quickly made: whoever holds its rows' texts needs 6.9 GB."""
    texts = pa.array([str(digit) * 2_000 for digit in range(10)])
    codes = pa.array([row % 10 for row in range(100_000)], pa.int8())
    batch = pa.record_batch([pa.DictionaryArray.from_arrays(codes, texts)], names=["note"])
    with pq.ParquetWriter(tmp_path / "upload", batch.schema) as writer:
        for _ in range(35):
            writer.write_batch(batch)
    rows = 35 * len(batch)
    assert 2_000 * rows > 20 * SMALL.memory_bytes
    limits = replace(SMALL, unfolded_bytes=2**40)
    for _ in range(3):
        assert convert(tmp_path / "upload", tmp_path / "t", "t.parquet", limits=limits).rows == rows


@pytest.mark.parametrize("by_dictionary", [True, False], ids=["as long as it fits", "without a dictionary"])
def test_texts_that_all_differ_take_no_more_memory_the_more_there_are(tmp_path, by_dictionary):
    """An identifier of each row: whoever holds them all, or a dictionary of them, needs twice the bound."""
    names = pa.array([f"{row:036d}" for row in range(800_000)])
    pq.write_table(pa.table({"person": names}), tmp_path / "upload", use_dictionary=by_dictionary)
    assert convert(tmp_path / "upload", tmp_path / "t", "t.parquet", limits=SMALL).rows == len(names)


@pytest.mark.parametrize(("name", "lines"), [("t.csv", 40), ("t.parquet", 100)])
def test_long_texts_take_no_more_memory_the_more_there_are(tmp_path, name, lines):
    """Notes of thousands of letters, of which no two are alike, in lines that say nothing of how long a row is."""
    notes = pa.table({"note": [(f"{row:06d}\n" + "x" * 93) * lines for row in range(40_000)]})
    if name == "t.csv":
        csv.write_csv(notes, tmp_path / "upload")
    else:
        pq.write_table(notes, tmp_path / "upload")
    limits = Limits(unfolded_bytes=2**40, threads=1)
    assert convert(tmp_path / "upload", tmp_path / "t", name, limits=limits).rows == len(notes)


def test_columns_of_one_page_each_take_the_memory_of_one_of_them(tmp_path):
    """As fastparquet writes a table of any length: 144 MB of pages, packed and unpacked, where one column has 24."""
    rows, random = 1_500_000, np.random.default_rng(1)
    numbers = pa.table({f"x{place}": random.random(rows).round(6) for place in range(6)})
    pq.write_table(numbers, tmp_path / "upload", use_dictionary=False, **one_page_each(rows))
    assert convert(tmp_path / "upload", tmp_path / "t", "t.parquet", limits=SMALL).rows == rows


def test_rows_as_long_as_they_may_be_are_read_few_at_a_time(tmp_path):
    """250 rows of 1.9 MB, of which no two are alike."""
    texts = pa.table({"text": [f"{row:03d} " + "x" * 1_900_000 for row in range(250)]})
    pq.write_table(texts, tmp_path / "upload", use_dictionary=False, write_batch_size=1)
    limits = Limits(unfolded_bytes=2**40, memory_bytes=800 * MEGABYTE)
    assert convert(tmp_path / "upload", tmp_path / "t", "t.parquet", limits=limits).rows == 250


def test_a_disk_that_fills_ends_the_reading_and_is_named(tmp_path):
    (tmp_path / "upload").write_bytes(b"n,t\n" + b"1,x\n" * 1_000_000)
    fault = fault_of(tmp_path / "upload", "t.csv", Limits(free_bytes=2**62))
    assert fault.code == "disk"
    assert "disk" in fault.message


@pytest.mark.parametrize(
    ("code", "exhausted", "says"),
    [
        (-signal.SIGKILL, Exhausted.MEMORY, "memory that reading one file may use"),
        (-signal.SIGKILL, Exhausted.TIME, "longer than"),
        (-signal.SIGKILL, Exhausted.DISK, "disk was nearly full"),
        (-signal.SIGKILL, None, "machine's memory was used up"),
        (-signal.SIGXCPU, None, "longer than"),
        (-signal.SIGSEGV, None, "damaged"),
    ],
)
def test_a_fault_says_what_ran_out(code, exhausted, says):
    assert says in _fault_of_death(code, exhausted, Limits()).message


def test_more_is_read_from_a_file_the_larger_it_is():
    assert Limits().unfolded_from(MEGABYTE) == 2**28
    assert Limits().unfolded_from(8 * 2**30) == 800 * 2**30


def test_a_workbook_of_a_few_kilobytes_with_millions_of_cells_gives_up_at_once(tmp_path):
    row = b"<row>%s</row>" % (b"<c><v>1</v></c>" * 30)
    (tmp_path / "upload").write_bytes(
        sheet_replaced("xl/worksheets/sheet1.xml", SHEET % (TABLE + row * 80_000))
    )
    assert (tmp_path / "upload").stat().st_size < 200_000
    started = time.process_time()
    fault = fault_of(tmp_path / "upload", "t.xlsx", Limits(unfolded_bytes=20 * MEGABYTE))
    assert fault.code == "unfolds"
    assert "CSV" in fault.message
    assert time.process_time() - started < 5


def test_a_parquet_file_of_nothing_often_enough_gives_up_at_once(tmp_path):
    pq.write_table(pa.table({"nothing": pa.nulls(25_000_000)}), tmp_path / "upload")
    assert (tmp_path / "upload").stat().st_size < 100_000
    assert fault_of(tmp_path / "upload", "t", Limits(unfolded_bytes=20 * MEGABYTE)).code == "unfolds"


@pytest.mark.parametrize(
    ("part", "begin", "repeated"),
    [
        ("xl/styles.xml", b"<styleSheet><cellXfs>", b"<xf/>"),
        ("xl/workbook.xml", b"<workbook><sheets>", b'<sheet name="a" sheetId="1"/>'),
        ("xl/_rels/workbook.xml.rels", b"<Relationships>", b'<Relationship Id="a" Target="c"/>'),
    ],
)
def test_a_workbook_of_styles_names_or_references_without_end_gives_up_before_it_reads_them(
    tmp_path, part, begin, repeated
):
    (tmp_path / "upload").write_bytes(sheet_replaced(part, begin + repeated * (3 * 2**20 // len(repeated))))
    with pytest.raises(UploadFault) as caught:
        _check_parts(tmp_path / "upload", Limits())
    assert caught.value.code == "unfolds"
    assert "new workbook" in caught.value.message


def test_an_archive_of_many_thousand_parts_gives_up_by_its_directory_s_length(tmp_path):
    with zipfile.ZipFile(tmp_path / "upload", "w") as archive:
        for number in range(40):
            archive.writestr(f"{number:>030000}", b"")
    with pytest.raises(UploadFault) as caught:
        detect_format(tmp_path / "upload", "t.xlsx")
    assert caught.value.code == "unfolds"
    assert "CSV" in caught.value.message


def test_a_parquet_file_of_long_texts_as_differences_gives_up_at_once(tmp_path):
    table = pa.table({"text": ["x" * 2**20] * 500})
    deltas = {"text": "DELTA_BYTE_ARRAY"}
    pq.write_table(table, tmp_path / "upload", use_dictionary=False, column_encoding=deltas)
    assert (tmp_path / "upload").stat().st_size < 2**20
    assert fault_of(tmp_path / "upload", "t", SMALL).code == "memory"
