"""Feather files mean what Parquet files of the same columns mean, and unfold no further."""

from __future__ import annotations

import datetime as dt
import io
from decimal import Decimal

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from dpportal.tables import Limits, ReadOptions, UploadFault, convert, first_rows
from dpportal.tables.formats import Reading, feather_table
from dpportal.tables.formats.import_worker import convert_here
from dpportal.tables.meaning.parse_options import MAX_LINE_BYTES

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


def written(table: pa.Table, compression: str | None = None) -> bytes:
    file = io.BytesIO()
    options = pa.ipc.IpcWriteOptions(compression=compression)
    with pa.ipc.new_file(file, table.schema, options=options) as writer:
        writer.write_table(table, max_chunksize=2 if table.num_rows < 10 else None)
    return file.getvalue()


def read(folder, content: bytes, name: str, limits: Limits | None = None, *, further_columns: int = 0):
    """The facts and rows of a file that is read in this process."""
    source, target = folder / "upload", folder / "table.parquet"
    source.write_bytes(content)
    limits = limits or Limits()
    reading = Reading(
        source, target, name, ReadOptions(), limits, lambda share: None, bytes(32), further_columns
    )
    return convert_here(reading), first_rows(target, 100)


@pytest.mark.parametrize("compression", [None, "lz4", "zstd"])
def test_a_feather_file_is_read_as_the_parquet_file_of_the_same_table(tmp_path, compression):
    file = io.BytesIO()
    pq.write_table(TABLE, file)
    parquet, rows = read(tmp_path, file.getvalue(), "t.parquet")
    facts, same = read(tmp_path, written(TABLE, compression), "t.feather")
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
    return written(pa.table({"t": texts}))


@pytest.mark.parametrize(
    ("content", "code"),
    [
        (lambda: written(TABLE)[:-40], "damaged"),
        (broken_offsets, "damaged"),
        (lambda: written(pa.table({"nested": [[1], [2]]})), "nested"),
        (lambda: written(pa.table({"t": ["a\0b"]})), "binary"),
        (lambda: written(pa.table({"nothing": pa.nulls(2**24)})), "unfolds"),
        (lambda: written(pa.table({"n": pa.array(np.zeros(2**22, np.int8))}), "zstd"), "unfolds"),
    ],
    ids=["cut", "offsets", "nested", "nul", "nulls", "zeros"],
)
def test_a_feather_file_that_cannot_be_read_is_refused(tmp_path, content, code):
    with pytest.raises(UploadFault) as caught:
        read(tmp_path, content(), "t.feather", Limits(unfolded_bytes=2**22))
    assert caught.value.code == code


def categories(values: pa.Array) -> pa.Array:
    return pa.DictionaryArray.from_arrays(pa.array(range(len(values)), pa.int8()), values, safe=False)


def texts(kind: pa.DataType, in_bytes: pa.DataType) -> pa.Array:
    """The second is no UTF-8."""
    return pa.array([b"Bern", b"Z\xfcrich", b"Chur"], in_bytes).view(kind)


def integers(kind: pa.DataType, *values: int) -> pa.Array:
    """A column whose values lie in the file as these numbers."""
    size = kind.bit_width // 8
    in_file = b"".join(value.to_bytes(size, "little") for value in values)
    return pa.Array.from_buffers(kind, len(values), [None, pa.py_buffer(in_file)])


DAY = 86_400_000
ODD = {
    "text": (texts(pa.string(), pa.binary()), ["Bern", "Z\ufffdrich", "Chur"]),
    "category": (categories(texts(pa.string(), pa.binary())), ["Bern", "Z\ufffdrich", "Chur"]),
    "large category": (
        categories(texts(pa.large_string(), pa.large_binary())),
        ["Bern", "Z\ufffdrich", "Chur"],
    ),
    "day": (integers(pa.date64(), 0, DAY + 7, DAY), ["1970-01-01", "1970-01-02", "1970-01-02"]),
    "day as category": (
        categories(integers(pa.date64(), 0, DAY + 7, DAY)),
        ["1970-01-01", "1970-01-02", "1970-01-02"],
    ),
    "time": (
        integers(pa.time64("us"), 0, 10**6 * 90_000, 10**6),
        ["00:00:00", "<value out of range: 90000000000>", "00:00:01"],
    ),
    "time in seconds": (
        integers(pa.time32("s"), 0, 90_000, 1),
        ["00:00:00", "<value out of range: 90000>", "00:00:01"],
    ),
    "decimal": (integers(pa.decimal128(3, 1), 15, 10**20, 0), ["1.5", "1" + "0" * 19, "0"]),
    "long decimal": (integers(pa.decimal256(40, 1), 15, 10**60, 0), ["1.5", "1" + "0" * 59, "0"]),
}


