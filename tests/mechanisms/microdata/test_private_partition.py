"""A private partition of many columns: the blocks are disjoint and counted right, and rows follow them."""

from __future__ import annotations

import tracemalloc
from itertools import product

import numpy as np
import pytest

from mechanisms.accounting import Definition
from mechanisms.domain import Domain, Integer
from mechanisms.histogram.blocks import Boxes
from mechanisms.microdata.constraints import Wishes
from mechanisms.microdata.halving import Halving, Places, grown
from mechanisms.microdata.private_partition import PrivatePartition
from mechanisms.microdata.whole_rows import WholeRows
from mechanisms.noise import Noise
from tests.mechanisms.microdata.building import DOMAIN, counted, distance, loss, people

METHOD = PrivatePartition()


def test_leaves_cover_every_cell_once_and_hold_the_rows_that_lie_in_them():
    shape, random = (5, 3, 2, 4), np.random.default_rng(1)
    rows = np.column_stack([random.integers(0, c, 300) for c in shape])
    shares = [np.bincount(c, minlength=s) / 300 for c, s in zip(rows.T, shape, strict=True)]
    covering = WholeRows(shape)
    places, counts = Places(covering, covering.pack(rows)), []

    def decide(wide: np.ndarray, _depth: int) -> np.ndarray:
        return random.random(int(wide.sum())) < 0.8

    def follow(halved: np.ndarray, axis: np.ndarray, at: np.ndarray) -> None:
        counts.append(places.counts(halved.size)[~halved])
        places.follow(halved, axis, at)

    parts = grown(shape, Halving(shares, [1, 1, 3, 1]), decide, follow)
    lower, upper = (np.vstack([getattr(p, end) for p in parts]) for end in ("lower", "upper"))
    assert len(lower) > 20
    for cell in product(*map(range, shape)):
        assert ((lower <= cell) & (cell < upper)).all(axis=1).sum() == 1
    inside = (rows[:, None] >= lower) & (rows[:, None] < upper)
    assert inside.all(axis=2).sum(axis=0).tolist() == np.concatenate(counts).tolist()


def test_a_block_is_cut_in_its_least_certain_column_at_half_of_the_rows():
    halving = Halving([np.array([0.5, 0.25, 0.125, 0.125]), np.array([0.96, 0.04])], [1, 1])
    axis, at = halving.cuts(Boxes.covering((4, 2)))
    assert (axis.tolist(), at.tolist()) == ([0], [1])
    axis, at = Halving([np.array([0.5, 0.5]), np.array([0.9, 0.1])], [1, 10]).cuts(Boxes.covering((2, 2)))
    assert (axis.tolist(), at.tolist()) == ([1], [1])


def test_a_block_without_anybody_is_cut_too():
    halving = Halving([np.array([0.0, 0.0, 0.0, 1.0])], [1])
    boxes = Boxes(np.array([[0]]), np.array([[3]]))
    _axis, at = halving.cuts(boxes)
    assert 0 < at[0] < 3


@pytest.mark.parametrize("definition", Definition)
def test_rows_depend_as_people_do_where_noise_is_small(definition):
    plan = METHOD.plan(DOMAIN, Wishes(), loss("20", definition))
    rows = METHOD.reconstruct(plan, METHOD.measure(plan, counted(plan, people()), Noise())).rows
    for pair in ((0, 1), (1, 2), (0, 2)):
        assert distance(rows, people(), pair) < 0.06


@pytest.mark.slow
def test_twenty_columns_of_a_hundred_cells_need_no_array_over_their_product():
    random = np.random.default_rng(2)
    domain = Domain(tuple(Integer(f"c{j}", lower=0, upper=99) for j in range(20)))
    first = random.integers(0, 100, 20_000)
    rows = np.column_stack(
        [first, *(np.clip(first + random.integers(-5, 6, 20_000), 0, 99) for _ in range(19))]
    )
    plan = METHOD.plan(domain, Wishes(), loss("1"))
    made = METHOD.reconstruct(plan, METHOD.measure(plan, counted(plan, rows), Noise())).rows
    assert np.corrcoef(made[:, 0], made[:, 1])[0, 1] > 0.5


def test_many_leaves_of_many_columns_take_two_bytes_a_column():
    """Beside them, while a depth is cut: its boxes before and after it, and all leaves once more when they are read."""
    shape, depth = (4,) * 250, 12
    halving = Halving([np.full(4, 0.25)] * 250, [1] * 250)
    tracemalloc.start()
    try:
        leaves = grown(
            shape,
            halving,
            lambda wide, at: np.full(wide.sum(), at < depth),
            lambda *_: None,
        )
        _now, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    boxes = sum(map(len, leaves))
    assert boxes == 2**depth
    assert peak < 6 * 2 * 250 * boxes
