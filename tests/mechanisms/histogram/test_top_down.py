from __future__ import annotations

import numpy as np
import pytest

from mechanisms.histogram import top_down as module
from mechanisms.histogram.top_down import top_down


def test_a_possible_table_stays_as_it_is() -> None:
    assert top_down(np.array([3.0, 0.0, 7.0, 1.0]), [1, 0], 11, 4).tolist() == [3, 0, 7, 1]


def test_an_empty_half_stays_empty_whatever_its_cells_say() -> None:
    # The right half sums to -10, so all 10 people are on the left: 9 and 3 lose one each.
    assert top_down(np.array([8.0, 4.0, 30.0, -40.0]), [1, 0], 10, 4).tolist() == [7, 3, 0, 0]


def test_one_level_is_the_nearest_point_of_the_simplex() -> None:
    # 5, 2.1, 1 sum to 8.1; 6 people: each loses 0.7, so 4.3, 1.4, 0.3; the largest fraction is rounded up.
    assert top_down(np.array([5.0, 2.1, 1.0, -9.0]), [0], 6, 4).tolist() == [4, 2, 0, 0]


def test_cells_beyond_the_last_stay_empty() -> None:
    assert top_down(np.array([1.0, 1.0, 1.0, 90.0]), [1, 0], 5, 3).sum() == 5


@pytest.mark.parametrize("levels", [[0], [3, 0], [9, 6, 3, 0], list(range(9, -1, -1))], ids=str)
@pytest.mark.parametrize("total", [0, 1, 777, 10**12])
def test_counts_are_never_negative_and_sum_to_the_total(levels: list[int], total: int) -> None:
    estimates = np.random.default_rng(total % 97).normal(1, 5, 512)
    counts = top_down(estimates, levels, total, 400)
    assert (counts.shape, int(counts.sum()), int(counts.min()) >= 0) == ((400,), total, True)


@pytest.mark.parametrize("run", [1, 8, 100])
def test_blocks_are_divided_some_at_a_time(run: int, monkeypatch: pytest.MonkeyPatch) -> None:
    estimates, levels = np.random.default_rng(5).normal(1, 5, 512), [9, 6, 3, 0]
    together = module.top_down(estimates, levels, 900, 400)
    monkeypatch.setattr(module, "RUN", run)
    assert np.array_equal(top_down(estimates, levels, 900, 400), together)
