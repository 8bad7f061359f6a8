"""What a chart shows in words: its numbers, and no direction that its margins explain."""

from __future__ import annotations

import numpy as np
import plotly.graph_objects as go
import pytest
from django.template.loader import render_to_string

from dpportal.charts.area_map import Areas, area_figure
from dpportal.charts.chosen_counts import ChosenCounts, chosen_figure
from dpportal.charts.queries import answers_figure
from dpportal.charts.reader_counts import reader_figure
from dpportal.charts.screens import for_screens
from dpportal.charts.spoken import spoken_summary
from mechanisms.domain import Categorical, Domain, Integer

YEAR = Integer("year", lower=2001, upper=2012)
SEX = Categorical("sex", values=("f", "m"), closed=True)
AGE = Integer("age", lower=0, upper=49, width=10)


def bars(values: list[int], column, half_width: int | None = 5) -> str:
    raw = np.array(values)
    figure = reader_figure(Domain((column,)), raw=raw, counts=np.maximum(raw, 0), half_width=half_width)
    return spoken_summary(figure.json)


def test_bars_without_an_order_have_a_highest_and_a_lowest() -> None:
    assert bars([-3, 1200], SEX) == "Highest: 1,200 at m; lowest: −3 at f."


@pytest.mark.parametrize(
    ("values", "said"),
    [
        ([100, 90, 120, 130, 140], "Up from 100 at 0–9 to 140 at 40–49."),
        ([140, 90, 120, 130, 100], "Down from 140 at 0–9 to 100 at 40–49."),
        ([100, 90, 120, 130, 110], "From 0–9 to 40–49 about the same."),
    ],
)
def test_an_order_has_a_direction_where_the_margins_do_not_explain_it(values: list[int], said: str) -> None:
    assert bars(values, AGE).endswith(said)
    assert bars(values, AGE).startswith(f"Highest: {max(values)} at ")


def test_each_of_a_few_groups_is_told_and_bars_to_the_left_count_as_others() -> None:
    values = np.array([[10, 20], [30, 5], [7, 8], [1, 2], [4, 6]])
    said = spoken_summary(chosen_figure(ChosenCounts(AGE, SEX, values, 2)).json)
    assert "f: highest 30 at 10–19, lowest 1 at 30–39." in said
    assert "m: highest 20 at 0–9, lowest 2 at 30–39." in said
    lines = spoken_summary(chosen_figure(ChosenCounts(YEAR, SEX, np.arange(24).reshape(12, 2), 2)).json)
    assert "f: highest 22 at 2012, lowest 0 at 2001. Up from 0 at 2001 to 22 at 2012." in lines


def test_many_groups_have_one_highest_of_all() -> None:
    kinds = Categorical("kind", values=tuple("abcde"), closed=True)
    values = np.arange(60).reshape(12, 5)
    said = spoken_summary(chosen_figure(ChosenCounts(YEAR, kinds, values, None)).json)
    assert said == "5 series. Highest of all: 59 at e, 2012; lowest: 0 at a, 2001."


def test_a_page_says_it_in_the_name_of_the_picture_and_a_file_by_itself_does_not() -> None:
    figure = reader_figure(Domain((SEX,)), raw=np.array([3, 4]), counts=np.array([3, 4]), half_width=1)
    page = render_to_string(
        "_still_chart.html", {"drawn": for_screens(figure.json), "title": "People by sex"}
    )
    assert page.count('aria-label="People by sex. Highest: 4 at m; lowest: 3 at f."') == 2


def test_a_map_says_where_most_and_fewest_are_and_how_many_in_all() -> None:
    """It had the names of its areas and colours, and no number."""
    square = [0, 0, 1, 0, 1, 1]
    areas = Areas(1, 1, {name: [square] for name in ("a", "b", "c")})
    figure = area_figure(
        areas, ["a", "b", "c"], np.array([875.4, -3.0, 1200.0]), half_width=35, column="area"
    )
    said = spoken_summary(figure.json)
    assert said == "3 areas, 2,072 in all; highest: 1,200 at c; lowest: −3 at b."


def test_answers_are_heard_as_whole_numbers() -> None:
    answers = np.array([4039.2, -11.54, 12.5])
    figure = answers_figure(["x", "y", "z"], answers, np.ones(3), np.arange(3), 3)
    assert spoken_summary(figure.json) == "Highest: 4,039 at x; lowest: −12 at y."


def test_what_has_no_numbers_along_an_axis_has_no_words() -> None:
    assert spoken_summary({"data": [], "layout": {}}) == ""
    assert spoken_summary({"data": [], "layout": {"meta": {"is_areas": True}}}) == ""
    cells = go.Figure(go.Heatmap(x=["a", "b"], y=["c"], z=[[1, 5]])).to_plotly_json()
    assert spoken_summary(cells) == "Highest: 5 at b × c; lowest: 1 at a × c."
