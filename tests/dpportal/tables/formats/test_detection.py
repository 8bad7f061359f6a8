"""The format of a file: of an upload its content says it; of a further file no row does."""

from __future__ import annotations

import bz2
import gzip
import hashlib
import io
import lzma
import struct
import time
import zipfile
import zlib
from functools import partial
from pathlib import Path

import pyarrow as pa
import pytest

from dpportal.tables import UploadFault
from dpportal.tables.formats import FORMATS, TEXT, detection
from dpportal.tables.formats.detection import detect_format
from dpportal.tables.formats.parquet import Parquet
from tests.dpportal.tables.formats.small_files import file_of

TABLE = pa.table({"colour": ["red"]})
further_format = partial(detection.further_format, has_names=True)


def written(folder: Path, content: bytes) -> Path:
    (folder / "file").write_bytes(content)
    return folder / "file"


# What a person's row, or a column's name, can begin with; and the letters of every format, as in “ORCID” those of ORC.
BEGINNINGS = [
    *[known.beginning + b"ID" for known in FORMATS if known.beginning.isalnum()],
    b"PK17",
    b"PKEY",
    b"PAR1",
    b"PAR1S",
    b"FEA1",
    b"ARROW1",
    b"BZh",
    b"BZh91",
    b"%PDF-",
    b"%PDF-1,7",
    b"SQLite format 3",
    b"7z",
]


@pytest.mark.parametrize("beginning", BEGINNINGS)
def test_a_table_of_text_may_begin_with_the_letters_of_another_format(tmp_path, beginning):
    found = detect_format(written(tmp_path, beginning + b",red\n"), "table.csv")
    assert found is TEXT, f"{found.name}: its `recognises` must look for more than letters"


# What a packed file begins with, and a row of a hostile one could.
MARKS = [
    *[b"PK\x03\x04", b"PK\x05\x06", b"PAR1\x15", b"ARROW1\0\0", b"\x1f\x8b", b"\xfd7zXZ\0", b"7z\xbc\xaf"],
    *[b"BZh91AY&SY", b"%PDF-1.7 ", b"\x89PNG", b"\xff\xd8\xff", b"SQLite format 3\0", b"FEA1\0\0\0\0"],
    *[b"\x28\xb5\x2f\xfd", b"\xd0\xcf\x11\xe0"],
]


@pytest.mark.parametrize("mark", MARKS)
def test_of_an_upload_the_mark_says_what_it_is(tmp_path, mark):
    """So the marks are those that the test below needs."""
    source = written(tmp_path, mark + b",red\n")
    try:
        assert detect_format(source, "table.csv") is not TEXT
    except UploadFault as fault:
        assert fault.code in ("foreign", "damaged")


@pytest.mark.parametrize("mark", MARKS + BEGINNINGS)
@pytest.mark.parametrize("name", ["p1.csv", "p1.TXT", "p1", "p1.2024"])
def test_the_first_row_of_a_further_file_decides_nothing(tmp_path, mark, name):
    rows = mark + b",red\n" + b"x,blue\n" + b"x,PAR1"
    assert further_format(written(tmp_path, rows), name, "csv").name == "csv"


@pytest.mark.parametrize("known", FORMATS, ids=lambda known: known.name)
@pytest.mark.parametrize("name", ["p1", "p1.unknown", "own"])
def test_a_further_file_is_what_its_name_says_else_what_the_dataset_is(tmp_path, known, name):
    source = written(tmp_path, file_of(known, TABLE))
    if name == "own":
        assert further_format(source, f"p1{known.endings[0]}", "csv") is known
    else:
        assert further_format(source, name, known.name) is known


@pytest.mark.parametrize("beginning", [b"red,1\n", b"PAR1,1\n", b"PK\x03\x04,1\n", b"ARROW1,1\n"])
@pytest.mark.parametrize("ending", [known.endings[0] for known in FORMATS if known.beginning])
def test_text_under_the_name_of_a_packed_file_is_refused_whatever_its_rows(tmp_path, beginning, ending):
    with pytest.raises(UploadFault) as caught:
        further_format(written(tmp_path, beginning), f"p1{ending}", "csv")
    assert caught.value.code in ("mismatch", "damaged")


