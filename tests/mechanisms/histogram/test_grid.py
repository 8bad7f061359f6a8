from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from mechanisms.accounting import Definition, Loss, Neighbours, PrivacyUnit
from mechanisms.domain import Domain, Integer
from mechanisms.histogram.grid import AdaptiveGrid, UniformGrid, balanced_sides, uniform_sides
from mechanisms.noise import DiscreteLaplace, Noise
from mechanisms.protocol import Measurement, PlanError

UNIFORM, ADAPTIVE = UniformGrid(), AdaptiveGrid()


def box(*widths: int) -> Domain:
    return Domain(tuple(Integer(f"x{i}", lower=1, upper=w) for i, w in enumerate(widths)))


def pure(amount: str, unit: PrivacyUnit = PrivacyUnit()) -> Loss:  # noqa: B008
    return Loss(Definition.PURE, Fraction(amount), unit)


def noise() -> Noise:
    return Noise(np.random.default_rng(5).bytes)


def test_a_square_grid_follows_the_paper() -> None:
    # √(nε/10) = √(10⁶ · 0.1 / 10) = 100; discrete Laplace noise of scale 10 is within 0.1 % of √2/ε.
    assert uniform_sides((1024, 1024), 10**6, DiscreteLaplace(Fraction(10))).tolist() == [100, 100]


def test_one_column_balances_noise_and_unevenness() -> None:
    # (2 · 10⁴ · 0.1 / 10)^(2/3) = 200^(2/3) = 34.2.
    assert uniform_sides((1000,), 10**4, DiscreteLaplace(Fraction(10))).tolist() == [34]


def test_a_narrow_column_keeps_its_cells_and_the_other_takes_the_rest() -> None:
    # Nε/c = 100 asks for 10 × 10; with 4 cells kept, (2 · 100/√4)^(2/3) = 21.5 intervals of the other.
    assert balanced_sides(np.array([[4, 50]]), np.array([100.0])).tolist() == [[4, 22]]


@pytest.mark.parametrize("pull", [0.0, 1e-9, 3.0, 1e30])
def test_sides_lie_between_one_and_the_cells(pull: float) -> None:
    widths = np.array([[1, 7, 1000, 3]])
    sides = balanced_sides(widths, np.array([pull]))
    assert ((sides >= 1) & (sides <= widths)).all()


def test_more_people_than_cells_ask_for_keep_every_cell() -> None:
    plan = UNIFORM.plan(box(8, 8), {"people": 10**9}, pure("1"))
    assert plan.details["sides"] == [8, 8]


def test_a_public_number_of_people_costs_nothing() -> None:
    plan = UNIFORM.plan(box(8, 8), {"people": 1000}, pure("1"))
    assert [(s["stage"], s["share"]) for s in plan.details["stages"]] == [("blocks", "1")]


def test_a_private_number_of_people_costs_a_twentieth() -> None:
    plan = UNIFORM.plan(box(8, 8), {}, pure("1"))
    assert [(s["stage"], s["share"]) for s in plan.details["stages"]] == [
        ("people", "1/20"),
        ("blocks", "19/20"),
    ]


def test_a_public_total_stands_for_the_number_of_people() -> None:
    unit = PrivacyUnit(Neighbours.REPLACE_ONE)
    plan = ADAPTIVE.plan(box(8, 8), {"total": 640}, pure("1", unit))
    assert plan.details["people"] == 640


def test_the_measured_number_of_people_sets_the_grid() -> None:
    # Counts first hold n = 0 (one block), then n = 10⁶ (every cell).
    plan = UNIFORM.plan(box(2, 2), {}, pure("1"))
    one, four = (UNIFORM.reconstruct(plan, Measurement(np.array(v))) for v in ([-3, 8], [10**6, 1, 2, 3, 4]))
    assert one.raw.tolist() == [2, 2, 2, 2]
    assert four.raw.tolist() == [1, 2, 3, 4]


