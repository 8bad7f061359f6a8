from __future__ import annotations

import itertools
from fractions import Fraction

import numpy as np
import pytest

from mechanisms.accounting import Definition, Loss, PrivacyUnit
from mechanisms.domain import Domain, Integer
from mechanisms.histogram.clustering import ClusteredHistogram, _Space, starting_centres, sum_sensitivity
from mechanisms.noise import Noise
from mechanisms.protocol import PlanError
from mechanisms.sensitivity import Sensitivity
from tests.mechanisms.neighbours import UNITS, changes, name

CLUSTERS = ClusteredHistogram()
COORDINATES = np.array([-3, -1, 1, 3])


def box(*widths: int) -> Domain:
    return Domain(tuple(Integer(f"x{i}", lower=1, upper=w) for i, w in enumerate(widths)))


def pure(amount: str, unit: PrivacyUnit = PrivacyUnit()) -> Loss:  # noqa: B008
    return Loss(Definition.PURE, Fraction(amount), unit)


def noise() -> Noise:
    return Noise(np.random.default_rng(6).bytes)


@pytest.mark.parametrize("unit", UNITS, ids=name)
def test_sums_of_coordinates_move_by_exactly_the_stated_sensitivity(unit: PrivacyUnit) -> None:
    moves = [
        changes(unit, 4) * COORDINATES @ np.eye(2, dtype=np.int64)[list(labels)]
        for labels in itertools.product(range(2), repeat=4)
    ]
    moved = np.concatenate(moves)
    worst = Sensitivity(int(np.abs(moved).sum(axis=1).max()), int((moved**2).sum(axis=1).max()))
    assert sum_sensitivity(unit, 4) == worst


def test_coordinates_are_centred_integers() -> None:
    assert _Space((4, 1, 2)).coordinates[0].tolist() == [-3, -3, -1, -1, 1, 1, 3, 3]
    assert len(_Space((4, 1, 2)).axes) == 2


def test_the_first_of_equally_near_centres_is_taken() -> None:
    space = _Space((5,))
    left, middle = space.at(np.array([[0.0], [0.5]]))
    # Cell 1 of 5 lies half way between cells 0 and 2.
    assert space.nearest(np.stack([left, middle])).tolist() == [0, 0, 1, 1, 1]
    assert space.nearest(np.stack([middle, left])).tolist() == [1, 0, 0, 0, 0]


def test_of_centres_at_one_place_the_first_is_taken() -> None:
    space = _Space((5,))
    centre = space.at(np.array([[0.3]] * 3))
    assert space.nearest(centre).tolist() == [0] * 5


@pytest.mark.parametrize("seed", range(5))
def test_nearest_centres_agree_with_all_distances(seed: int) -> None:
    rng = np.random.default_rng(seed)
    space = _Space((9, 4, 7))
    # Few distinct positions make many ties.
    centres = space.at(rng.integers(0, 5, (12, 3)) / 4)
    units = np.array([2**22 // w for w in (9, 4, 7)])
    points = np.stack(space.coordinates, axis=1) * units
    wanted = ((points[:, None] - centres[None]) ** 2).sum(axis=2).argmin(axis=1)
    assert np.array_equal(space.nearest(centres), wanted)


def test_starting_centres_are_distinct_and_inside() -> None:
    space = _Space((64, 64))
    centres = starting_centres(1024, space)
    assert len(np.unique(centres, axis=0)) == 1024
    assert np.abs(centres).max() <= 63 * 2**16


def test_a_centre_moves_to_the_noisy_mean_and_stays_inside() -> None:
    space = _Space((5,))
    centres = space.at(np.array([[0.5], [0.5], [0.25]]))
    # Means -8/4 = -2 (cell 1 of coordinates -4..4), 90/3 beyond the end, and too few rows to move.
    moved = space.moved(centres, np.array([[4, 3, 0], [-8, 90, 5]]))
    assert moved.tolist() == space.at(np.array([[0.25], [1.0], [0.25]])).tolist()


def test_centres_find_two_groups_of_people() -> None:
    counts = np.zeros(100, dtype=np.int64)
    counts[[10, 90]] = 10**6
    plan = CLUSTERS.plan(box(100), {"clusters": 2, "rounds": 5}, pure("1"))
    partition = CLUSTERS.reconstruct(plan, CLUSTERS.measure(plan, counts, noise())).partition
    assert partition is not None
    # The border lies half way between 10 and 90, give or take the noise of sums (about 0.01 cells).
    assert set(partition[:50]).isdisjoint(partition[51:])


def test_centres_without_cells_make_no_block() -> None:
    # Everybody in one cell draws all centres that have people there; rows of 1000 losses leave no doubt.
    counts = np.zeros(16, dtype=np.int64)
    counts[5] = 10**6
    plan = CLUSTERS.plan(box(4, 4), {"clusters": 16, "rounds": 10}, pure("1"))
    result = CLUSTERS.reconstruct(plan, CLUSTERS.measure(plan, counts, noise()))
    assert result.partition is not None
    assert np.bincount(result.partition).min() > 0
    assert result.partition.max() < 15


def test_a_measurement_holds_every_round_and_then_the_clusters() -> None:
    plan = CLUSTERS.plan(box(6, 9), {"clusters": 3, "rounds": 2}, pure("1000"))
    values = CLUSTERS.measure(plan, np.full(54, 10), noise()).values
    # Two rounds of 3 numbers of rows and 3 sums for each of 2 columns, then 3 clusters. The noise of rows
    # differs from 0 with probability below 1e-60 at ε = 1000/12.
    assert values.size == 2 * 9 + 3
    assert (values[:3].sum(), values[9:12].sum(), values[18:].sum()) == (540, 540, 540)


def test_more_clusters_than_cells_are_refused() -> None:
    with pytest.raises(
        PlanError, match="55 clusters are asked for, but the chosen columns have only 54 cells"
    ):
        CLUSTERS.plan(box(6, 9), {"clusters": 55}, pure("1"))


@pytest.mark.parametrize(("widths", "clusters"), [((6, 9), 54), ((60, 90), 64)])
def test_a_number_not_asked_for_is_64_or_that_of_the_cells(widths: tuple[int, ...], clusters: int) -> None:
    assert CLUSTERS.plan(box(*widths), {}, pure("1")).details["clusters"] == clusters


@pytest.mark.parametrize(
    ("name", "value"), [("clusters", -1), ("clusters", 1025), ("rounds", 0), ("rounds", 21)]
)
def test_numbers_out_of_bounds_are_refused(name: str, value: int) -> None:
    with pytest.raises(PlanError, match="give a whole number"):
        CLUSTERS.plan(box(60, 90), {name: value}, pure("1"))
