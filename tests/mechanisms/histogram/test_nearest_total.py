"""The total of the nearest table >= 0, against scipy's non-negative least squares with a dense matrix."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import nnls

from mechanisms.histogram.nearest_total import nearest_total


def test_an_empty_half_counts_for_little() -> None:
    # (c1 - 10)² + (c2 + 6)² + 2 (c1 + c2 - 4)² with c2 = 0: c1 = 18/3.
    assert nearest_total(np.array([10.0, -6.0]), [np.array([0])]) == pytest.approx(6)


def test_one_part_is_itself_or_nobody() -> None:
    assert (nearest_total(np.array([7.0]), []), nearest_total(np.array([-7.0]), [])) == (7, 0)


@pytest.mark.parametrize("seed", range(30))
def test_the_total_is_that_of_non_negative_least_squares(seed: int) -> None:
    random = np.random.default_rng(seed)
    estimates = random.normal(0, 5, random.integers(1, 40))
    parts, matrix, weights, firsts = np.eye(estimates.size), [np.eye(estimates.size)], [1.0], []
    while len(parts) > 1:
        # Neighbours are joined in pairs, but for some that stay alone.
        first = np.flatnonzero(np.diff(np.arange(len(parts)) + random.integers(0, 2) >> 1, prepend=-1))
        firsts.append(first)
        parts = np.add.reduceat(parts, first)
        matrix, weights = [*matrix, parts], [*weights, 2 * weights[-1]]
    dense = np.vstack([np.sqrt(w) * m for w, m in zip(weights, matrix, strict=True)])
    nearest, _ = nnls(dense, dense @ estimates)
    assert nearest_total(estimates, firsts) == pytest.approx(nearest.sum(), abs=1e-9)


@pytest.mark.slow
def test_the_noise_of_an_empty_half_counts_for_less_than_in_the_sum() -> None:
    # 8 parts of 1,024 hold 1,000 people each; noise of 10 a part makes the sum wrong by 320. Over 1,000 runs the
    # standard error of either mean square is 4 %.
    random, true = np.random.default_rng(1), np.repeat([1000.0, 0.0], [8, 1016])
    firsts = [np.arange(0, 2**k, 2) for k in range(10, 0, -1)]
    noisy = true + random.normal(0, 10, (1000, 1024))
    totals = np.array([nearest_total(y, firsts) for y in noisy])
    assert np.mean((totals - 8000) ** 2) < 0.9 * np.mean((noisy.sum(axis=1) - 8000) ** 2)
