"""What parts of a table hold at least, where they stand out from the noise."""

from __future__ import annotations

import numpy as np

from mechanisms.histogram.least_people import least_people
from mechanisms.histogram.parts import parts_by_size


def least(estimates: list[float], error: float) -> list[list[int]]:
    sizes = parts_by_size(np.array(estimates), np.arange(len(estimates)))
    return [people.tolist() for people in least_people(sizes, error)]


def test_without_noise_every_part_holds_what_it_says() -> None:
    assert least([3, 0, 7, 1], 0.0) == [[3, 0, 7, 1], [3, 8], [11]]


def test_a_part_that_stands_out_takes_one_standard_error_off_and_brings_no_empty_ones_along() -> None:
    # One block of 100 ± 4. With the three that say -5 the sum would be 85 ± 8.
    assert least([-5, 100, -5, -5], 4.0) == [[0, 96, 0, 0], [96, 0], [96]]


def test_blocks_that_stand_out_only_together_count_as_a_whole() -> None:
    # Each is 14 ± 5, as noise alone might say; two of them 28 ± 7, all four 56 ± 10.
    assert least([14, 14, 14, 14], 5.0) == [[0, 0, 0, 0], [20, 20], [46]]


def test_noise_alone_seldom_stands_out() -> None:
    random = np.random.default_rng(5)
    tables = random.laplace(0, 1, (60, 512)) + random.laplace(0, 1, (60, 512))
    # Two Laplace noises of scale 1: a variance of 4.
    standing_out = sum(least(table.tolist(), 2.0)[-1] != [0] for table in tables)
    assert standing_out <= 6
