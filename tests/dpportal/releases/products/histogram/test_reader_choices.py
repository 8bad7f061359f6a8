"""Charts as readers choose them, against sums by loops."""

from __future__ import annotations

import datetime as dt
import re

import numpy as np
import pytest
from django.http import QueryDict

from dpportal.charts import chosen_panels
from dpportal.charts.chosen_counts import ChosenCounts, shown_margins, shown_values
from dpportal.charts.reader_counts import reader_figure
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
from mechanisms.domain import Categorical, Date, Domain, Integer

AGE = Integer("age", lower=0, upper=49, width=10)
SEX = Categorical("sex", values=("f", "m"), closed=True)
KIND = Categorical("kind", values=tuple(f"k{place}" for place in range(9)), closed=True)
DOMAIN = Domain((AGE, SEX, KIND))
COUNTS = np.arange(DOMAIN.size)


def titled(question: str) -> str:
    return figure(ChartForm(DOMAIN, QueryDict(question)), COUNTS, lambda picks: CellSum(0.0, None, 1))[
        "title"
    ]


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


def test_the_title_says_which_value_was_picked() -> None:
    assert titled("along=0&by=none&apart=none&where-2=4") == "People by age, kind k4"
    assert titled("along=0&by=none&apart=none&where-1=1&where-2=4") == "People by age, sex m, kind k4"
    assert titled("along=0&by=1&apart=none&where-1=1") == "People by age × sex"


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


@pytest.mark.parametrize(
    "time",
    [
        Date("month", lower=dt.date(2023, 1, 1), upper=dt.date(2023, 12, 31), step="month"),
        Integer("year", lower=2011, upper=2022, width=1),
    ],
    ids=["months", "years"],
)
def test_time_runs_ahead_and_not_upwards(time) -> None:
    """A trend of two groups is two lines, and no pyramid."""
    domain = Domain((time, SEX))
    counts = np.arange(domain.size) + 100
    shown = figure(ChartForm(domain, QueryDict("along=0&by=1")), counts, lambda _picks: None)
    assert all(trace.get("orientation") != "h" for trace in shown["json"]["data"])
    assert {trace["type"] for trace in shown["json"]["data"]} == {"scatter"}
    assert not begins_mirrored(domain)


def test_a_third_group_of_next_to_nobody_is_named_under_the_two_that_are_drawn() -> None:
    sex = Categorical("sex", values=("f", "m", "d"), closed=True)
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
    assert [name for name, _mark in picture["names"]] == ["f", "m"]
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


def test_each_share_has_a_margin_and_a_group_of_nobody_is_left_out_with_a_note() -> None:
    """Of 1000 women 250 are young: the root of ((1 - 1/4)·6)² + (1/4·9)², over 1000, is 0.503 %, so 0.6 %."""
    sex, young = (
        Categorical("sex", values=("f", "m", "d"), closed=True),
        Integer("age", lower=0, upper=39, width=10),
    )
    counts = np.array([250, 250, 250, 250, 100, 200, 300, 400, 3, -2, 4, 1])
    margins = {1: 6.0, 3: 9.0, 4: 12.0}

    def summed(picks):
        return CellSum(0.0, margins[int(np.prod([len(places) for places in picks]))], 1)

    shown = figure(ChartForm(Domain((sex, young)), QueryDict("along=1&by=0&scale=share")), counts, summed)
    left, right = shown["json"]["data"]
    assert left["customdata"][0] == [25.0, 0.6] and right["customdata"][3][0] == 40.0
    assert left["error_x"]["arrayminus"][0] == 0.6 and "%{customdata[1]}" in left["hovertemplate"]
    assert "“d” is left out: perhaps nobody is in it." in shown["caption"]
    assert "each has its own margin" in shown["caption"]
    assert len([line for line in drawing(shown["json"])["lines"] if line["stroke"] == "var(--text)"]) == 8


