"""Cells without an order lie in lines where their names do not fit side by side, so that all are read in full."""

from __future__ import annotations

import re

import numpy as np
import pytest
from django.template.loader import render_to_string

from dpportal.charts.group_means import means_figure
from dpportal.charts.reader_counts import reader_figure
from dpportal.charts.screens import for_screens
from dpportal.charts.static_svg import drawing
from mechanisms.domain import Categorical, Domain, Integer
from mechanisms.moments.estimates import Interval

LONG = tuple(f"Metropolitan area of the {word}" for word in ("north", "south", "east", "west", "coast"))
AREA, SEX = Categorical("area", values=LONG, closed=True), Categorical("sex", values=("f", "m"), closed=True)
MANY_TOWNS = Categorical("town", values=tuple(f"t{place}" for place in range(40)), closed=True)


def drawn(*columns, width: int = 760):
    domain = Domain(columns)
    raw = np.arange(1, domain.size + 1) * 10
    figure = reader_figure(domain, raw=raw, counts=raw, half_width=5)
    return drawing(figure.json, width)


def words(shapes) -> list[str]:
    return [text["text"] for text in shapes["texts"]]


def lengths(area) -> list[float]:
    return [float(length) for length in re.findall(r"h([\d.]+)v", area["path"])]


def test_long_names_are_read_in_full_and_none_is_turned():
    shapes = drawn(AREA)
    assert set(LONG) <= set(words(shapes))
    assert not any(text["turned"] for text in shapes["texts"])


@pytest.mark.parametrize("width", [360, 400, 500, 760])
@pytest.mark.parametrize("letters", range(1, 20))
def test_at_no_width_a_name_is_turned(letters, width):
    """On a phone a turned name is cut at the edge, and lies over the name of its axis."""
    column = Categorical(
        "would strike", values=tuple(f"{place}{'w' * letters}" for place in range(5)), closed=True
    )
    assert not any(text["turned"] for text in drawn(column, width=width)["texts"])


def test_a_bar_is_as_long_as_its_count_with_the_number_at_its_end():
    shapes = drawn(AREA)
    [bars] = shapes["areas"]
    assert lengths(bars)[4] == pytest.approx(5 * lengths(bars)[0], abs=0.5)
    assert {"10", "50", "area", "people"} <= set(words(shapes))
    whiskers = [line for line in shapes["lines"] if line["stroke"] == "var(--text)"]
    assert len(whiskers) == 5


def test_groups_lie_beside_each_other_with_their_names():
    shapes = drawn(AREA, SEX)
    assert [len(lengths(area)) for area in shapes["areas"]] == [5, 5]
    assert [name for name, _mark in shapes["names"]] == ["f", "m"]


def test_colours_are_named_before_the_bars_and_many_groups_leave_a_page_short():
    """Fourteen values with seven bars each."""
    values = tuple(f"married, with spouse absent {place}" for place in range(14))
    long = Categorical("education", values=values, closed=True)
    status = Categorical("status", values=tuple("abcdefg"), closed=True)
    shapes = drawn(long, status)
    assert len(shapes["areas"]) == 7 and shapes["height"] <= 1.1 * shapes["width"]
    page = render_to_string("_still_chart.html", {"drawn": shapes, "title": "People"})
    assert 0 < page.index("still-names") < page.index('class="still"')


@pytest.mark.parametrize("column", [Integer("age", lower=0, upper=149), SEX])
def test_an_order_and_short_names_stay_upright(column):
    shapes = drawn(column)
    assert all("V" in area["path"] for area in shapes["areas"])


def test_labels_along_an_order_are_left_out_and_not_turned():
    shapes = drawn(Integer("year", lower=1900, upper=1999))
    years = [text for text in shapes["texts"] if text["text"].startswith("19")]
    assert len(years) >= 6 and not any(text["turned"] for text in years)


def test_means_of_groups_lie_as_points():
    mean = np.array([36.331, 40.0, 42.418, 39.0, 41.0])
    figure = means_figure("hours", LONG, Interval(mean, mean - 1, mean + 1), [1] * len(LONG), by="area")
    shapes = drawing(figure.json)
    assert {*LONG, "36.3", "42.4", "mean of hours"} <= set(words(shapes))


def test_what_fits_on_a_desk_may_lie_on_a_phone():
    shapes = for_screens(
        reader_figure(
            Domain(
                (
                    Categorical(
                        "race", values=("White", "Asian-Pac-Islander", "Amer-Indian", "Black"), closed=True
                    ),
                )
            ),
            raw=np.arange(4) + 1,
            counts=np.arange(4) + 1,
            half_width=1,
        ).json
    )
    assert "V" in shapes["areas"][0]["path"] and "V" not in shapes["narrow"]["areas"][0]["path"]
    assert all(0 <= text["x"] <= 360 for text in shapes["narrow"]["texts"])


@pytest.mark.parametrize(("groups", "kind"), [(7, "bar"), (8, "heatmap")])
def test_a_table_of_eight_by_eight_is_a_map_and_a_smaller_one_bars(groups, kind):
    many = Categorical("many", values=tuple(f"v{i}" for i in range(8)), closed=True)
    by = Categorical("by", values=tuple(f"g{i}" for i in range(groups)), closed=True)
    raw = np.arange(8 * groups)
    figure = reader_figure(Domain((many, by)), raw=raw, counts=raw, half_width=1)
    assert {trace["type"] for trace in figure.json["data"]} == {kind}


@pytest.mark.parametrize("width", [360, 500, 760])
@pytest.mark.parametrize(
    "column", [AREA, Categorical("letter", values=tuple("abcdefgh"), closed=True), SEX, MANY_TOWNS]
)
def test_the_live_chart_lies_where_the_picture_does(column, width):
    """Its program looks at one number alone; more than twelve names, or too long ones, lie however wide the page is."""
    raw = np.arange(column.size)
    figure = reader_figure(Domain((column,)), raw=raw, counts=raw, half_width=5).json
    up_to = figure["layout"]["meta"].get("lies_up_to", 0)
    assert (width <= up_to) == ("V" not in drawing(figure, width)["areas"][0]["path"])
    assert (up_to > 2000) == (column in (AREA, MANY_TOWNS))


def test_what_has_an_order_stands_live_as_well():
    ages = Integer("age", lower=0, upper=99)
    figure = reader_figure(Domain((ages,)), raw=np.arange(100), counts=np.arange(100), half_width=5).json
    assert "lies_up_to" not in figure["layout"]["meta"]
