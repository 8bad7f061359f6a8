from __future__ import annotations

import numpy as np
import pytest

from mechanisms.histogram.consistent_tree import Level, consistent_leaves, possible_leaves

NONE = np.zeros(0, dtype=np.int64)


def test_a_total_shares_its_surplus_between_equal_halves() -> None:
    # Total 12 against 4 + 5, all of variance 1: the halves' sum has variance 2, so the total weighs 2/3 and the
    # best total is 11; each half takes half of the missing 2.
    levels = [Level(np.array([12]), 1, NONE), Level(np.array([4, 5]), 1, np.array([0, 0]))]
    assert consistent_leaves(levels) == pytest.approx([5, 6])


def test_one_level_is_its_own_estimate() -> None:
    assert consistent_leaves([Level(np.array([3, -1]), 2.5, NONE)]).tolist() == [3, -1]


def test_an_exact_level_is_believed() -> None:
    levels = [Level(np.array([12]), 0, NONE), Level(np.array([4, 5]), 1, np.array([0, 0]))]
    assert consistent_leaves(levels).sum() == pytest.approx(12)


@pytest.mark.parametrize("seed", range(20))
def test_estimates_solve_the_weighted_least_squares_problem(seed: int) -> None:
    rng = np.random.default_rng(seed)
    parents = [
        np.sort(np.concatenate([np.arange(a), rng.integers(0, a, b - a)])) for a, b in ((2, 5), (5, 9))
    ]
    levels = [Level(rng.integers(0, 50, 2), 3.0, NONE)]
    levels += [Level(rng.integers(0, 50, p.size), v, p) for p, v in zip(parents, (0.5, 7.0), strict=True)]
    middle = np.eye(5)[parents[1]].T
    A = np.vstack([np.eye(2)[parents[0]].T @ middle, middle, np.eye(9)])
    weight = np.repeat([3.0, 0.5, 7.0], [2, 5, 9]) ** -0.5
    y = np.concatenate([level.counts for level in levels])
    best = np.linalg.lstsq(A * weight[:, None], y * weight)[0]
    assert consistent_leaves(levels) == pytest.approx(best)


def test_one_level_becomes_the_nearest_possible_counts() -> None:
    assert possible_leaves(np.array([-7.5, 3.2, 9.9]), (), 13).tolist() == [0, 3, 10]


def test_noise_in_an_empty_half_does_not_draw_people_from_the_other() -> None:
    # The halves' estimates are 100 and 0. One by one, the 3s would share the total of 100 with the 50s.
    estimates = np.array([50, 50, 3, -3, 3, -3])
    leaves = possible_leaves(estimates, (np.array([0, 0, 1, 1, 1, 1]),), 100)
    assert leaves.tolist() == [50, 50, 0, 0, 0, 0]


def test_a_half_is_divided_by_the_nearest_numbers_that_are_not_negative() -> None:
    # 10 among 6.3, 5.1 and -1.4: the nearest are 5.6, 4.4, 0, and the larger fraction is rounded up.
    leaves = possible_leaves(np.array([6.3, 5.1, -1.4]), (np.array([0, 0, 0]),), 10)
    assert leaves.tolist() == [6, 4, 0]


@pytest.mark.parametrize("seed", range(20))
def test_possible_leaves_keep_the_total_and_nest(seed: int) -> None:
    rng = np.random.default_rng(seed)
    parents = [
        np.sort(np.concatenate([np.arange(a), rng.integers(0, a, b - a)])) for a, b in ((3, 8), (8, 40))
    ]
    leaves = possible_leaves(rng.normal(3, 30, 40), parents, 777)
    assert leaves.min() >= 0
    assert leaves.sum() == 777
    assert leaves.dtype == np.int64


def test_estimates_of_a_possible_table_stay_as_they_are() -> None:
    parents = (np.array([0, 0, 1]), np.array([0, 1, 1, 2, 2]))
    counts = np.array([10**9, 0, 7, 3, 0])
    assert possible_leaves(counts, parents, int(counts.sum())).tolist() == counts.tolist()
