"""What a packed file's values are counted as: never more than the text of a CSV file with them."""

from __future__ import annotations

import datetime as dt
import io
from decimal import Decimal

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq
import pytest

from dpportal.tables import Limits, convert
from dpportal.tables.formats.parquet_text import as_text
from dpportal.tables.formats.text_sizes import text_bytes

ROWS = 20_000
FLAGS = np.arange(ROWS) % 100 == 0
MIDNIGHT = np.full(ROWS, "2020-02-29", "M8[us]")
KINDS = {
    "flags": pa.array(FLAGS.astype(np.int8)),
    "flags that a missing value made doubles": pa.array(FLAGS.astype(float), mask=FLAGS),
    "mostly missing": pa.array(np.full(ROWS, 0.125), mask=~FLAGS),
    "truths": pa.array(FLAGS),
    "fractions": pa.array(np.arange(ROWS) / 8),
    "halves": pa.array((np.arange(ROWS) % 5 / 2).astype(np.float16)),
    "beyond numbers": pa.array([float("nan"), float("inf"), -0.0, 1e-7, 1e20] * (ROWS // 5)),
    "negative": pa.array(-np.arange(ROWS) - 1),
    "identifiers": pa.array(np.arange(ROWS) + 10**9),
    "decimals": pa.array([Decimal("1.00"), Decimal("0.00")] * (ROWS // 2)),
    "midnights": pa.array(MIDNIGHT),
    "moments": pa.array(MIDNIGHT + np.arange(ROWS) % 2),
    "moments in a zone": pa.array(MIDNIGHT, pa.timestamp("us", "Europe/Berlin")),
    "days": pa.array([dt.date(1, 1, 1)] * ROWS),
    "times": pa.array([dt.time(1), dt.time(1, 2, 3, 4)] * (ROWS // 2)),
    "letters": pa.array(["y", "n"] * (ROWS // 2)),
    "shared letters": pa.array(["y", None] * (ROWS // 2)).dictionary_encode(),
    "shared numbers": pa.array([0, 10_000] * (ROWS // 2)).dictionary_encode(),
    "nothing": pa.nulls(ROWS),
}


@pytest.mark.parametrize("kind", KINDS)
def test_no_value_counts_more_than_its_text(kind):
    texts = as_text(KINDS[kind]).texts
    texts = texts.dictionary_decode() if pa.types.is_dictionary(texts.type) else texts
    written = sum(len(text or "") for text in texts.to_pylist())
    assert text_bytes(KINDS[kind]) <= written
    assert text_bytes(KINDS[kind].slice(3, 0)) == 0


@pytest.mark.parametrize(
    ("kind", "each"),
    [("truths", 4), ("midnights", 10), ("moments", 14.5), ("identifiers", 10), ("letters", 1)],
)
def test_what_can_be_known_at_once_counts_in_full(kind, each):
    assert text_bytes(KINDS[kind]) == each * ROWS


@pytest.mark.slow
def test_a_small_file_of_flags_is_read_that_is_no_larger_as_csv_than_is_promised(tmp_path):
    flags = KINDS["flags"], KINDS["flags that a missing value made doubles"]
    table = pa.table({f"flag {number}": flags[number % 2] for number in range(20)})
    pq.write_table(table, tmp_path / "upload", compression="zstd")
    csv = io.BytesIO()
    pa.csv.write_csv(table, csv)
    most = len(csv.getvalue())
    assert (tmp_path / "upload").stat().st_size < most / 100
    limits = Limits(unfolded_bytes=most)
    assert convert(tmp_path / "upload", tmp_path / "t", "t.parquet", limits=limits).rows == ROWS
