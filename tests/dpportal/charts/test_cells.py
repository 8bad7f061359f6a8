"""Cells merged and laid out until a chart can show them."""

from __future__ import annotations

import numpy as np
import pytest

from dpportal.charts import cells
from dpportal.charts.cells import axes_and_panels, marginal, merged, merged_labels, widths_within
from mechanisms.domain import Categorical

SEX = Categorical("sex", values=("female", "male"))  # three cells: "Other" is added


class TestCells:
    def test_merging_sums_runs_and_keeps_the_short_last_one(self) -> None:
        assert merged(np.array([1, 2, 3, 4, 5]), [2]).tolist() == [3, 7, 5]

    @pytest.mark.parametrize("run", [1, 10, 1000])
    def test_sums_of_slabs_are_the_sums(self, run: int, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(cells, "RUN", run)
        counts = np.arange(2 * 5 * 7).reshape(2, 5, 7)
        for axes in ((0,), (2,), (1, 0), (2, 1), (0, 1, 2), (2, 0, 1)):
            wanted = np.moveaxis(counts, axes, range(len(axes))).sum(axis=tuple(range(len(axes), 3)))
            assert np.array_equal(marginal({"noisy": counts}, axes)["noisy"], wanted)

    def test_merging_sums_blocks_of_all_axes(self) -> None:
        counts = np.arange(5 * 7).reshape(5, 7)
        blocks = [[counts[a : a + 2, b : b + 3].sum() for b in (0, 3, 6)] for a in (0, 2, 4)]
        assert merged(counts, [2, 3]).tolist() == blocks

    def test_merged_labels_name_both_ends(self) -> None:
        assert merged_labels(SEX, 2, SEX.size) == ["female … male", "Other"]

    def test_the_larger_axis_gives_way_first(self) -> None:
        assert widths_within((100, 10), 500) == (2, 1)

    def test_the_largest_columns_are_the_axes_and_small_ones_the_panels(self) -> None:
        assert axes_and_panels((2, 50, 3, 40), 8) == ((1, 3), (0, 2))

    def test_a_column_beyond_the_panels_is_in_neither(self) -> None:
        assert axes_and_panels((2, 50, 5, 40), 8) == ((1, 3), (0,))
