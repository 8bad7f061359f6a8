"""Cells that are looked up are those that the engine reads row by row, whatever batches and parts rows come in."""

from __future__ import annotations

import datetime as dt
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from dpportal.tables import ReadOptions, count_tables, field_meanings, layout, row_cells
from dpportal.tables.engines.duckdb.session import stored_table
from dpportal.tables.layout import NAMES_KEY, names_metadata, text_name
from dpportal.tables.row_cells import RowCells
from mechanisms.domain import Attribute, Boolean, Categorical, Date, Domain, Integer, Real
from tests.dpportal.tables.storing import number_columns

ROWS = 400
# Of each column its texts in turn; their numbers have no common divisor, so all combinations come.
TEXTS: dict[str, list[str | None]] = {
    "whole": [str(i * i) for i in range(30)] + ["-7"],
    "mixed": ["3", "2.50", "2.5", "-0", "0", "NA", "", None, "x", "100000", "007", "1e2", "14"],
    "far": ["0", "999999999999", "-5", "12", "99", None, "4"],
    "word": ["a", "b", "Zürich", "", "c", "a ", None, "zz", "yes"],
    "day": ["2020-01-01", "2020-02-29", "2020-13-01", None, "2021-12-31"],
    "number": [f"{i / 8}" for i in range(1, 17)],
}
ATTRIBUTES: tuple[Attribute, ...] = (
    Integer("whole", True, 0, 400, width=7),
    Real("mixed", True, 0.0, 100.0, bins=9),
    Categorical("as text", values=("2.50", "0", "14"), source="mixed"),
    Integer("far", lower=0, upper=100, closed=True),
    Categorical("word", closed=True, values=("a", "b", "c", "Zürich"), missing_cell=True, misfits_to=0),
    Boolean("truth", True, source="word"),
    Date("day", True, dt.date(2020, 1, 1), dt.date(2021, 12, 31), "month"),
    Real("number", lower=0.0, upper=2.0, bins=16),
)
OPTIONS = ReadOptions(missing=("NA", "14")).settled()


@pytest.fixture
def table(tmp_path: Path) -> Path:
    """In row groups of 37 rows, whose dictionaries differ; texts that are numbers lie as such."""
    fields: dict[str, pa.Array] = {}
    for place, (name, texts) in enumerate(TEXTS.items()):
        own = [(texts[i % len(texts)] or None) for i in range(ROWS)]
        is_text = name in ("word", "day")
        fields |= {text_name(place): pa.array(own, pa.string())} if is_text else number_columns(place, own)
    stored = pa.table(fields).replace_schema_metadata({NAMES_KEY: names_metadata(list(TEXTS))})
    pq.write_table(stored, tmp_path / "table.parquet", row_group_size=37)
    return tmp_path / "table.parquet"


def cells(path: Path, attributes: tuple[Attribute, ...] = ATTRIBUTES) -> np.ndarray:
    with stored_table(path) as connection:
        batches = RowCells(connection, path, OPTIONS, attributes).batches()
        return np.concatenate([batch.columns() for batch in batches], axis=1)


@pytest.fixture
def row_by_row(table, monkeypatch) -> np.ndarray:
    with monkeypatch.context() as patched:
        patched.setattr(layout, "_is_short", lambda part: False)
        return cells(table)


@pytest.mark.parametrize("most", [1, 10, 10**4])
def test_fields_that_are_looked_up_have_the_cells_of_those_read_row_by_row(
    table, row_by_row, monkeypatch, most
) -> None:
    """Also where few whole numbers have places, and few fields are remembered."""
    monkeypatch.setattr(field_meanings, "MOST_INTEGERS", most)
    monkeypatch.setattr(field_meanings, "MOST_KNOWN", most)
    monkeypatch.setattr(row_cells, "MOST_ROWS", 37 * most)
    assert row_by_row.shape == (len(ATTRIBUTES), ROWS)
    assert (row_by_row == field_meanings.LEFT_OUT).any(axis=1).tolist() == [a.leaves_out for a in ATTRIBUTES]
    assert cells(table).tolist() == row_by_row.tolist()


def test_columns_of_few_and_of_many_fields_go_in_step(table, row_by_row, monkeypatch) -> None:
    few, turns = layout._is_short, iter(range(100))
    monkeypatch.setattr(layout, "_is_short", lambda part: few(part) and next(turns) % 3 > 0)
    monkeypatch.setattr(row_cells, "ENGINE_ROWS", 50)
    assert cells(table).tolist() == row_by_row.tolist()


def test_each_different_field_is_asked_of_the_engine_once(table, monkeypatch) -> None:
    asked: list[object] = []
    ask = field_meanings.AttributeMeanings.ask
    monkeypatch.setattr(
        field_meanings.AttributeMeanings,
        "ask",
        lambda self, fields: asked.extend(fields.to_pylist()) or ask(self, fields),
    )
    word, number = ATTRIBUTES[4], ATTRIBUTES[7]
    cells(table, (word, number))
    assert len(asked) == len(set(asked))
    numbers = {float(text or "") for text in TEXTS["number"]}
    # Those with a zero behind their point lie as texts.
    assert set(asked) == {*TEXTS["word"], *numbers, "1.0", "2.0"} - {""}


def test_a_row_that_a_column_leaves_out_is_in_no_table(table, row_by_row) -> None:
    there = (row_by_row >= 0).all(axis=0)
    domain = Domain(ATTRIBUTES)
    counts = count_tables(table, domain, [["word"], []], OPTIONS)
    own = np.bincount(row_by_row[4][there], minlength=ATTRIBUTES[4].size)
    assert counts.tolist() == [*own, there.sum()] and 0 < there.sum() < ROWS
