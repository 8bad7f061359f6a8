"""More columns of categories than are joined with their declared values: the same cells, in a worker's memory."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from dpportal.tables import count_tables
from dpportal.tables.pushdown import count_query
from mechanisms.domain import Attribute, Categorical, Domain, Integer
from mechanisms.microdata.joint_counts import JointCounts

# With a join for each of so many columns the engine ran out of the memory it is given.
COLUMNS, ROWS = 130, 3000
VALUES = tuple("0123456789")


def written(folder: Path, columns: dict[str, list[str | None]]) -> Path:
    path = folder / "table.parquet"
    pq.write_table(pa.table({name: pa.array(texts, pa.string()) for name, texts in columns.items()}), path)
    return path


@pytest.mark.slow
def test_a_hundred_and_thirty_columns_of_categories_are_counted(tmp_path):
    rows = np.random.default_rng(3).integers(0, 11, (ROWS, COLUMNS))
    names = [f"c{j}" for j in range(COLUMNS)]
    path = written(tmp_path, {name: rows[:, j].astype(str).tolist() for j, name in enumerate(names)})
    domain = Domain(tuple(Categorical(name, values=VALUES) for name in names))
    counts = count_tables(path, domain, [("c0", "c129"), ("c64",)])
    both = np.bincount(rows[:, 0] * 11 + rows[:, 129], minlength=121)
    assert counts.tolist() == [*both, *np.bincount(rows[:, 64], minlength=11)]


def test_pairs_that_are_counted_at_once_are_those_that_are_counted_one_by_one(tmp_path, monkeypatch):
    random, names = np.random.default_rng(4), ["a", "b", "c"]
    path = written(tmp_path, {name: random.integers(0, 4, 500).astype(str).tolist() for name in names})
    domain = Domain(tuple(Categorical(name, values=("0", "1", "2"), closed=name == "b") for name in names))
    tables = [("a", "b"), ("c",), ("c", "a"), names, ("b", "c")]
    found = []
    for at_once in (True, False):
        monkeypatch.setattr(JointCounts, "is_faster", lambda *_, answer=at_once: answer)
        found.append(count_tables(path, domain, tables).tolist())
    assert found[0] == found[1] and 0 < sum(found[0]) < 5 * 500


@pytest.mark.slow
def test_compared_values_have_the_cells_of_joined_ones(tmp_path, monkeypatch):
    texts: list[str | None] = ["1", "01", "1.0", " x ", "x", "X", "é", "e\u0301", "", None, "zzz", "2", "-0"]
    names = ["a", "b", "c", "d", "e"]
    kinds: list[Attribute] = [
        Categorical("a", values=("x", "é", "1", "0"), missing_cell=True),
        Categorical("b", values=("1", "2", "0"), as_numbers=True),
        Categorical("c", values=("1", "2", "x"), words=("low", "low", "high"), closed=True, misfits_to=0),
        Categorical("d", values=("é", "zzz"), closed=True),
        Integer("e", lower=0, upper=2, missing_cell=True),
    ]
    path, domain = written(tmp_path, dict.fromkeys(names, texts)), Domain(tuple(kinds))
    joined = count_tables(path, domain, [names])
    monkeypatch.setattr(count_query, "MOST_JOINED", 0)
    assert count_tables(path, domain, [names]).tolist() == joined.tolist()
    assert 0 < joined.sum() < len(texts)