@pytest.mark.parametrize("share", [0.02, 0.5, 0.9])
def test_shares_lie_within_their_margins_as_often_as_is_said(share) -> None:
    """20,000 groups of 1,000 people in five cells, with Laplace noise of scale 10 on each."""
    random = np.random.default_rng(28)
    true = 1000 * np.array([share, *[(1 - share) / 4] * 4])[:, None]
    noise = np.rint(random.laplace(0, 10, (5, 20_000)))
    own, rest = (int(np.ceil(np.quantile(abs(part), 0.95))) for part in (noise[0], noise[1:].sum(axis=0)))
    chosen = ChosenCounts(AGE, None, true + noise, own, shares=True, rest_half_width=rest, group_half_width=0)
    off = np.abs(shown_values(chosen)[0] - 100 * share)
    assert (off <= np.asarray(shown_margins(chosen))[0]).mean() >= 0.95


def test_shares_of_all_say_so_with_their_sign_and_their_margins() -> None:
    """Of 1,000 people 250 are of an age: the same numbers as above."""
    ages = Integer("age", lower=0, upper=39, width=10)
    margins = {1: 6.0, 3: 9.0, 4: 12.0}

    def summed(picks):
        return CellSum(0.0, margins[int(np.prod([len(places) for places in picks]))], 1)

    form = ChartForm(Domain((ages,)), QueryDict("scale=share"))
    shown = figure(form, np.array([250] * 4), summed)
    words = [text["text"] for text in drawing(shown["json"])["texts"]]
    assert words.count("25.0 ± 0.6 %") == 4 and "% of all people" in words and "20 %" in words
    assert dict(form.fields["scale"].choices)["share"] == "share of all"
    # The axis has one, too.
    assert [text["text"] for text in drawing(shown["json"], 240)["texts"]].count("25 %") == 5


def test_margins_of_shares_are_claimed_where_they_are_drawn() -> None:
    many = Categorical("kind", values=tuple(f"k{place}" for place in range(150)), closed=True)
    domain = Domain((many, Categorical("size", values=tuple("abcd"), closed=True)))
    form = ChartForm(domain, QueryDict("along=0&by=1&scale=share&order=declared"))
    caption = figure(form, np.full(domain.size, 100), lambda _picks: CellSum(0.0, 3.2, 1))["caption"]
    assert "too many to draw the margin of each" in caption and "own margin" not in caption


def test_many_values_begin_with_the_largest_unless_the_declared_order_is_asked_for() -> None:
    many = Categorical("kind", values=tuple(f"k{place}" for place in range(40)), closed=True)
    first, declared = (
        figure(ChartForm(Domain((many,)), QueryDict(asked)), np.arange(40), lambda _picks: None)
        for asked in ("scale=", "order=declared")
    )
    assert first["json"]["data"][0]["x"] == [f"k{place}" for place in range(39, 14, -1)]
    assert "The 25 largest of 40 groups" in first["caption"]
    assert declared["json"]["data"][0]["x"][0] == "k0" and len(declared["json"]["data"][0]["x"]) == 40


def json_caption(domain: Domain, scale: str, counts: np.ndarray) -> str:
    form = ChartForm(domain, QueryDict(f"along=0&by=1&apart=2&scale={scale}"))
    caption: str = figure(form, counts, lambda _picks: CellSum(0.0, 3.2, 1))["caption"]
    return caption


@pytest.mark.parametrize("scale", ["", "share"])
@pytest.mark.parametrize("years", [10, 1])
def test_small_charts_have_their_margins(scale, years) -> None:
    """Whiskers on bars; bands where there are lines."""
    age = Integer("age", lower=0, upper=49, width=years)
    domain = Domain((age, SEX, Categorical("town", values=("a", "b"), closed=True)))
    counts = np.full(domain.size, 100)
    counts[1::4] = 0
    json, _asked = drawn(f"along=0&by=1&apart=2&scale={scale}", domain, counts)
    bars = [trace for trace in json["data"] if trace["type"] == "bar"]
    bands = [trace for trace in json["data"] if trace.get("fill") == "tonexty"]
    assert len(bars if years == 10 else bands) == 4
    drawn_margins = drawing(json)
    whiskers = [line for line in drawn_margins["lines"] if line["stroke"] == "var(--text)"]
    # In town b nobody is female: a share of nobody is not drawn.
    groups = 3 if scale else 4
    assert len(whiskers) == (5 * groups if years == 10 else 0)
    assert ("A chart leaves out those groups" in json_caption(domain, scale, counts)) == bool(scale)
    if bands:
        lower = [
            trace for trace in json["data"] if trace.get("hoverinfo") == "skip" and not trace.get("fill")
        ]
        ends = [high - low for high, low in zip(bands[0]["y"], lower[0]["y"], strict=True)]
        assert min(ends) > 0 and (ends[0] == 8 or scale)


