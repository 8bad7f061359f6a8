"""Bars that are sorted, and those without nobody's cells, are compared in their order: a swap of two is named."""

from __future__ import annotations

import numpy as np
import pandas as pd

from mechanisms.verify.chart_maps import strange
from mechanisms.verify.chart_orders import largest_places
from mechanisms.verify.chart_series import ChartSeries
from mechanisms.verify.svg_shapes import Shade

TOWNS = [*(f"town {place}" for place in range(40)), "Other"]
COUNTS = [*range(100, 140), 2]


def of_one() -> ChartSeries:
    table = pd.DataFrame({"town": TOWNS, "noisy_count": map(str, COUNTS)})
    return ChartSeries({"histogram": table}, set(TOWNS))


def test_the_largest_first_agree_and_two_that_are_swapped_do_not() -> None:
    drawn = np.arange(139, 114, -1.0)
    match = of_one().match(drawn, 0.1)
    assert match is not None and match.in_order and not match.wrong.any()
    drawn[[3, 7]] = drawn[[7, 3]]
    match = of_one().match(drawn, 0.1)
    assert match is not None and np.flatnonzero(match.wrong).tolist() == [3, 7]


def test_what_was_declared_may_be_drawn_without_the_cell_of_nobody() -> None:
    match = of_one().match(np.arange(100.0, 140), 0.1)
    assert match is not None and match.in_order and not match.wrong.any()


def test_groups_are_sorted_by_all_of_them_together() -> None:
    """Ten values of two groups: the second group has most people in the first value."""
    first, second = np.arange(10.0, 20), np.arange(200.0, 100, -10)
    table = pd.DataFrame(
        {
            "job": [f"job {place}" for place in range(10) for _group in "fm"],
            "sex": ["f", "m"] * 10,
            "noisy_count": np.stack([first, second], axis=1).ravel(),
        }
    )
    series, order = ChartSeries({"histogram": table}, set()), largest_places(first + second, 2)
    assert order.tolist() == list(range(10))
    match = series.match(first[order], 0.1)
    assert match is not None and match.in_order and not match.wrong.any()


def test_a_bar_of_nobody_is_no_cell_of_a_map() -> None:
    bars = np.array([[100.0, 50, 0, 13, 0], [100, 73, 40, 13, 40]])
    assert strange([Shade(bars, 1.0, False)], of_one()) == (0, [])
