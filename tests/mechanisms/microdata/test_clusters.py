"""Clusters of many columns: what one person moves, and dependence over more columns than four."""

from __future__ import annotations

import numpy as np
import pytest

from mechanisms.domain import Categorical, Domain, Integer
from mechanisms.microdata import clusters
from mechanisms.microdata.constraints import Wishes
from mechanisms.microdata.quality import closeness, table_of_rows
from mechanisms.microdata.tables import Grouping
from mechanisms.microdata.whole_rows import WholeRows
from mechanisms.noise import Noise
from mechanisms.registry import microdata
from tests.mechanisms.microdata.building import counted, loss

SHAPE = (7, 3, 5, 2, 4, 6)
DOMAIN = Domain(
    tuple(
        Integer(f"c{j}", lower=0, upper=size - 1)
        if j % 2
        else Categorical(f"c{j}", values=tuple(map(str, range(size))), closed=True, misfits_to=0)
        for j, size in enumerate(SHAPE)
    )
)


def kinds(people: int) -> np.ndarray:
    """People of three kinds: nine values in ten are the kind's, which have no order."""
    random = np.random.default_rng(4)
    kind, own = random.integers(0, 3, people), random.integers(0, SHAPE, (3, len(SHAPE)))
    anyone = random.integers(0, SHAPE, (people, len(SHAPE)))
    return np.where(random.random(anyone.shape) < 0.9, own[kind], anyone)


def test_a_row_moves_one_count_of_each_column_by_one_whichever_centres_there_are():
    random, whole = np.random.default_rng(8), WholeRows(SHAPE)
    grouping = Grouping(tuple(np.arange(size) for size in SHAPE))
    rows = kinds(60)
    for _ in range(30):
        # Few different points, so that many centres tie.
        scores = [random.integers(0, 3, (size, 5)) for size in SHAPE]
        one, other = (
            clusters._counted(whole, whole.pack(people), grouping, scores) for people in (rows, rows[1:])
        )
        moved = [a - b for a, b in zip(one, other, strict=True)]
        assert all(m.sum() == 1 and np.abs(m).sum() == 1 for m in moved)
        assert len({int(m.sum(axis=1).argmax()) for m in moved}) == 1, "the row is in one cluster"
        assert all(t.sum() == 60 for t in one)


def test_rows_beyond_a_chunk_are_counted_too(monkeypatch):
    whole, grouping = WholeRows(SHAPE), Grouping(tuple(np.arange(size) for size in SHAPE))
    scores = [np.arange(size * 3).reshape(size, 3) % 7 for size in SHAPE]
    at_once = clusters._counted(whole, whole.pack(kinds(50)), grouping, scores)
    monkeypatch.setattr(clusters, "_CHUNK", 7)
    in_parts = clusters._counted(whole, whole.pack(kinds(50)), grouping, scores)
    assert all(np.array_equal(a, b) for a, b in zip(at_once, in_parts, strict=True))


@pytest.mark.parametrize("amount", ["1/20", "1"])
def test_dependence_over_six_columns_is_in_the_rows(amount):
    """Of three columns at a time, the distance that independent columns leave falls to a third and less."""
    rows, method = kinds(20_000), microdata("clusters")
    plan = method.plan(DOMAIN, Wishes(), loss(amount))
    made = method.reconstruct(plan, method.measure(plan, counted(plan, rows), Noise())).rows
    for columns in ((0, 1, 2), (1, 3, 5), (2, 4, 5)):
        found = closeness(*(table_of_rows(r, SHAPE, columns) for r in (rows, made)))
        assert found.synthetic < found.independent / 3