def archive() -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as packed:
        packed.writestr("p1.csv", "colour\nred\n")
    return file.getvalue()


def seven_zip(packed: bytes, directory: bytes) -> bytes:
    """An archive's outside, by the description of the format."""
    start = struct.pack("<QQI", len(packed), len(directory), zlib.crc32(directory))
    return b"7z\xbc\xaf\x27\x1c\0\4" + struct.pack("<I", zlib.crc32(start)) + start + packed + directory


# Longer than any row, of texts that do not pack.
LONG = b"".join(b"%d,%s\n" % (i, hashlib.sha256(b"%d" % i).digest().hex().encode()) for i in range(70_000))
PACKED = {
    "gzip": gzip.compress(b"red\nblue\n"),
    "two of gzip": gzip.compress(b"red\n") + gzip.compress(b"blue\n"),
    "zstd": pa.compress(b"red\nblue\n", "zstd", asbytes=True),
    "two of zstd": pa.compress(b"red\n", "zstd", asbytes=True) + pa.compress(b"blue\n", "zstd", asbytes=True),
    "7-Zip of nothing": bytes.fromhex("377abcaf271c00048d9bd50f") + bytes(20),
    "7-Zip": seven_zip(b"red", b"described here"),
    "a long one of gzip": gzip.compress(LONG, 1)[:-9],
    "bzip2": bz2.compress(b"red\nblue\n"),
    "xz": lzma.compress(b"red\nblue\n"),
    "zip": archive(),
    **{known.titles[0]: file_of(known, TABLE) for known in FORMATS if known.closing},
}


@pytest.mark.parametrize("packed", PACKED)
@pytest.mark.parametrize("name", ["p1.csv", "p1"])
def test_a_further_file_of_text_that_is_packed_is_refused_as_a_whole(tmp_path, packed, name):
    with pytest.raises(UploadFault, match="Nothing was counted") as caught:
        further_format(written(tmp_path, PACKED[packed]), name, "csv")
    assert caught.value.code == "mismatch"


@pytest.mark.parametrize("packed", sorted(PACKED.keys() - {"a long one of gzip"}))
def test_a_row_that_is_packed_does_not_refuse_the_others(tmp_path, packed):
    """Whether it is the first or the last."""
    one = PACKED[packed]
    for rows in ([one, b"red"], [b"red", one]):
        assert further_format(written(tmp_path, b"\n".join(rows)), "p1.csv", "csv").name == "csv"


@pytest.mark.parametrize("packed", PACKED)
def test_without_a_line_of_names_no_first_row_decides_on_the_others(tmp_path, packed):
    """What covers all that follows, as a block of zstd that holds them as they are, can be a person's row."""
    source = written(tmp_path, PACKED[packed])
    assert detection.further_format(source, "p1.csv", "csv", has_names=False).name == "csv"


@pytest.mark.slow
def test_a_bomb_is_looked_at_for_seconds_alone(tmp_path):
    """Half a gigabyte of zeros in two kilobytes unfolds no farther than is bound, and is taken for text as before."""
    begun = time.process_time()
    bomb = bz2.compress(bytes(2**22)) * 128
    assert further_format(written(tmp_path, bomb), "p1.csv", "csv").name == "csv"
    assert time.process_time() - begun < 10


def test_archives_of_nothing_are_archives(tmp_path):
    file = io.BytesIO()
    zipfile.ZipFile(file, "w").close()
    for content in (file.getvalue(), bz2.compress(b"")):
        with pytest.raises(UploadFault) as caught:
            detect_format(written(tmp_path, content), "table.csv")
        assert caught.value.code == "foreign"


def test_a_parquet_file_whose_first_page_is_elsewhere_is_one(tmp_path):
    """The footer says where pages lie, so anything may come first."""
    assert (
        detect_format(written(tmp_path, b"PAR1\0\0\0\0" + file_of(Parquet(), TABLE)[4:]), "t").name
        == "parquet"
    )
