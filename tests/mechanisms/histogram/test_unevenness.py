"""Statistics of unevenness: against plain float formulas, and how far any row moves them."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest

from mechanisms.histogram import unevenness
from mechanisms.histogram.unevenness import UNIT, bias, bias_step, measured, statistics, sum_of_squares

SHAPES = [(1,), (5,), (8,), (33,), (100,), (1, 9), (8, 8), (17, 6), (9, 2, 5)]


def plain_bias(counts: np.ndarray, shape: tuple[int, ...], j: int) -> float:
    """Corner by corner: rows counted up to it, less every block's rows times the share of it that the corner covers."""
    wide = [1 << (w - 1).bit_length() for w in shape]
    padded = np.zeros(wide)
    padded[tuple(slice(w) for w in shape)] = counts.reshape(shape)
    sizes = [max(1, w >> j) for w in wide]
    squares = 0.0
    for corner in itertools.product(*(range(1, w + 1) for w in wide)):
        even = 0.0
        for start in itertools.product(*(range(0, w, s) for w, s in zip(wide, sizes, strict=True))):
            block = padded[tuple(slice(a, a + s) for a, s in zip(start, sizes, strict=True))]
            covered = [np.clip(c - a, 0, s) / s for c, a, s in zip(corner, start, sizes, strict=True)]
            even += block.sum() * math.prod(covered)
        squares += (padded[tuple(slice(c) for c in corner)].sum() - even) ** 2
    return math.sqrt(squares / padded.size)


@pytest.mark.parametrize("shape", [(13,), (16,), (9, 5), (3, 2, 9)])
@pytest.mark.parametrize("j", [1, 2])
def test_the_bias_is_that_of_spreading_blocks_evenly(shape: tuple[int, ...], j: int) -> None:
    counts = np.random.default_rng(1).integers(0, 50, math.prod(shape))
    found = bias(unevenness._padded(counts, shape), j)
    assert found / UNIT == pytest.approx(plain_bias(counts, shape, j), abs=1.01 / UNIT)


@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("seed", range(3))
def test_no_row_moves_a_statistic_by_more_than_its_step(shape: tuple[int, ...], seed: int) -> None:
    """Every cell gains a row, of tables that are empty, sparse and full."""
    rng = np.random.default_rng(seed)
    cells = math.prod(shape)
    counts = [np.zeros(cells, dtype=np.int64), rng.poisson(0.3, cells), rng.integers(0, 10**6, cells)][seed]
    before = measured(counts.astype(np.int64), shape)
    steps = [s.step for s in statistics(shape)]
    assert len(before) == len(steps)
    for cell in range(cells):
        more = counts.astype(np.int64)
        more[cell] += 1
        moved = np.abs(np.array(measured(more, shape)) - before)
        assert (moved <= steps).all(), (cell, moved.tolist(), steps)


def test_the_step_of_one_column_is_at_most_three_times_the_exact_one() -> None:
    # One row in the last cell of a block of L moves the gaps by r/L: √(Σ (r/L)²/N) = √(L/3N), against √(L/N).
    exact = math.sqrt(sum((r / 16) ** 2 for r in range(16)) / 64)
    counts = np.zeros(64, dtype=np.int64)
    counts[15] = 1
    assert bias(counts, 2) == math.floor(exact * UNIT)
    assert exact * UNIT < bias_step((64,), 2) < 3 * exact * UNIT


def test_squares_are_summed_exactly() -> None:
    values = np.random.default_rng(3).integers(-(2**62), 2**62, 1000)
    assert sum_of_squares(values) == sum(v * v for v in values.tolist())


def test_cuts_that_leave_single_cells_have_no_statistic() -> None:
    assert [s.name for s in statistics((4, 3))] == ["people", "filled cells"]
    assert len(statistics((65, 3))) == 5
