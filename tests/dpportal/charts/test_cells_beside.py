"""Along an order a line ends at its last cell: “Missing” is a point beside it, and no age after the highest."""

from __future__ import annotations

import numpy as np
import pytest

from dpportal.charts.chosen_counts import ChosenCounts, chosen_figure
from dpportal.charts.chosen_panels import ChosenPanels, panels_figure
from dpportal.charts.counts import counts_figure
from dpportal.charts.reader_counts import reader_figure
from dpportal.charts.static_svg import drawing
from mechanisms.domain import Categorical, Domain, Integer

AGE = Integer("age", True, lower=0, upper=59)
SEX = Categorical("sex", True, values=("f", "m", "d"))
VALUES = np.arange(AGE.size * SEX.size, dtype=float).reshape(AGE.size, SEX.size)


def _released() -> list[dict]:
    counts = VALUES.astype(np.int64).reshape(-1)
    return reader_figure(Domain((AGE, SEX)), raw=counts, counts=counts, half_width=7).json["data"]


def _long() -> list[dict]:
    years = Integer("year", True, lower=0, upper=299)
    counts = np.arange(years.size)
    return counts_figure(Domain((years,)), raw=counts, counts=counts, half_width=7).json["data"]


def _chosen() -> list[dict]:
    return chosen_figure(ChosenCounts(AGE, SEX, VALUES, 7)).json["data"]


def _panels() -> list[dict]:
    apart = Categorical("place", values=("x", "y"))
    each = ChosenCounts(AGE, SEX, VALUES, 7)
    return panels_figure(ChosenPanels(each, apart, np.stack([VALUES] * apart.size, axis=2))).json["data"]


@pytest.mark.parametrize("drawn", [_released, _long, _chosen, _panels])
def test_no_line_reaches_missing_which_is_a_point(drawn) -> None:
    traces = drawn()
    lines = [trace for trace in traces if trace["mode"] == "lines"]
    points = [trace for trace in traces if trace["mode"] == "markers"]
    assert lines
    assert points
    assert all("Missing" not in trace["x"] and len(trace["x"]) == len(trace["y"]) for trace in lines)
    assert all(list(trace["x"]) == ["Missing"] and len(trace["y"]) == 1 for trace in points)


def test_the_point_says_the_number_of_its_cell_after_the_order_in_files_too() -> None:
    figure = chosen_figure(ChosenCounts(AGE, SEX, VALUES, 7)).json
    [own] = [t for t in figure["data"] if t["mode"] == "markers" and t["name"] == "m"]
    assert list(own["y"]) == [VALUES[-1, 1]]
    assert drawing(figure)["areas"]


def test_the_name_of_a_panel_is_the_value_itself() -> None:
    apart = Categorical("income", values=("<=50K", ">50K"), closed=True)
    each = ChosenCounts(AGE, SEX, VALUES, 7)
    figure = panels_figure(ChosenPanels(each, apart, np.stack([VALUES] * 2, axis=2))).json
    assert [note["text"] for note in figure["layout"]["annotations"][:2]] == ["&lt;=50K", "&gt;50K"]
    assert {"<=50K", ">50K"} <= {text["text"] for text in drawing(figure)["texts"]}


def test_the_name_of_a_group_is_the_value_itself_in_a_legend() -> None:
    """Which the page escapes."""
    income = Categorical("income", values=("<=50K", ">50K"), closed=True)
    each = ChosenCounts(AGE, income, VALUES[:, :2], 7)
    figure = panels_figure(ChosenPanels(each, SEX, np.stack([VALUES[:, :2]] * 5, axis=2))).json
    assert [name for name, _mark in drawing(figure)["names"]] == ["<=50K", ">50K"]
    assert not any(text["turned"] for text in drawing(figure)["texts"])


def test_names_of_lines_stand_at_their_ends_and_bands_have_their_colours() -> None:
    values = np.repeat([[500.0, 300.0, 100.0, 50.0]], AGE.size, axis=0)
    sex = Categorical("sex", True, values=("f", "m", "d"), closed=True)
    json = chosen_figure(ChosenCounts(AGE, sex, values, 7)).json
    bands = {trace["fillcolor"] for trace in json["data"] if trace.get("fill")}
    assert bands == {f"var(--series-{place}-band)" for place in range(1, 5)}
    picture = drawing(json)
    own = [text for text in picture["texts"] if text.get("colour")][::-1]
    lines = [line for line in picture["lines"] if "series" in line["stroke"]]
    ends = [tuple(map(float, line["points"].split()[-1].split(","))) for line in lines]
    assert [text["text"] for text in own] == ["f", "m", "d", "Missing"]
    for text, (x, y) in zip(own, ends, strict=True):
        assert 0 < text["x"] - x < 10 and abs(text["y"] - y) < 20
