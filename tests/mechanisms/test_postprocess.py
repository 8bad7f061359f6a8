from __future__ import annotations

import itertools
import json
import random
from functools import cache
from pathlib import Path

import numpy as np
import pytest

from mechanisms import arrays
from mechanisms.postprocess import lattice_simplex

KNOWN = json.loads((Path(__file__).parents[1] / "data" / "known_answers.json").read_text())


@cache
def _tables(cells: int, total: int) -> np.ndarray:
    """Every vector of `cells` counts that sums to `total`, one per row."""
    vectors = itertools.product(range(total + 1), repeat=cells)
    return np.array([v for v in vectors if sum(v) == total])


def _assert_nearest(values: np.ndarray, total: int) -> None:
    counts = lattice_simplex(values, total)
    assert counts.dtype == np.int64
    assert (counts.sum(), counts.min() >= 0) == (total, True)
    gaps = _tables(values.size, total) - values
    l1, l2 = np.abs(gaps).sum(axis=1), (gaps**2).sum(axis=1)
    least = l1.min()
    assert np.abs(counts - values).sum() == pytest.approx(least, abs=1e-9)
    assert ((counts - values) ** 2).sum() == pytest.approx(l2[l1 < least + 1e-9].min(), abs=1e-9)


@pytest.mark.parametrize("cells", [1, 2, 3, 4])
def test_no_table_is_nearer_to_real_values(cells: int) -> None:
    draw = random.Random(cells)
    for _ in range(700):
        # Multiples of 1/8 make many ties, and are exact.
        values = np.array([draw.randint(-24, 48) / 8 for _ in range(cells)])
        _assert_nearest(values, draw.randint(0, 7))


@pytest.mark.parametrize("cells", [2, 4])
def test_no_table_is_nearer_to_integers(cells: int) -> None:
    draw = random.Random(cells)
    for _ in range(400):
        _assert_nearest(np.array([draw.randint(-4, 8) for _ in range(cells)]), draw.randint(0, 7))


@pytest.mark.slow
def test_integers_become_what_the_same_real_numbers_become(monkeypatch: pytest.MonkeyPatch) -> None:
    """Ties among equals too, whatever is worked on at a time."""
    draw = np.random.default_rng(8)
    for run in (3, 1000):
        monkeypatch.setattr(arrays, "RUN", run)
        for _ in range(300):
            lowest = draw.integers(-30, 5)
            values = draw.integers(lowest, lowest + draw.integers(1, 40), draw.integers(1, 14))
            for total in (0, 1, 10, 300, max(0, int(values.sum()))):
                counts = lattice_simplex(values, total)
                assert np.array_equal(counts, lattice_simplex(values.astype(float), total))


@pytest.mark.parametrize("case", KNOWN["lattice_projection"])
def test_known_distances(case: dict) -> None:
    counts = lattice_simplex(np.array(case["y"]), case["n"])
    assert np.abs(counts - case["y"]).sum() == pytest.approx(case["distance"])


def test_counts_of_a_possible_table_stay_as_they_are() -> None:
    counts = np.array([3, 0, 7, 1])
    assert lattice_simplex(counts, 11).tolist() == [3, 0, 7, 1]


def test_an_excess_is_taken_evenly_and_never_below_zero() -> None:
    # 16 rows are 6 too many: 3 cells give one each, the 2 left give one each, one of these gives one more.
    counts = lattice_simplex(np.array([1, 5, 10, -2]), 10)
    assert counts[[0, 3]].tolist() == [0, 0]
    assert sorted(counts[1:3].tolist()) in ([2, 8], [3, 7])


def test_ties_do_not_all_fall_on_the_first_cells() -> None:
    counts = lattice_simplex(np.full(1000, 5), 4500)
    assert 150 < (counts[:500] == 4).sum() < 350


def test_the_same_values_give_the_same_counts() -> None:
    values = np.full(1000, 0.5)
    assert np.array_equal(lattice_simplex(values, 300), lattice_simplex(values.copy(), 300))


def test_integers_beyond_the_precision_of_floats_stay_exact() -> None:
    large = 2**60 + 1
    assert lattice_simplex(np.array([large, 4]), large + 4).tolist() == [large, 4]


@pytest.mark.slow
def test_a_million_cells_of_real_noise_sum_to_the_total() -> None:
    values = np.random.default_rng(1).normal(5, 10, 10**6)
    counts = lattice_simplex(values, 5 * 10**6)
    assert (int(counts.sum()), int(counts.min())) == (5 * 10**6, 0)


@pytest.mark.parametrize(
    ("values", "total", "message"),
    [
        (np.zeros((2, 2)), 1, "one axis"),
        (np.zeros(0), 0, "at least one entry"),
        (np.array([1.0, np.nan]), 1, "finite"),
        (np.zeros(2), -1, "total must not be negative"),
    ],
)
def test_what_has_no_projection_is_refused(values: np.ndarray, total: int, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        lattice_simplex(values, total)
