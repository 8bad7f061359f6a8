"""Means of groups and shares: an interval reaches as far on either side as it says, live and standing still."""

from __future__ import annotations

import re

import numpy as np
import pytest

from dpportal.charts.column_summaries import shares_figure
from dpportal.charts.group_means import means_figure
from dpportal.charts.spoken import spoken_summary
from dpportal.charts.static_svg import drawing
from dpportal.charts.style import Figure
from dpportal.charts.trace_values import reach_on, sides_at
from mechanisms.moments.estimates import Interval


def test_an_interval_is_drawn_to_both_its_ends() -> None:
    """A mean of 0 with an interval from 0 to 632, as it is told."""
    mean, ends = (
        np.array([0.0, 50.0, np.nan]),
        (np.array([0.0, 40.0, np.nan]), np.array([632.0, 70.0, np.nan])),
    )
    [trace] = means_figure("gain", ["a", "b", "c"], Interval(mean, *ends), [0, 0, 0]).json["data"]
    assert [sides_at(trace, place) for place in (0, 1)] == [(0, 632), (10, 20)]
    assert min(reach_on(trace, "y")) == 0
    assert trace["hovertext"] == ["0 to 632", "40 to 70"]


def test_a_share_at_its_end_has_a_line_on_one_side() -> None:
    [trace] = shares_figure("x", ["a"], {"All": (np.zeros(1), np.zeros(1), np.array([0.4]))}).json["data"]
    assert sides_at(trace, 0) == pytest.approx((0, 40))


def test_marks_of_the_axis_reach_the_highest_point_and_are_written_in_full() -> None:
    ends = (np.array([12_000.0, 70_000.0]), np.array([14_000.0, 77_000.0]))
    figure = means_figure("wage", ["a", "b"], Interval(np.array([13_000.0, 73_500.0]), *ends), [0, 0])
    axis = figure.json["layout"]["yaxis"]
    assert axis["range"][1] >= 80_000 >= 77_000
    assert axis["range"][0] <= 12_000
    assert 80_000 % axis["dtick"] == 0
    texts = [text["text"] for text in drawing(figure.json)["texts"]]
    assert {"80,000", "13,000", "73,500"} <= set(texts)
    assert not [text for text in texts if "e+" in text]


def test_each_mean_has_the_digits_that_its_own_margin_bears() -> None:
    """In the chart, at the pointer and read aloud: 47.4 with an interval from 46 to 48.9, beside 38.571."""
    mean, ends = np.array([47.442, 38.5712]), (np.array([45.998, 38.499]), np.array([48.886, 38.643]))
    figure = means_figure("hours", ["a", "b"], Interval(mean, *ends), [1, 3])
    [trace] = figure.json["data"]
    assert trace["customdata"] == ["47.4", "38.571"] and trace["hovertext"] == [
        "46.0 to 48.9",
        "38.499 to 38.643",
    ]
    assert {"47.4", "38.571"} <= {text["text"] for text in drawing(figure.json)["texts"]}
    assert spoken_summary(figure.json) == "Highest: 47.4 at a; lowest: 38.571 at b."


def heights(figure: Figure) -> list[float]:
    """Of the points of a drawing, in pixels from its top; those that lie are as far from its left."""
    [dots] = [area["path"] for area in drawing(figure.json)["areas"] if "a4 4" in area["path"]]
    return [float(place) for place in re.findall(r"M([\d.-]+) ", dots)]


def test_means_far_from_zero_are_drawn_apart_and_the_caption_says_where_the_axis_begins() -> None:
    """Ages of 38 and 45 on an axis from zero on would stand in a tenth of the chart."""
    mean = np.array([38.0, 45.0])
    names = ["a" * 60, "b" * 60]
    figure = means_figure("age", names, Interval(mean, mean - 1, mean + 1), [1, 1])
    low, high = heights(figure)
    assert high - low > 100
    assert figure.caption.endswith("The axis does not begin at zero, so that differences can be seen.")
    upright = drawing(means_figure("age", ["a", "b"], Interval(mean, mean - 1, mean + 1), [1, 1]).json)
    marks = {text["text"] for text in upright["texts"]}
    assert "0" not in marks and {"38", "44"} <= marks


def test_zero_that_is_near_is_on_the_axis() -> None:
    mean = np.array([3.0, 9.0])
    figure = means_figure("children", ["a", "b"], Interval(mean, mean - 1, mean + 1), [1, 1])
    assert figure.json["layout"]["yaxis"]["range"][0] == 0 and "zero" not in figure.caption


def test_means_below_zero_have_their_numbers_beside_their_points() -> None:
    mean = np.array([-38.0, -45.0])
    shown = drawing(means_figure("x", ["a", "b"], Interval(mean, mean - 1, mean + 1), [1, 1]).json)
    assert all(0 <= text["y"] <= shown["height"] for text in shown["texts"])


def test_the_number_of_a_bar_or_point_is_rounded_once() -> None:
    """22.1854 % to 22.19 and not by 22.185 to 22.18; 1.0005003 to 1.001 and not by 1.0005 to 1.000."""
    share, mean = np.array([0.221854]), np.array([1.0005003])
    figures = (
        shares_figure("x", ["a"], {"All": (share, share - 0.02, share + 0.02)}),
        means_figure("x", ["a"], Interval(mean, mean - 0.1, mean + 0.1), [3]),
    )
    texts = [text["text"] for figure in figures for text in drawing(figure.json)["texts"]]
    assert {"22.19", "1.001"} <= set(texts)
