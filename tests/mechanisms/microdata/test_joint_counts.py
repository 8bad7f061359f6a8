"""Counts of all pairs of columns at once are those of each pair by itself."""

from __future__ import annotations

from collections.abc import Callable
from itertools import combinations

import numpy as np
import pytest

from mechanisms.microdata import joint_counts
from mechanisms.microdata.joint_counts import JointCounts
from mechanisms.microdata.quality import table_of_rows
from mechanisms.microdata.tables import PairTables


@pytest.mark.parametrize("kind", [np.uint8, np.int64])
def test_each_table_is_that_of_its_pair(kind, monkeypatch):
    monkeypatch.setattr(joint_counts, "ROWS", 64)
    shape = (3, 1, 5, 2)
    rows = np.random.default_rng(1).integers(0, shape, (300, 4)).astype(kind)
    joint = JointCounts(shape)
    joint.add(list(rows[:200].T))
    joint.add(list(rows[200:].T))
    for a, b in combinations(range(4), 2):
        assert (joint.table(a, b) == table_of_rows(rows, shape, (a, b))).all()
        assert (joint.table(b, a) == joint.table(a, b).T).all()


def test_a_block_is_counted_exactly():
    assert joint_counts.ROWS < 2**24
    joint = JointCounts((1, 1))
    joint.add([np.zeros(joint_counts.ROWS + 1, dtype=np.uint8)] * 2)
    assert joint.table(0, 1).tolist() == [[joint_counts.ROWS + 1]]


def test_all_pairs_of_many_columns_of_few_values_are_counted_at_once_and_of_wide_ones_each_by_itself():
    assert JointCounts.is_faster((4,) * 250, 250 * 249 // 2)
    assert not JointCounts.is_faster((30,) * 14, 14 * 13 // 2)
    assert not JointCounts.is_faster((4,) * 250, 249)
    assert not JointCounts.is_faster((4,) * 2_000, 2_000 * 1_999 // 2)


@pytest.fixture
def both(monkeypatch) -> Callable[[Callable[[], np.ndarray]], list[list[int]]]:
    """What a function counts, all pairs at once and each by itself."""

    def counted(count: Callable[[], np.ndarray]) -> list[list[int]]:
        found = []
        for at_once in (True, False):
            monkeypatch.setattr(JointCounts, "is_faster", lambda *_, answer=at_once: answer)
            found.append(count().tolist())
        return found

    return counted


def test_the_vector_of_all_pairs_is_the_same(both):
    tables = PairTables((2, 3, 4))
    rows = np.random.default_rng(2).integers(0, tables.shape, (100, 3))
    at_once, one_by_one = both(lambda: tables.of_rows(rows))
    assert at_once == one_by_one and sum(at_once) == 300
