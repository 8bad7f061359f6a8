"""What the charts of a stream show, and what they never hold."""

from __future__ import annotations

import json

import numpy as np

from dpportal.charts.series import Timeline, errors_figure, expectation_figure, series_figure
from dpportal.charts.small_multiples import together_figure
from dpportal.charts.static_svg import drawing
from dpportal.charts.style import Figure

SECRET = 987_654_321


def _trace(figure: Figure, name: str) -> dict[str, list[float]]:
    return next(trace for trace in figure.json["data"] if trace.get("name") == name)


def test_the_band_is_the_released_count_with_its_half_width_on_both_sides() -> None:
    released, half = np.array([5, 9, 11]), np.array([2, 3, 3])
    figure = series_figure(Timeline(["a", "b", "c"]), released=released, half_widths=half)
    lower, upper = figure.json["data"][:2]
    assert lower["y"] == [3, 6, 8]
    assert upper["y"] == [7, 12, 14]
    assert _trace(figure, "Released")["y"] == [5, 9, 11]


def test_without_true_counts_a_figure_has_no_line_for_them() -> None:
    values = np.array([1, 2])
    figure = series_figure(Timeline(["a", "b"]), released=values, half_widths=values)
    assert "True" not in {trace.get("name") for trace in figure.json["data"]}
    shown = series_figure(Timeline(["a", "b"]), released=values, half_widths=values, true=values + SECRET)
    assert str(SECRET + 2) in json.dumps(shown.json)


def test_errors_are_released_minus_true() -> None:
    released, true = np.array([5, 9]), np.array([6, 6])
    figure = errors_figure(Timeline(["a", "b"]), released=released, true=true, half_widths=np.array([2, 2]))
    assert _trace(figure, "Released minus true")["y"] == [-1, 3]


def test_a_thinned_series_says_so() -> None:
    values = np.arange(3)
    figure = series_figure(Timeline(["1", "2", "3"], periods=5_000), released=values, half_widths=values)
    assert "3 of 5,000 periods are drawn" in figure.caption


def test_a_name_that_looks_like_markup_is_shown_as_it_is() -> None:
    errors = {"<b>tree</b>": np.array([1.0])}
    figure = expectation_figure(np.array([1]), errors, published=1)
    assert figure.json["data"][0]["name"] == "&lt;b&gt;tree&lt;/b&gt;"


def test_a_single_period_is_a_dot_with_its_margin() -> None:
    """A line and a band of one point are not seen."""
    one = np.array([19])
    figure = series_figure(Timeline(["a"]), released=one, half_widths=np.array([11]), consistent=one)
    released, never_falling = _trace(figure, "Released"), _trace(figure, "Never falling")
    assert released["mode"] == never_falling["mode"] == "lines+markers"
    assert released["error_y"]["array"] == [11]
    drawn = drawing(figure.json)
    assert "a4 4 0 1 0" in str(drawn)
    several = series_figure(Timeline(["a", "b"]), released=np.array([1, 2]), half_widths=np.array([1, 1]))
    assert _trace(several, "Released")["mode"] == "lines"


def test_on_a_phone_days_of_several_counts_are_left_out_before_they_are_turned() -> None:
    """Turned ones were cut at the lower edge, and lay over the name of the axis."""
    days = [f"2{day} January 2026" for day in range(8)]
    counts = np.arange(16).reshape(8, 2)
    figure = together_figure(Timeline(days), ["north", "south"], released=counts, half_widths=np.full(8, 3))
    assert not any(text["turned"] for text in drawing(figure.json, 360)["texts"])
