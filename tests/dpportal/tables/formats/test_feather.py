"""Feather files mean what Parquet files of the same columns mean, and unfold no further."""

from __future__ import annotations

import datetime as dt
import io
from decimal import Decimal

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from dpportal.tables import Limits, ReadOptions, UploadFault, first_rows
from dpportal.tables.formats import Reading
from dpportal.tables.formats.import_worker import convert_here

TABLE = pa.table(
    {
        "whole": pa.array([7, None, -3], pa.int16()),
        "real": [0.5, 3.0, None],
        "exact": pa.array([Decimal("1.50"), None, Decimal("-0.25")], pa.decimal128(9, 2)),
        "text": ["a", "", "b\r\nc"],
        "long": pa.array(["é", None, "x"], pa.large_string()),
        "seen": pa.array(["é", None, "x"], pa.string_view()),
        "kind": pa.array(["one", "two", "one"]).dictionary_encode(),
        "raw": pa.array([b"\xff1", b"2", None]),
        "day": pa.array([dt.date(2020, 2, 29), None, dt.date(1999, 12, 31)]),
        "truth": [True, None, False],
        "nothing": pa.nulls(3),
    }
)


def feather(table: pa.Table, compression: str | None = None) -> bytes:
    file = io.BytesIO()
    options = pa.ipc.IpcWriteOptions(compression=compression)
    with pa.ipc.new_file(file, table.schema, options=options) as writer:
        writer.write_table(table, max_chunksize=2 if table.num_rows < 10 else None)
    return file.getvalue()


def read(folder, content: bytes, name: str, limits: Limits | None = None):
    """The facts and rows of a file that is read in this process."""
    source, target = folder / "upload", folder / "table.parquet"
    source.write_bytes(content)
    facts = convert_here(
        Reading(source, target, name, ReadOptions(), limits or Limits(), lambda share: None, bytes(32))
    )
    return facts, first_rows(target, 100)


@pytest.mark.parametrize("compression", [None, "lz4", "zstd"])
def test_a_feather_file_is_read_as_the_parquet_file_of_the_same_table(tmp_path, compression):
    file = io.BytesIO()
    pq.write_table(TABLE, file)
    parquet, rows = read(tmp_path, file.getvalue(), "t.parquet")
    facts, same = read(tmp_path, feather(TABLE, compression), "t.feather")
    assert facts.format == "feather"
    assert same == rows
    assert (facts.content_digest, facts.sketch) == (parquet.content_digest, parquet.sketch)
    assert (facts.columns, facts.options, facts.oddities) == (
        parquet.columns,
        parquet.options,
        parquet.oddities,
    )


def broken_offsets() -> bytes:
    """The second text begins a gigabyte behind the first."""
    offsets = pa.py_buffer(b"".join(place.to_bytes(4, "little") for place in (0, 2**30, 2)))
    texts = pa.Array.from_buffers(pa.string(), 2, [None, offsets, pa.py_buffer(b"ab")])
    return feather(pa.table({"t": texts}))


@pytest.mark.parametrize(
    ("content", "code"),
    [
        (lambda: feather(TABLE)[:-40], "damaged"),
        (broken_offsets, "damaged"),
        (lambda: feather(pa.table({"nested": [[1], [2]]})), "nested"),
        (lambda: feather(pa.table({"t": ["a\0b"]})), "binary"),
        (lambda: feather(pa.table({"nothing": pa.nulls(2**24)})), "unfolds"),
        (lambda: feather(pa.table({"n": pa.array(np.zeros(2**22, np.int8))}), "zstd"), "unfolds"),
    ],
    ids=["cut", "offsets", "nested", "nul", "nulls", "zeros"],
)
def test_a_feather_file_that_cannot_be_read_is_refused(tmp_path, content, code):
    with pytest.raises(UploadFault) as caught:
        read(tmp_path, content(), "t.feather", Limits(unfolded_bytes=2**22))
    assert caught.value.code == code
