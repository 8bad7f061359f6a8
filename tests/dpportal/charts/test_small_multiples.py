"""Several running counts in one chart or in panels, and what each period adds, told apart without colour."""

from __future__ import annotations

import json
from itertools import pairwise

import numpy as np
import pytest

from dpportal.charts.increments import increments_apart_figure, increments_figure
from dpportal.charts.screens import MOST_PANELS, for_screens
from dpportal.charts.series import Timeline, expectation_figure
from dpportal.charts.small_multiples import MAX_APART, MAX_TOGETHER, apart_figure, together_figure
from dpportal.charts.static_svg import drawing

PERIODS = [f"2020-{month:02d}" for month in range(1, 31)]
HALF = np.arange(30) + 1
SECRET = 987_654_321


def counts(series: int) -> np.ndarray:
    return np.cumsum(np.ones((30, series), dtype=np.int64) * np.arange(1, series + 1), axis=0)


def names(series: int) -> list[str]:
    return [f"<b>{place}</b>" for place in range(series)]


def test_lines_in_one_chart_differ_in_dash_and_mark_and_each_has_a_band_of_its_own_colour() -> None:
    figure = together_figure(
        Timeline(PERIODS), names(MAX_TOGETHER), released=counts(MAX_TOGETHER), half_widths=HALF
    ).json
    lines = [trace for trace in figure["data"] if trace["mode"] == "lines+markers"]
    edges = [trace for trace in figure["data"] if trace["mode"] == "lines"]
    lower, upper = edges[::2], edges[1::2]
    assert len({line["line"]["dash"] for line in lines}) == len(lines) == MAX_TOGETHER
    assert len({line["marker"]["symbol"] for line in lines}) == MAX_TOGETHER
    assert lines[2]["y"] == counts(MAX_TOGETHER)[:, 2].tolist()
    assert lines[0]["name"] == "&lt;b&gt;0&lt;/b&gt;"
    for place, (low, high) in enumerate(zip(lower, upper, strict=True)):
        assert (np.array(high["y"]) - low["y"]).tolist() == (2 * HALF).tolist()
        assert high["fillcolor"] == f"var(--series-{place + 1}-band)"
    assert figure["layout"]["xaxis"]["title"]["text"] and figure["layout"]["yaxis"]["title"]["text"]


def test_few_lines_are_named_at_their_ends_and_a_number_below_0_has_a_minus_sign() -> None:
    shown = together_figure(
        Timeline(PERIODS, "people"), ["a", "b", "c"], released=counts(3) - 90, half_widths=HALF
    )
    picture = drawing(shown.json)
    assert {text["text"] for text in picture["texts"] if text.get("colour")} == {"a", "b", "c"}
    assert picture["names"] == []
    numbers = [text["text"] for text in picture["texts"] if text["text"][-1:].isdecimal()]
    assert any(text.startswith("\N{MINUS SIGN}") for text in numbers)
    assert not any(text.startswith("-") for text in numbers)


def test_margins_of_one_period_have_the_colours_of_their_counts() -> None:
    one = together_figure(Timeline(PERIODS[:1]), names(3), released=counts(3)[:1], half_widths=HALF[:1])
    strokes = [line["stroke"] for line in drawing(one.json)["lines"]]
    assert {f"var(--series-{place})" for place in (1, 2, 3)} <= set(strokes) and "var(--text)" not in strokes


def test_each_method_of_an_expected_error_has_a_colour_of_its_own() -> None:
    errors = {title: HALF.astype(float) for title in "abcde"}
    lines = expectation_figure(HALF, errors).json["data"]
    assert len({trace["line"]["color"] for trace in lines}) == len(lines) == 5


