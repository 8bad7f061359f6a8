"""Means of groups and shares: an interval reaches as far on either side as it says, live and standing still."""

from __future__ import annotations

import numpy as np
import pytest

from dpportal.charts.column_summaries import shares_figure
from dpportal.charts.group_means import means_figure
from dpportal.charts.static_svg import drawing
from dpportal.charts.trace_values import reach_on, sides_at
from mechanisms.moments.estimates import Interval


def test_an_interval_is_drawn_to_both_its_ends() -> None:
    """A mean of 0 with an interval from 0 to 632, as it is told."""
    mean, ends = (
        np.array([0.0, 50.0, np.nan]),
        (np.array([0.0, 40.0, np.nan]), np.array([632.0, 70.0, np.nan])),
    )
    [trace] = means_figure("gain", ["a", "b", "c"], Interval(mean, *ends), decimals=0).json["data"]
    assert [sides_at(trace, place) for place in (0, 1)] == [(0, 632), (10, 20)]
    assert min(reach_on(trace, "y")) == 0
    assert trace["hovertext"] == ["0 to 632", "40 to 70"]


def test_a_share_at_its_end_has_a_line_on_one_side() -> None:
    [trace] = shares_figure("x", ["a"], {"All": (np.zeros(1), np.zeros(1), np.array([0.4]))}).json["data"]
    assert sides_at(trace, 0) == pytest.approx((0, 40))


def test_marks_of_the_axis_reach_the_highest_point_and_are_written_in_full() -> None:
    ends = (np.array([12_000.0, 70_000.0]), np.array([14_000.0, 77_000.0]))
    figure = means_figure("wage", ["a", "b"], Interval(np.array([13_000.0, 73_500.0]), *ends), decimals=0)
    axis = figure.json["layout"]["yaxis"]
    assert axis["range"][1] >= 80_000 >= 77_000
    assert axis["range"][0] <= 12_000
    assert 80_000 % axis["dtick"] == 0
    texts = [text["text"] for text in drawing(figure.json)["texts"]]
    assert {"80,000", "13,000", "73,500"} <= set(texts)
    assert not [text for text in texts if "e+" in text]


def test_the_number_of_a_bar_or_point_is_rounded_once() -> None:
    """22.1854 % to 22.19 and not by 22.185 to 22.18; 1.0005003 to 1.001 and not by 1.0005 to 1.000."""
    share, mean = np.array([0.221854]), np.array([1.0005003])
    figures = (
        shares_figure("x", ["a"], {"All": (share, share - 0.02, share + 0.02)}),
        means_figure("x", ["a"], Interval(mean, mean - 0.1, mean + 0.1), decimals=3),
    )
    texts = [text["text"] for figure in figures for text in drawing(figure.json)["texts"]]
    assert {"22.19", "1.001"} <= set(texts)