def test_a_single_count_has_its_margin_where_sums_have_none() -> None:
    form = ChartForm(Domain((SEX, KIND)), QueryDict("along=1&by=0"))
    shown = figure(form, COUNTS[:18], lambda _picks: None, 9)
    assert {trace["error_y"]["value"] for trace in shown["json"]["data"]} == {9}
    summed = figure(ChartForm(DOMAIN, QueryDict("along=2&by=1&apart=none")), COUNTS, lambda _picks: None, 9)
    assert "no margin" in summed["caption"]


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
    first, queries = ChartForm(DOMAIN, QueryDict()).choices(), ("x=1", "pick-in-0=1", "along=1")
    others = [query for query in queries if ChartForm(DOMAIN, QueryDict(query)).choices() != first]
    assert others == ["along=1"]


@pytest.mark.parametrize("question", ["by=1&apart=none", "by=1&apart=2", "along=2&by=none&apart=none"])
def test_a_reader_switches_to_adjusted_counts_of_the_same_cells(question) -> None:
    """In a pyramid, in small charts and in bars: noisy counts first, and no switch where there are no others."""
    adjusted = COUNTS + 1000
    shown = figure(ChartForm(DOMAIN, QueryDict(question)), COUNTS, lambda _picks: None, None, adjusted)[
        "json"
    ]
    assert shown["layout"]["meta"]["is_switched"] is True
    noisy, other = ([t for t in shown["data"] if t["meta"] == kind] for kind in ("noisy", "synthetic"))
    assert {t["visible"] for t in noisy} == {True} and {t["visible"] for t in other} == {False}
    along = "y" if noisy[0].get("orientation") == "h" else "x"
    assert [t[along] for t in noisy] == [t[along] for t in other]
    axis = "x" if along == "y" else "y"
    sums = [sum(abs(count) for t in kind for count in t[axis]) for kind in (noisy, other)]
    assert sums == [COUNTS.sum(), adjusted.sum()]
    alone = figure(ChartForm(DOMAIN, QueryDict(question)), COUNTS, lambda _picks: None)["json"]
    assert len(alone["data"]) == len(noisy) and "is_switched" not in alone["layout"].get("meta", {})
    assert drawing(shown)["areas"] == drawing(alone)["areas"]


@pytest.mark.parametrize(
    ("sizes", "are_ordered"),
    [((7, 5), (False, True)), ((5, 7), (True, False)), ((3, 3), (False, False)), ((30, 4), (False, True))],
)
def test_the_form_shows_what_the_first_chart_draws(sizes, are_ordered) -> None:
    """Drawing without a change gives the same series along the same cells."""
    columns = tuple(
        Integer(f"c{place}", lower=1, upper=size)
        if is_ordered
        else Categorical(f"c{place}", values=tuple(f"v{cell}" for cell in range(size)), closed=True)
        for place, (size, is_ordered) in enumerate(zip(sizes, are_ordered, strict=True))
    )
    domain, raw = Domain(columns), 50 + np.arange(Domain(columns).size)
    first = reader_figure(domain, raw=raw, counts=raw, half_width=3, margins=[9, 9])
    again = figure(ChartForm(domain, QueryDict("scale=")), raw, lambda _picks: CellSum(0.0, 3.0, 1), 3, raw)

    def series(json):
        return [(t["name"], list(t["x"]), list(t["y"])) for t in json["data"] if t["visible"] is True]

    assert series(first.json) == series(again["json"]) and first.title == again["title"]
