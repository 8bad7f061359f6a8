from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from mechanisms.accounting import Definition, Loss
from mechanisms.domain import Domain, Integer
from mechanisms.histogram.quadtree import Quadtree, level_shares
from mechanisms.noise import Noise
from mechanisms.protocol import Measurement, PlanError

QUADTREE = Quadtree()


def box(*widths: int) -> Domain:
    return Domain(tuple(Integer(f"x{i}", lower=1, upper=w) for i, w in enumerate(widths)))


def pure(amount: str) -> Loss:
    return Loss(Definition.PURE, Fraction(amount))


@pytest.mark.parametrize(
    ("widths", "depth"), [((1,), 0), ((2, 2), 1), ((4, 3), 2), ((5, 1), 3), ((1024, 8), 10)]
)
def test_halving_ends_at_single_cells(widths: tuple[int, ...], depth: int) -> None:
    assert QUADTREE.plan(box(*widths), {"depth": 24}, pure("1")).details["depth"] == depth


def test_fewer_halvings_make_larger_blocks() -> None:
    assert QUADTREE.plan(box(16, 16), {"depth": 2}, pure("1")).details["sides"] == [4, 4]


def test_a_square_takes_the_geometric_budget() -> None:
    # Level l is cut in 2^l of its 4^l blocks, and ε_l ∝ 2^(l/3).
    grids = [np.array([2**level, 2**level]) for level in range(4)]
    shares = level_shares(grids, 2, Definition.PURE)
    assert [float(s / shares[0]) for s in shares] == pytest.approx([2 ** (k / 3) for k in range(4)], rel=1e-5)


def test_one_column_takes_equal_shares() -> None:
    grids = [np.array([2**level]) for level in range(4)]
    assert level_shares(grids, 1, Definition.PURE) == [Fraction(1, 4)] * 4


def test_a_measurement_holds_every_level() -> None:
    # 1 + 4 + 12 blocks of 4 × 3 cells.
    plan = QUADTREE.plan(box(4, 3), {}, pure("1000"))
    counts = np.arange(12)
    values = QUADTREE.measure(plan, counts, Noise(np.random.default_rng(2).bytes)).values
    # At ε = 1000 a draw differs from 0 with probability below 1e-80. Columns 0, 1 | 2 (⌊i·2/3⌋ = 0, 0, 1).
    assert values.tolist() == [66, 0 + 1 + 3 + 4, 2 + 5, 6 + 7 + 9 + 10, 8 + 11, *range(12)]


def test_levels_agree_by_least_squares() -> None:
    # One column, equal noise: 12 against 4 + 5 gives 5 and 6, as in test_nested.
    plan = QUADTREE.plan(box(2), {}, pure("1"))
    assert QUADTREE.reconstruct(plan, Measurement(np.array([12, 4, 5]))).raw == pytest.approx([5, 6])


def test_counts_that_agree_stay_as_they_are() -> None:
    plan = QUADTREE.plan(box(5, 3), {}, pure("1000"))
    counts = np.random.default_rng(8).integers(0, 50, 15)
    measurement = QUADTREE.measure(plan, counts, Noise(np.random.default_rng(2).bytes))
    assert QUADTREE.reconstruct(plan, measurement).raw == pytest.approx(counts)


def test_without_halvings_there_is_one_block() -> None:
    plan = QUADTREE.plan(box(4, 4), {"depth": 0}, pure("1"))
    assert QUADTREE.reconstruct(plan, Measurement(np.array([32]))).raw.tolist() == [2.0] * 16


@pytest.mark.parametrize("depth", [-1, 25])
def test_a_depth_out_of_bounds_is_refused(depth: int) -> None:
    with pytest.raises(PlanError, match="whole number from 0 to 24"):
        QUADTREE.plan(box(4, 4), {"depth": depth}, pure("1"))
