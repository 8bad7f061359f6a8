"""Some rows of a stored table as cells."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from dpportal.tables import sample_cells
from mechanisms.domain import Categorical, Domain, Integer

DOMAIN = Domain((Integer("age", lower=0, upper=99), Categorical("job", values=("a", "b", "c"))))


@pytest.fixture
def table(tmp_path):
    """300 rows: age i // 3, jobs a, b, c in turn."""
    path = tmp_path / "table.parquet"
    jobs = ["abc"[i % 3] for i in range(300)]
    pq.write_table(pa.table({"age": [str(i // 3) for i in range(300)], "job": jobs}), path)
    return path


def test_all_rows_come_once(table):
    cells = sample_cells(table, DOMAIN, rows=300, most=1000)
    counts = np.bincount(cells[:, 0] * DOMAIN.shape[1] + cells[:, 1], minlength=DOMAIN.size)
    assert counts.reshape(DOMAIN.shape)[:100, :3].tolist() == np.ones((100, 3), dtype=int).tolist()


def test_some_rows_are_different_rows_and_the_same_every_time(table):
    one, other = (sample_cells(table, DOMAIN, rows=300, most=40) for _ in range(2))
    assert one.tolist() == other.tolist()
    assert one.shape == (40, 2) and len({tuple(row) for row in one.tolist()}) == 40
    assert one[:, 0].tolist() != sorted(one[:, 0].tolist())
