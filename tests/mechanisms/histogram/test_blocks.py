from __future__ import annotations

import itertools

import numpy as np
import pytest

from mechanisms.accounting import PrivacyUnit
from mechanisms.histogram.blocks import (
    Boxes,
    SummedArea,
    block_sizes,
    block_sums,
    deal,
    grid_codes,
    grid_labels,
    halving_codes,
    halvings,
    nesting,
    spread,
)
from mechanisms.sensitivity import histogram_sensitivity
from tests.mechanisms.neighbours import UNITS, changes, name


def test_a_grid_cuts_every_axis_into_intervals() -> None:
    labels = grid_labels((2, 4), np.array([1, 2]))
    assert labels.reshape(2, 4).tolist() == [[0, 0, 1, 1], [0, 0, 1, 1]]


def test_an_axis_that_does_not_divide_evenly_has_no_empty_interval() -> None:
    # ⌊i·3/5⌋ for i = 0..4.
    assert grid_labels((5,), np.array([3])).tolist() == [0, 0, 1, 1, 2]


@pytest.mark.parametrize("width", range(1, 20))
def test_no_grid_has_an_empty_block(width: int) -> None:
    for side in range(1, width + 1):
        assert block_sizes(grid_labels((width, 2), np.array([side, 1])), side).min() > 0


def test_halving_ends_at_single_cells() -> None:
    assert [grid.tolist() for grid in halvings((5, 2), 24)] == [[1, 1], [2, 2], [4, 2], [5, 2]]


@pytest.mark.parametrize("shape", [(1,), (5,), (8, 3), (7, 1, 6)])
def test_each_halving_nests_in_the_one_before(shape: tuple[int, ...]) -> None:
    grids = halvings(shape, 24)
    labels = [grid_labels(shape, grid) for grid in grids]
    for above, below, parents in zip(labels, labels[1:], nesting(grids), strict=False):
        assert np.array_equal(parents[below], above)


def test_sums_beyond_the_precision_of_floats_stay_exact() -> None:
    counts = np.array([2**60 + 1, 1, 2**60, 0])
    assert block_sums(counts, np.array([0, 0, 1, 1]), 2).tolist() == [2**60 + 2, 2**60]


@pytest.mark.parametrize("unit", UNITS, ids=name)
def test_a_person_moves_blocks_no_more_than_cells(unit: PrivacyUnit) -> None:
    sensitivity = histogram_sensitivity(unit)
    for labels in itertools.product(range(3), repeat=4):
        blocks = changes(unit, 4) @ np.eye(3, dtype=np.int64)[list(labels)]
        assert np.abs(blocks).sum(axis=1).max() <= sensitivity.l1
        assert (blocks**2).sum(axis=1).max() <= sensitivity.l2_squared


def test_an_estimate_is_spread_in_equal_parts() -> None:
    assert spread(np.array([3, 8]), np.array([0, 0, 1, 0])).tolist() == [1, 1, 8, 1]


def test_sparse_blocks_keep_their_people() -> None:
    # Two blocks of ten cells hold 4 and 1: a part of a row in each cell, and none is lost.
    counts = deal(np.array([4, 1]), np.repeat([0, 1], 10), (20,))
    assert (counts[:10].sum(), counts[10:].sum()) == (4, 1)


def test_rows_of_a_block_are_dealt_out_evenly_along_it() -> None:
    assert deal(np.array([4]), np.zeros(8, np.int64), (8,)).tolist() == [0, 1, 0, 1, 0, 1, 0, 1]


def test_a_grid_is_halved_along_its_longest_column_first() -> None:
    # 2 × 4: the four columns are halved, then rows and columns in turn.
    assert grid_codes(np.array([2, 4])).reshape(2, 4).tolist() == [[0, 1, 4, 5], [2, 3, 6, 7]]


def test_codes_of_a_grid_are_those_of_its_places() -> None:
    sides = np.array([3, 1, 10])
    places = np.stack(np.unravel_index(np.arange(30), (3, 1, 10)), axis=1)
    assert np.array_equal(grid_codes(sides), halving_codes(places, sides))
    assert np.unique(grid_codes(sides)).size == 30


def test_few_people_of_several_columns_do_not_lie_in_one_line() -> None:
    # 8 of 64 cells, one in every eighth in cell order: that would be a column.
    counts = deal(np.array([8]), np.zeros(64, np.int64), (8, 8)).reshape(8, 8)
    assert counts.sum(axis=0).max() <= 4
    assert counts.reshape(2, 4, 2, 4).sum(axis=(1, 3)).tolist() == [[2, 2], [2, 2]]


def test_the_people_of_blocks_are_not_all_at_their_ends() -> None:
    # 1,000 blocks of ten cells with one row each: the mean place would be 9, and is that of the middle.
    places = np.flatnonzero(deal(np.ones(1000, np.int64), np.repeat(np.arange(1000), 10), (10_000,))) % 10
    assert places.mean() == pytest.approx(4.5, abs=0.1)


def test_every_cell_of_a_block_gets_the_whole_part() -> None:
    # 17 over the three cells of block 1: two of them get 6; its cells need not lie side by side.
    assert deal(np.array([3, 17]), np.array([1, 0, 1, 1]), (4,)).tolist() == [6, 3, 5, 6]


@pytest.mark.parametrize("shape", [(7,), (3, 5), (2, 3, 4), (2, 2, 3, 2)])
def test_box_sums_agree_with_slices(shape: tuple[int, ...]) -> None:
    rng = np.random.default_rng(len(shape))
    counts = rng.integers(0, 100, shape)
    lower = np.array([[rng.integers(0, w) for w in shape] for _ in range(30)])
    upper = np.array([[rng.integers(a + 1, w + 1) for a, w in zip(row, shape, strict=True)] for row in lower])
    wanted = [counts[tuple(map(slice, a, b))].sum() for a, b in zip(lower, upper, strict=True)]
    assert SummedArea(counts.ravel(), shape).sums(Boxes(lower, upper)).tolist() == wanted


def test_box_sums_beyond_the_precision_of_floats_stay_exact() -> None:
    table = SummedArea(np.array([2**60 + 1, 2**60]), (2,))
    assert table.sums(Boxes(np.array([[0]]), np.array([[1]]))).tolist() == [2**60 + 1]


def test_halves_are_labelled_in_order() -> None:
    halves = Boxes.covering((2, 3)).halved(np.array([1]))
    assert halves.labels((2, 3)).reshape(2, 3).tolist() == [[0, 1, 1], [0, 1, 1]]


def test_boxes_that_leave_a_cell_out_are_no_partition() -> None:
    with pytest.raises(ValueError, match="cover every cell once"):
        Boxes(np.array([[0], [0]]), np.array([[1], [1]])).labels((2,))
