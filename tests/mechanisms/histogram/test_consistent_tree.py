from __future__ import annotations

import numpy as np
import pytest

from mechanisms.histogram.consistent_tree import Level, consistent_leaves

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
