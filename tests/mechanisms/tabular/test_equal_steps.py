"""Cells of any width as steps of equal width: nobody is lost, and values are where they were."""

from __future__ import annotations

import numpy as np
import pytest

from dpportal.charts.inline_marks import density_mark, share_mark
from mechanisms.tabular.equal_steps import MOST_STEPS, equal_steps


def test_equal_cells_are_added_up_in_their_order() -> None:
    """100 whole numbers, a hundredth each: by threes, and one alone at the end, whose step is as wide as the others."""
    edges, parts = equal_steps(np.arange(101.0), 48)
    heights = parts @ np.full(100, 0.01)
    assert len(heights) == 34 and edges[-1] == 102
    assert heights.tolist() == pytest.approx([0.03] * 33 + [0.01])


def test_a_single_value_stands_in_the_step_that_it_begins_and_others_are_spread() -> None:
    """Half of all at 0; the others evenly over 0 to 48, in cells of 12 and 36."""
    edges, parts = equal_steps(np.array([0.0, 0.0, 12.0, 48.0]), 100)
    heights = parts @ np.array([0.5, 0.125, 0.375])
    assert len(heights) == MOST_STEPS and edges[1] == 1
    even = 0.5 / MOST_STEPS
    assert heights.tolist() == pytest.approx([0.5 + even, *[even] * (MOST_STEPS - 1)])


@pytest.mark.parametrize("most", [6, 12, 24, 48])
def test_every_cell_is_in_the_steps_once(most: int) -> None:
    for edges in (np.arange(75.0), np.array([0.0, 0.0, 3.0, 10.0, 10.0, 64.0, 64.0])):
        steps, parts = equal_steps(edges, most)
        assert len(steps) - 1 == len(parts) <= most
        assert np.ptp(np.diff(steps)) < 1e-9
        assert parts.sum(axis=0) == pytest.approx(1)


def test_marks_fill_their_frame_and_nothing_is_drawn_of_nothing() -> None:
    assert share_mark(0.5) == "M0.0 3.0h48.0v10.0h-48.0z"
    assert share_mark(0) == share_mark(float("nan")) == ""
    assert density_mark(np.zeros(3)) == ""
    assert density_mark(np.array([1.0, 0.0])).startswith("M0.0,16.0 0.0,1.0 48.0,1.0 48.0,16.0")
