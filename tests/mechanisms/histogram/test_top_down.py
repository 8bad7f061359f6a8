from __future__ import annotations

import numpy as np
import pytest

from mechanisms.histogram.blocks import grid_codes
from mechanisms.histogram.top_down import top_down

# So noisy that nothing stands out.
NOISY = 1e6


def line(estimates: list[float], total: int | None = None, error: float = NOISY) -> list[int]:
    counts: list[int] = top_down(np.array(estimates), np.arange(len(estimates)), error, total=total).tolist()
    return counts


@pytest.mark.parametrize("total", [11, None])
def test_a_possible_table_stays_as_it_is(total: int | None) -> None:
    assert line([3, 0, 7, 1], total) == [3, 0, 7, 1]


def test_an_empty_half_stays_empty_whatever_its_blocks_say() -> None:
    # The right half sums to -10, so all 10 people are on the left: 8 and 4 lose one each.
    assert line([8, 4, 30, -40], 10) == [7, 3, 0, 0]


def test_halves_share_what_is_missing_by_their_numbers_of_blocks() -> None:
    # 3 of 18 are too many: the two blocks on the left lose 2 of them, the one on the right 1; then 1 and 1.
    assert line([6, 6, 6], 15) == [5, 5, 5]


def test_empty_halves_take_no_people_from_the_full_ones() -> None:
    # Four pairs of a full block of 100 and an empty one, whose noise sums to 2. One by one, the empty would keep 9;
    # 5, the largest, reaches the 2.
    noise = [5, -6, 4, -1]
    counts = np.reshape(line([c for e in noise for c in (100 - e, e)], 400), (4, 2))
    assert counts[:, 1].tolist() == [5, 0, 0, 0]


def test_without_noise_of_either_sign_small_blocks_stay() -> None:
    assert line([100, 1, 100, 2, 100, 1, 100, 0]) == [100, 1, 100, 2, 100, 1, 100, 0]


def test_blocks_may_be_in_any_order() -> None:
    estimates, codes = np.array([7.0, 3.0, 1.0, 0.0]), np.array([2, 0, 3, 1])
    assert top_down(estimates, codes, NOISY, total=11).tolist() == [7, 3, 1, 0]


@pytest.mark.parametrize("shape", [(400,), (7, 1, 30), (16, 16)], ids=str)
@pytest.mark.parametrize("total", [0, 1, 777, 10**12, None])
@pytest.mark.parametrize("error", [0.1, NOISY])
def test_counts_are_never_negative_and_sum_to_the_total(
    shape: tuple[int, ...], total: int | None, error: float
) -> None:
    sides = np.array(shape)
    estimates = np.random.default_rng(7).normal(1, 5, sides.prod())
    counts = top_down(estimates, grid_codes(sides), error, total=total)
    assert (counts.shape, counts.dtype, int(counts.min()) >= 0) == (estimates.shape, np.int64, True)
    assert total is None or counts.sum() == total


def test_no_people_are_found_where_all_estimates_are_negative() -> None:
    assert line([-3, -1, -2]) == [0, 0, 0]


def test_a_crowd_that_stands_out_is_not_overruled_by_the_noise_of_empty_places() -> None:
    # 1,000 people in one cell, and noise of standard error 10 in 1,023 empty ones that sums to -600: the sum of all
    # estimates says 400.
    empty = np.full(1023, -600 / 1023)
    estimates = np.insert(empty + np.tile([10.0, -10.0, 0.0], 341), 500, 1000)
    counts = top_down(estimates, np.arange(1024), 10.0)
    assert counts[500] == 990
    assert counts.sum() == 990
