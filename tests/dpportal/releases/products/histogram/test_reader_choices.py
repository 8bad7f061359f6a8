"""Charts as readers choose them, against sums by loops."""

from __future__ import annotations

import re

import numpy as np
import pytest
from django.http import QueryDict

from dpportal.charts import chosen_panels
from dpportal.charts.static_svg import drawing
from dpportal.charts.thumbnail import thumbnail
from dpportal.releases.products.histogram.reader_choices import (
    MAX_ALONG,
    ChartForm,
    begins_chosen,
    begins_mirrored,
    figure,
    first_axes,
    fits,
)
from mechanisms.box_queries import CellSum
from mechanisms.domain import Categorical, Domain, Integer

AGE = Integer("age", lower=0, upper=49, width=10)
SEX = Categorical("sex", values=("f", "m"), closed=True)
KIND = Categorical("kind", values=tuple(f"k{place}" for place in range(9)), closed=True)
DOMAIN = Domain((AGE, SEX, KIND))
COUNTS = np.arange(DOMAIN.size)


def drawn(question: str, domain: Domain = DOMAIN, counts: np.ndarray = COUNTS, margin: float | None = 3.2):
    asked = []

    def summed(picks):
        asked.append([len(places) for places in picks])
        return CellSum(0.0, margin, 1)

    return figure(ChartForm(domain, QueryDict(question)), counts, summed)["json"], asked


def by_loops(age: int, sex: int | None = None, kind: int | None = None) -> int:
    table = COUNTS.reshape(DOMAIN.shape)
    return sum(
        int(table[age, s, k])
        for s in range(2)
        for k in range(9)
        if (sex is None or s == sex) and (kind is None or k == kind)
    )


def test_cells_are_added_up_over_what_is_not_drawn() -> None:
    (json, asked) = drawn("along=0&by=none&apart=none")
    [trace] = json["data"]
    assert trace["y"] == [by_loops(age) for age in range(5)]
    assert trace["error_y"]["value"] == 4 and asked == [[1, 2, 9]]


def test_one_value_of_a_column_can_be_picked() -> None:
    (json, asked) = drawn("along=0&by=none&apart=none&where-2=4")
    assert json["data"][0]["y"] == [by_loops(age, kind=4) for age in range(5)]
    assert asked == [[1, 2, 1]]


def test_an_order_by_two_groups_is_mirrored() -> None:
    json, _asked = drawn("along=0&by=1&apart=none")
    left, right = json["data"]
    assert [-x for x in left["x"]] == [by_loops(age, 0) for age in range(5)] == left["customdata"]
    assert right["x"] == [by_loops(age, 1) for age in range(5)]
    picture = drawing(json)
    assert {"f", "m"} <= {text["text"] for text in picture["texts"]} and not picture["names"]
    assert not any(text["text"].startswith("-") for text in picture["texts"])
    assert len(thumbnail(json)) == 2
    assert begins_mirrored(Domain((SEX, AGE))) and not begins_mirrored(DOMAIN)


def test_a_third_group_of_next_to_nobody_is_named_under_the_two_that_are_drawn() -> None:
    sex = Categorical("sex", values=("f", "m"))
    counts = np.repeat([500, 480, 4], AGE.size)
    shown = figure(ChartForm(Domain((sex, AGE)), QueryDict("along=1&by=0")), counts, lambda _picks: None)
    assert len(shown["json"]["data"]) == 2
    said = f"“{sex.labels()[2]}” is not drawn, about {4 * AGE.size} of {984 * AGE.size:,} people"
    assert said in shown["caption"]


def test_of_many_groups_the_largest_are_drawn_and_the_caption_says_so() -> None:
    form = ChartForm(DOMAIN, QueryDict("along=1&by=2&apart=none"))
    shown = figure(form, COUNTS, lambda _picks: None)
    assert [trace["name"] for trace in shown["json"]["data"]] == [f"k{place}" for place in range(2, 9)]
    assert "7 largest of 9 groups" in shown["caption"] and "no margin" in shown["caption"]


def test_a_third_column_has_small_charts_on_the_same_axes_a_page_at_a_time(monkeypatch) -> None:
    json, asked = drawn("along=0&by=1&apart=2")
    assert [(trace["name"], trace["xaxis"]) for trace in json["data"][:3]] == [
        ("f", "x"),
        ("m", "x"),
        ("f", "x2"),
    ]
    sixth = [trace for trace in json["data"] if trace["xaxis"] == "x6"]
    assert [trace["y"] for trace in sixth] == [[by_loops(age, sex, 5) for age in range(5)] for sex in (0, 1)]
    assert asked == [[1, 1, 1]] and begins_chosen(DOMAIN)
    picture = drawing(json)
    assert [name for name, _colour in picture["names"]] == ["f", "m"]
    monkeypatch.setattr(chosen_panels, "MAX_APART", 4)
    form = ChartForm(DOMAIN, QueryDict("along=0&by=1&apart=2&page=2"))
    assert [str(words) for _page, words in form.fields["page"].choices] == ["1 to 4", "5 to 8", "9 to 9"]
    last = figure(form, COUNTS, lambda _picks: None)["json"]["data"]
    assert last[0]["y"] == [by_loops(age, 0, 8) for age in range(5)] and len(last) == 2


def test_charts_apart_have_one_scale_in_the_picture() -> None:
    """A count of half the largest is half as tall in whichever chart it stands."""
    domain = Domain((SEX, Categorical("town", values=("a", "b"), closed=True)))
    json, _asked = drawn("along=0&apart=1&by=none", domain, np.array([100, 50, 50, 25]))
    tall, low = (area["path"] for area in drawing(json)["areas"])
    ends = [re.findall(r"M[0-9.]+ ([0-9.]+)V([0-9.]+)h", path) for path in (tall, low)]
    heights = [[float(floor) - float(top) for floor, top in bars] for bars in ends]
    assert np.allclose(heights[0], 2 * np.array(heights[1]), atol=0.3) and heights[1][0] > 20


def test_a_column_without_an_order_is_sorted_on_demand() -> None:
    json, _asked = drawn("along=2&by=none&apart=none&order=size")
    assert json["data"][0]["x"] == [f"k{place}" for place in range(8, -1, -1)]


@pytest.mark.parametrize("question", ["", "along=7&by=x&scale=log", "along=0&by=0", "where-0=99"])
def test_what_is_none_of_the_choices_is_as_if_left_out(question) -> None:
    form = ChartForm(DOMAIN, QueryDict(question))
    along, by = form.axes()
    assert along == 0 and by in (1, None) and first_axes(DOMAIN) == (0, 1)
    assert drawn(question)[0]["data"]


def test_a_column_of_very_many_cells_is_neither_along_nor_makes_groups() -> None:
    day = Integer("day", lower=0, upper=MAX_ALONG)
    form = ChartForm(Domain((SEX, day)), QueryDict("along=1&by=1"))
    assert form.axes() == (0, None) and "1" not in dict(form.fields["by"].choices)
    assert fits(Domain((SEX, day))) and not fits(Domain((day,))) and not begins_mirrored(Domain((day,)))


def test_what_the_form_does_not_ask_draws_nothing_anew() -> None:
    asked = {
        query: ChartForm(DOMAIN, QueryDict(query)).is_asked for query in ("x=1", "pick-in-0=1", "along=1")
    }
    assert asked == {"x=1": False, "pick-in-0=1": False, "along=1": True}
