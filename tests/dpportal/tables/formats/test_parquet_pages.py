"""Parquet files whose columns are one page each: how large these are, and that they are read as any other file."""

from __future__ import annotations

import datetime as dt
import io
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from dpportal.tables import Limits
from dpportal.tables.formats import parquet_table
from dpportal.tables.formats.column_files import cut
from dpportal.tables.formats.parquet import Parquet
from dpportal.tables.formats.parquet_pages import first_pages_bytes
from dpportal.tables.formats.reader import Reading
from dpportal.tables.meaning.parse_options import ReadOptions

ROWS = 50_000
NUMBERS = np.random.default_rng(1).random(ROWS)


def one_page_each(rows: int) -> dict[str, Any]:
    """How pyarrow is asked for a column of so many rows as one page."""
    sizes = ("row_group_size", "write_batch_size", "max_rows_per_page")
    return {"data_page_size": 2**31 - 1, **dict.fromkeys(sizes, rows)}


def size(content: bytes) -> int:
    source = io.BytesIO(content)
    footer = pq.ParquetFile(source).metadata
    source.seek(7)
    found = first_pages_bytes(source, footer)
    assert source.tell() == 7
    return found


def written(table: pa.Table, **options: Any) -> bytes:
    file = io.BytesIO()
    pq.write_table(table, file, **options)
    return file.getvalue()


@pytest.mark.parametrize("version", ["1.0", "2.0"])
def test_first_pages_say_how_much_memory_all_columns_take_together(version):
    plain = pa.table({"a": NUMBERS, "b": NUMBERS})
    options = {"use_dictionary": False, "compression": "none", "data_page_version": version}
    # Packed and unpacked, of 8 bytes each; with some bytes for which of them are missing.
    assert size(written(plain, **options, **one_page_each(ROWS))) == pytest.approx(2 * 2 * 8 * ROWS, rel=1e-3)
    assert size(written(plain, **options, max_rows_per_page=500)) == pytest.approx(2 * 2 * 8 * 500, rel=0.02)


def test_what_is_no_page_has_no_size():
    content = written(pa.table({"a": NUMBERS}), compression="none", use_dictionary=False)
    footer = pq.ParquetFile(io.BytesIO(content)).metadata
    for nonsense in (b"", b"\x15", b"\x15\x80" * 8, b"\xff" * 200):
        assert first_pages_bytes(io.BytesIO(nonsense), footer) == 0


def test_pieces_are_as_long_as_asked_however_they_came():
    arrays = [pa.array(range(start, stop)) for start, stop in ((0, 3), (3, 3), (3, 11), (11, 12))]
    assert [piece.to_pylist() for piece in cut(iter(arrays), 5)] == [
        [0, 1, 2, 3, 4],
        [5, 6, 7, 8, 9],
        [10, 11],
    ]
    shared = [pa.array(texts).dictionary_encode() for texts in (["a", "b"], ["c", None, "a"])]
    assert [piece.to_pylist() for piece in cut(iter(shared), 4)] == [["a", "b", "c", None], ["a"]]


@pytest.mark.parametrize("rows", [ROWS, 20_000, 0], ids=["one group", "groups", "no row"])
def test_a_file_read_by_columns_is_the_same_table(tmp_path: Path, monkeypatch, rows):
    table = pa.table(
        {
            "number": NUMBERS.round(3),
            "number.part": np.arange(ROWS),
            "shared": pa.array([["Bern", None, "Chur"][row % 3] for row in range(ROWS)]),
            "text": pa.array([f"note {row}" for row in range(ROWS)], pa.large_string()),
            "day": pa.array([dt.date(2020, 1, 1)] * ROWS),
            "nothing": pa.nulls(ROWS),
        }
    )[: rows or None].slice(0 if rows else ROWS)
    (tmp_path / "upload").write_bytes(written(table, **one_page_each(max(1, rows // 2))))
    reading = Reading(
        *(tmp_path / "upload", tmp_path / "t", "t.parquet", ReadOptions(), Limits(), lambda share: None),
        b"k" * 32,
    )
    facts = []
    for share in (1, -1):
        monkeypatch.setattr(parquet_table, "PAGES_SHARE", share)
        facts.append(Parquet().read(reading))
    assert facts[0] == facts[1] and facts[0].rows == rows
    assert {path.name for path in tmp_path.iterdir()} == {"upload", "t"}