@pytest.mark.parametrize("series", [2, 3, 4, MAX_APART])
def test_panels_share_their_axes_and_each_has_its_band(series: int) -> None:
    figure = apart_figure(Timeline(PERIODS), names(series), released=counts(series), half_widths=HALF).json
    assert len(figure["data"]) == 3 * series
    lower, upper, line = figure["data"][-3:]
    assert upper["y"][4] - lower["y"][4] == 2 * HALF[4]
    assert line["y"] == counts(series)[:, -1].tolist()
    titles = {note["text"] for note in figure["layout"]["annotations"]}
    assert {"period", "people", "&lt;b&gt;1&lt;/b&gt;"} <= titles
    axes = [axis for key, axis in figure["layout"].items() if key.startswith("yaxis")]
    followed = [axis.get("matches") for axis in axes]
    assert followed.count(None) == 1 and len(set(followed)) == 2


def test_one_period_can_be_drawn() -> None:
    one = {"released": counts(2)[:1], "half_widths": HALF[:1]}
    assert together_figure(Timeline(PERIODS[:1]), names(2), **one).json["data"]
    assert apart_figure(Timeline(PERIODS[:1]), names(2), **one).json["data"]


def test_bars_of_what_is_new_differ_in_pattern_and_have_their_own_intervals() -> None:
    added = np.diff(counts(6), axis=0, prepend=0)
    figure = increments_figure(Timeline(PERIODS, periods=99), names(6), added=added, half_widths=HALF)
    bars = figure.json["data"]
    assert len({bar["marker"]["pattern"]["shape"] for bar in bars}) == 6
    assert bars[3]["y"] == [4] * 30
    assert bars[3]["error_y"]["array"] == HALF.tolist()
    assert "The newest 30 of 99 periods" in figure.caption


def test_bars_of_many_counts_have_a_panel_each() -> None:
    added = np.diff(counts(MAX_APART), axis=0, prepend=0)
    figure = increments_apart_figure(Timeline(PERIODS), names(MAX_APART), added=added, half_widths=HALF).json
    assert [bar["y"][0] for bar in figure["data"]] == list(range(1, MAX_APART + 1))
    assert len({bar["xaxis"] for bar in figure["data"]}) == MAX_APART


def test_the_true_increments_are_in_no_figure_that_was_not_given_them() -> None:
    added = np.array([[3], [4]])
    figure = increments_figure(Timeline(PERIODS[:2], periods=2), [""], added=added, half_widths=HALF[:2])
    assert [bar["name"] for bar in figure.json["data"]] == ["Released"]
    own = increments_figure(
        Timeline(PERIODS[:2]), [""], added=added, half_widths=HALF[:2], true=added + SECRET
    )
    assert str(SECRET + 4) in json.dumps(own.json)


@pytest.mark.parametrize("series", [2, 5, MOST_PANELS])
def test_on_a_phone_panels_lie_below_each_other_each_under_its_name(series) -> None:
    """They were drawn beside each other, in letters of 8 pixels that had to be moved sideways."""
    shown = apart_figure(
        Timeline(PERIODS, "people"), names(series), released=counts(series), half_widths=HALF
    )
    narrow = for_screens(shown.json)["narrow"]
    assert narrow["width"] < 400 and narrow["height"] > 150 * series
    titles = [text for text in narrow["texts"] if text["text"].startswith("<b>")]
    assert [text["text"] for text in titles] == names(series)
    assert len({text["x"] for text in titles}) == 1
    heights = [text["y"] for text in titles]
    assert all(140 < low - high < 200 for high, low in pairwise(heights))
    floors = sorted(
        line["points"].split()[0].split(",")[1] for line in narrow["lines"] if "control" in line["stroke"]
    )
    assert len(set(floors)) == series
    assert sum(text["text"] == "2020-01" for text in narrow["texts"]) == 1


def test_many_panels_keep_their_width_on_a_phone() -> None:
    many = MOST_PANELS + 1
    shown = apart_figure(Timeline(PERIODS), names(many), released=counts(many), half_widths=HALF)
    assert "narrow" not in for_screens(shown.json)
