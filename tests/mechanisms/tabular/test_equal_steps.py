"""Cells as steps of equal width: nobody is lost, and each cell is in one step."""

from __future__ import annotations

import datetime as dt

import numpy as np
import pytest

from dpportal.charts.inline_marks import density_mark, share_mark
from mechanisms.domain import Attribute, Date, Integer, Real
from mechanisms.summary.line import LineColumn
from mechanisms.tabular.equal_steps import equal_steps


def test_equal_cells_are_added_up_in_their_order() -> None:
    """100 whole numbers, a hundredth each: by threes, and one alone at the end, whose step is as wide as the others."""
    edges, parts = equal_steps(np.arange(101.0), np.arange(100), 48)
    heights = parts @ np.full(100, 0.01)
    assert len(heights) == 34 and edges[-1] == 102
    assert heights.tolist() == pytest.approx([0.03] * 33 + [0.01])


COLUMNS: tuple[Attribute, ...] = (
    Integer("short", True, 17, 90),
    Integer("long", True, 0, 129),
    Integer("heaps", True, 0, 99_999, single_values=(0, 5_000, 7_298, 99_999)),
    Real("decimals", True, -1.5, 2.25),
    Real("declared", True, 0.0, 1.0, single_values=(0.25, 0.5)),
    Date("months", True, lower=dt.date(2000, 1, 1), upper=dt.date(2003, 5, 7)),
    Date("weeks", True, lower=dt.date(2000, 1, 1), upper=dt.date(2001, 5, 7)),
    Date("years", True, lower=dt.date(1900, 6, 1), upper=dt.date(2020, 5, 7)),
)


@pytest.mark.parametrize("most", [6, 12, 24, 130])
@pytest.mark.parametrize("column", COLUMNS, ids=lambda column: column.name)
def test_steps_begin_and_end_with_cells_and_are_equally_wide(column: Attribute, most: int) -> None:
    """Where they did not, what was told of a step was of values that are spread evenly over its cells, and wrong."""
    line = LineColumn.of(column)
    edges, parts = equal_steps(line.borders, line.blocks, most)
    assert len(edges) - 1 == len(parts) <= most
    assert (parts.sum(axis=0) == 1).all() and (parts.sum(axis=1) >= 1).all()
    assert set(edges[1:-1]) <= set(line.borders)
    assert edges[0] <= line.borders[0] and edges[-1] >= line.borders[-1]
    widths = np.diff(edges)
    assert len(widths) < 3 or widths.max() <= 1.2 * widths.min()
    for step, cells in enumerate(parts):
        own = np.flatnonzero(cells)
        assert line.edges[0][own].min() >= edges[step] and line.edges[1][own].max() <= edges[step + 1]


def test_marks_fill_their_frame_and_nothing_is_drawn_of_nothing() -> None:
    assert share_mark(0.5) == "M0.0 3.0h48.0v10.0h-48.0z"
    assert share_mark(0) == share_mark(float("nan")) == ""
    assert density_mark(np.zeros(3)) == ""
    assert density_mark(np.array([1.0, 0.0])).startswith("M0.0,16.0 0.0,1.0 48.0,1.0 48.0,16.0")
