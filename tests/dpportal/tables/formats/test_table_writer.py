"""How many rows of a table are written together: as many as memory holds, and of long texts fewer."""

from __future__ import annotations

from pathlib import Path

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from dpportal.tables.formats import table_writer
from dpportal.tables.formats.table_writer import TableWriter
from dpportal.tables.layout import StoredFields

BATCHES, ROWS = 10, 100


@pytest.mark.parametrize(
    ("kind", "groups"),
    [("numbers", 1), ("few texts", 1), ("long texts", BATCHES), ("texts that become long", 8)],
)
def test_rows_are_written_together_but_long_texts_by_themselves(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str, groups: int
) -> None:
    """The first batch decides whether a column has a dictionary, whose texts take memory all the same."""
    monkeypatch.setattr(table_writer, "MOST_TEXT_BYTES", 6_000)
    monkeypatch.setattr(table_writer, "MOST_IN_DICTIONARY", ROWS - 1)
    with TableWriter(tmp_path / "t.parquet", ["x"], duckdb.connect()) as writer:
        for number in range(BATCHES):
            writer.write([_batch(kind, number)])
    file = pq.ParquetFile(tmp_path / "t.parquet")
    assert (file.num_row_groups, file.metadata.num_rows) == (groups, BATCHES * ROWS)


def _batch(kind: str, number: int) -> StoredFields:
    if kind == "numbers":
        return StoredFields(pa.nulls(ROWS, pa.string()), numbers=pa.array([float(i) for i in range(ROWS)]))
    if kind == "few texts" or (kind == "texts that become long" and number < 2):
        return StoredFields(pa.array(["a", "b"] * (ROWS // 2)))
    return StoredFields(pa.array([f"{number * ROWS + i:050d}" for i in range(ROWS)]))