@pytest.mark.parametrize("further_columns", [0, 2], ids=["upload", "further"])
@pytest.mark.parametrize(("column", "rows"), ODD.values(), ids=ODD.keys())
def test_a_value_that_means_nothing_spoils_its_own_row(tmp_path, column, rows, further_columns):
    table = pa.table({"odd": column, "number": [1, 2, 3]})
    _facts, read_rows = read(tmp_path, written(table), "t.feather", further_columns=further_columns)
    assert read_rows == [[text, str(number)] for number, text in enumerate(rows, 1)]


@pytest.mark.parametrize("further_columns", [0, 2], ids=["upload", "further"])
def test_a_file_of_views_is_read_alike_as_an_upload_and_as_a_further_file(tmp_path, further_columns):
    views = pa.array(["é", None, "a text of more than twelve letters", "é", ""], pa.string_view())
    table = pa.table({"a": views, "b": categories(views)})
    _facts, rows = read(tmp_path, written(table), "t.feather", further_columns=further_columns)
    assert rows == [[text or None] * 2 for text in views.to_pylist()]


def test_a_long_text_among_views_is_left_out_with_its_row(tmp_path):
    views = pa.array(["x", "y" * (MAX_LINE_BYTES + 1), "z"], pa.string_view())
    facts, rows = read(tmp_path, written(pa.table({"a": views})), "t.feather", further_columns=1)
    assert rows == [["x"], ["z"]]
    assert facts.oddities.spoiled_rows == 1


def test_views_in_a_parquet_file_are_read_in_a_further_file(tmp_path):
    file = io.BytesIO()
    table = pa.table({"a": pa.array(["x", None, "z"], pa.string_view())})
    pq.write_table(table, file, use_dictionary=False, column_encoding={"a": "DELTA_BYTE_ARRAY"})
    assert read(tmp_path, file.getvalue(), "t.parquet", further_columns=1)[1] == [["x"], [None], ["z"]]


def test_a_place_beyond_a_dictionary_is_not_read(tmp_path):
    column = pa.DictionaryArray.from_arrays(pa.array([0, 9]), pa.array(["a"]), safe=False)
    with pytest.raises(UploadFault) as caught:
        read(tmp_path, written(pa.table({"a": column})), "t.feather")
    assert caught.value.code == "damaged"


def one_batch(table: pa.Table) -> bytes:
    file = io.BytesIO()
    with pa.ipc.new_file(file, table.schema) as writer:
        writer.write_batch(table.combine_chunks().to_batches()[0])
    return file.getvalue()


def test_a_file_of_one_long_batch_is_read_by_columns_as_if_it_had_many(tmp_path, monkeypatch):
    table = TABLE
    while table.num_rows < 3 * feather_table.PIECE_ROWS:
        table = pa.concat_tables([table, table]).combine_chunks()
    table = table.slice(0, 3 * feather_table.PIECE_ROWS + 8)
    usual, first = read(tmp_path, written(table), "t.feather")
    monkeypatch.setattr(feather_table, "LONG_BATCH_BYTES", 1000)
    facts, same = read(tmp_path, one_batch(table), "t.feather")
    assert (facts.rows, facts.content_digest, facts.sketch) == (
        table.num_rows,
        usual.content_digest,
        usual.sketch,
    )
    assert (facts.columns, facts.oddities, same) == (usual.columns, usual.oddities, first)
    assert {path.name for path in tmp_path.iterdir()} == {"upload", "table.parquet"}


def test_a_long_batch_without_rows_has_none(tmp_path, monkeypatch):
    monkeypatch.setattr(feather_table, "LONG_BATCH_BYTES", 1)
    with pytest.raises(UploadFault, match="no rows"):
        read(tmp_path, written(TABLE.slice(0, 0)), "t.feather")


@pytest.mark.slow
def test_memory_holds_one_column_of_a_long_batch_at_a_time(tmp_path):
    """The file is as large as all the memory that its reader may have."""
    texts = pa.array(["x" * 96]).take(pa.array(np.zeros(400_000, np.int8)))
    (tmp_path / "upload").write_bytes(one_batch(pa.table({f"c{n}": texts for n in range(10)})))
    memory = (tmp_path / "upload").stat().st_size
    facts = convert(
        tmp_path / "upload", tmp_path / "t.parquet", "t.feather", limits=Limits(memory_bytes=memory)
    )
    assert facts.rows == 400_000
