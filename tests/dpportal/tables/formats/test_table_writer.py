"""How many rows of a table are written together: as many as memory holds, and of long texts fewer."""

from __future__ import annotations

from pathlib import Path

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from dpportal.tables import first_rows
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


@pytest.mark.parametrize("texts", [["a", None, "b", None], [f"text {i}" for i in range(20_000)] + [None]])
def test_texts_alone_are_stored_without_null_and_read_as_they_were(
    tmp_path: Path, texts: list[str | None]
) -> None:
    """Of few by a dictionary, of many plainly; and beside numbers NULL stays, by which they are told apart."""
    path = tmp_path / "t.parquet"
    with TableWriter(path, ["x", "y"], duckdb.connect()) as writer:
        for own in (texts[:1], texts[1:]):  # what is empty need not be in the first rows
            numbers = pa.array([None if text is None else 1.5 for text in own])
            writer.write(
                [StoredFields(pa.array(own)), StoredFields(pa.nulls(len(own), pa.string()), numbers=numbers)]
            )
    schema = pq.read_schema(path)
    assert {name: schema.field(name).nullable for name in schema.names} == {
        "c0": False,
        "c1": True,
        "t1": True,
        "n1": True,
    }
    expected = [[text, None if text is None else "1.5"] for text in texts]
    assert first_rows(path, len(texts)) == expected