@pytest.mark.parametrize("people", [-1, 10**10 + 1, 2.5, "many"])
def test_a_number_of_people_that_is_none_is_refused(people: object) -> None:
    with pytest.raises(PlanError, match="give a whole number from 0 to 10,000,000,000"):
        UNIFORM.plan(box(8, 8), {"people": people}, pure("1"))


def test_where_people_are_the_second_level_is_finer() -> None:
    # 100 000 people in one corner of 100 × 100 cells at ε = 1: the corner's block is divided, an empty one is not
    # (a count above 22 would be needed, noise of scale 2 reaches that with probability below 1e-5; fixed source).
    counts = np.zeros((100, 100), dtype=np.int64)
    counts[:10, :10] = 1000
    plan = ADAPTIVE.plan(box(100, 100), {"people": 10**5}, pure("1"))
    partition = ADAPTIVE.reconstruct(plan, ADAPTIVE.measure(plan, counts.ravel(), noise())).partition
    assert partition is not None
    blocks = partition.reshape(100, 100)
    dense, empty = (np.unique(part).size for part in (blocks[:10, :10], blocks[90:, 90:]))
    assert dense > 10 * empty


def test_the_second_level_refines_the_first() -> None:
    # 16 by 16 of 49 cells: with c₁ = 10 · 10 blocks at least, and rows enough to divide each.
    counts = np.full(49 * 49, 50)
    plan = ADAPTIVE.plan(box(49, 49), {"people": 49 * 49 * 50}, pure("1"))
    measurement = ADAPTIVE.measure(plan, counts, noise())
    result = ADAPTIVE.reconstruct(plan, measurement)
    assert result.partition is not None
    fine = result.partition.max() + 1
    coarse = measurement.values.size - fine
    sums = [block.sum() for block in np.split(measurement.values[coarse:], fine)]
    assert coarse < fine
    assert sum(sums) == pytest.approx(counts.sum(), rel=0.01)


def test_both_levels_agree_by_least_squares() -> None:
    # One coarse block of 2 cells that holds 100 (noise of equal scale on both levels): 2 fine blocks, as in
    # test_nested: 12 against 4 + 5 gives 5 and 6.
    plan = ADAPTIVE.plan(box(1, 1), {"people": 10}, pure("1"))
    # One cell: the total counted twice with equal noise is their mean.
    assert ADAPTIVE.reconstruct(plan, Measurement(np.array([10, 20]))).raw.tolist() == pytest.approx([15])


def test_by_width_an_interval_is_rounded_down_to_whole_cells() -> None:
    # √(36) = 6 intervals of 25 cells would be 4.2 cells wide: 4 whole ones, 7 intervals; the number alone gives 6.
    widths, pulls = np.array([[25, 25]]), np.array([36.0])
    assert balanced_sides(widths, pulls).tolist() == [[6, 6]]
    assert balanced_sides(widths, pulls, by_width=True).tolist() == [[7, 7]]


@pytest.mark.parametrize("pull", [0.0, 1e-9, 3.0, 1e30])
def test_sides_by_width_lie_between_one_and_the_cells(pull: float) -> None:
    widths = np.array([[1, 7, 1000, 3]])
    sides = balanced_sides(widths, np.array([pull]), by_width=True)
    assert ((sides >= 1) & (sides <= widths)).all()


@pytest.mark.parametrize(("people", "coarse", "parts"), [(10**4, 100, 16), (10**7, 10**4, 1)])
def test_the_number_of_people_and_the_loss_choose_what_is_rounded(
    people: int, coarse: int, parts: int
) -> None:
    # ε = 1, 100 × 100 cells: 10,000 people make 10 × 10 blocks of 10 cells, where 100 in a block at ε/2 ask for
    # √(100 · 0.5 / 5) = 3.2 intervals, by width 3 cells each: 4. At 10^7 the coarse grid has every cell.
    plan = ADAPTIVE.plan(box(100, 100), {"people": people}, pure("1"))
    counts = np.full(100 * 100, people // 10**4)
    measured = ADAPTIVE.measure(plan, counts, noise()).values
    assert (measured.size - coarse) / coarse == pytest.approx(parts, rel=0.2)
