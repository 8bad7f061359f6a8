"""Cells merged and laid out until a chart can show them."""

from __future__ import annotations

import numpy as np

from dpportal.charts.cells import axes_and_panels, merged, merged_labels, widths_within
from mechanisms.domain import Categorical

SEX = Categorical("sex", values=("female", "male"))  # three cells: "Other" is added


class TestCells:
    def test_merging_sums_runs_and_keeps_the_short_last_one(self) -> None:
        assert merged(np.array([1, 2, 3, 4, 5]), [2]).tolist() == [3, 7, 5]

    def test_merged_labels_name_both_ends(self) -> None:
        assert merged_labels(SEX, 2, SEX.size) == ["female … male", "Other"]

    def test_the_larger_axis_gives_way_first(self) -> None:
        assert widths_within((100, 10), 500) == (2, 1)

    def test_the_largest_columns_are_the_axes_and_small_ones_the_panels(self) -> None:
        assert axes_and_panels((2, 50, 3, 40), 8) == ((1, 3), (0, 2))

    def test_a_column_beyond_the_panels_is_in_neither(self) -> None:
        assert axes_and_panels((2, 50, 5, 40), 8) == ((1, 3), (0,))
