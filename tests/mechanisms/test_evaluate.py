from __future__ import annotations

import math

import numpy as np
import pytest

from mechanisms import arrays
from mechanisms.evaluate import ObservedError, observed_error


def test_every_figure_of_three_cells() -> None:
    # Errors 3, 0, 4 on ten rows: L1 7, L2 5, largest 4, two of three cells within ± 3.
    error = observed_error(np.array([5, 5, 0]), np.array([2, 5, -4]), half_width=3)
    assert error == ObservedError(total_variation=0.35, l1=7, l2=5.0, largest=4, inside=2 / 3)


def test_the_true_counts_have_no_error() -> None:
    counts = np.array([1, 2, 3])
    assert observed_error(counts, counts, half_width=0) == ObservedError(0.0, 0, 0.0, 0, 1.0)


def test_an_empty_table_has_no_total_variation() -> None:
    assert math.isnan(observed_error(np.zeros(2, int), np.ones(2, int), half_width=1).total_variation)


@pytest.mark.parametrize("shape", [(3,), (2, 1)])
def test_shapes_must_agree(shape: tuple[int, ...]) -> None:
    with pytest.raises(ValueError, match="share one shape"):
        observed_error(np.zeros(2, int), np.zeros(shape, int), half_width=1)


def test_cells_are_compared_run_by_run(monkeypatch: pytest.MonkeyPatch) -> None:
    draw = np.random.default_rng(4)
    true, released = draw.integers(0, 50, 100), draw.integers(-20, 80, 100)
    monkeypatch.setattr(arrays, "RUN", 7)
    error, apart = observed_error(true, released, half_width=9), np.abs(true - released)
    assert (error.l1, error.largest) == (apart.sum(), apart.max())
    assert error.l2 == pytest.approx(np.sqrt((apart**2).sum()))
    assert error.inside == (apart <= 9).mean()
    assert error.total_variation == apart.sum() / (2 * true.sum())
