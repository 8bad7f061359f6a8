"""Figures as drawings that stand still: every kind that pages show, at the places that its numbers say."""

from __future__ import annotations

import re

import numpy as np
import pytest
from django.utils.translation import override

from dpportal.charts import counts, group_means, pairs, queries, series
from dpportal.charts.lying_bars import lying_drawing
from dpportal.charts.report import stilled
from dpportal.charts.screens import for_screens
from dpportal.charts.static_svg import SHADES, drawing
from dpportal.charts.text_width import longest, shortened
from dpportal.charts.trade_off import trade_off_figure
from mechanisms.domain import Categorical, Domain, Integer
from mechanisms.moments.estimates import Interval

AGE = Integer("age", lower=0, upper=5)
SEX = Categorical("sex", values=("f", "<m>"), closed=True)


def one_column(raw=(10, 20, 40, 0, -5, 5), half_width=4):
    values = np.array(raw)
    figure = counts.counts_figure(
        Domain((AGE,)), raw=values, counts=np.maximum(values, 0), half_width=half_width
    )
    return drawing(figure.json)


def heights(area) -> list[float]:
    """Of bars: from the floor up."""
    return [float(a) - float(b) for a, b in re.findall(r"M[\d.-]+ ([\d.-]+)V([\d.-]+)h", area["path"])]


def test_bars_are_as_high_as_their_counts():
    noisy, processed = one_column()["areas"]
    found = heights(noisy)
    assert found[1] == pytest.approx(2 * found[0], abs=0.2)
    assert found[2] == pytest.approx(4 * found[0], abs=0.3)
    assert found[3] == 0
    assert found[4] == pytest.approx(-found[0] / 2, abs=0.2)
    assert heights(processed)[4] == 0


def test_an_interval_is_a_line_of_its_width():
    drawn = one_column()
    unit = heights(drawn["areas"][0])[0] / 10
    whiskers = [line["points"] for line in drawn["lines"] if line["stroke"] == "var(--text)"]
    ends = [[float(p.split(",")[1]) for p in points.split()] for points in whiskers]
    assert len(ends) == 6
    assert all(low - high == pytest.approx(8 * unit, abs=0.2) for low, high in ends)


def test_everything_lies_inside_the_drawing():
    drawn = one_column()
    assert all(
        0 <= text["x"] <= drawn["width"] and 0 <= text["y"] <= drawn["height"] for text in drawn["texts"]
    )
    assert {text["text"] for text in drawn["texts"]} >= {"0", "5", "age"}
    assert [name for name, _mark in drawn["names"]] == ["Noisy count", "Adjusted count"]


def ends_of(text) -> tuple[float, float]:
    """Left and right of a text that is not turned, where a Chinese sign is as wide as two letters."""
    wide = 6.6 * sum(2 if ord(sign) > 0x2E7F else 1 for sign in text["text"])
    left = text["x"] - {"start": 0, "middle": wide / 2, "end": wide}[text["anchor"]]
    return left, left + wide


@pytest.mark.parametrize("language", ["en", "zh-hans"])
@pytest.mark.parametrize("width", [390, 760])
def test_names_at_the_ends_of_lines_are_not_cut(language, width):
    alarms = np.linspace(0, 1, 11)
    with override(language):
        drawn = drawing(trade_off_figure(alarms, np.sqrt(alarms)).json, width)
    assert len([text for text in drawn["texts"] if text.get("strong")]) == 2
    assert all(0 <= end <= width for text in drawn["texts"] for end in ends_of(text))


@pytest.mark.parametrize("letter", ["x", "名"])
@pytest.mark.parametrize("is_ordered", [True, False])
def test_labels_of_any_length_in_any_script_stay_inside(letter, is_ordered):
    for length in (2, 12, 30):
        names = tuple(f"{letter * length}{place}" for place in range(4))
        attribute = Categorical("地区", values=names, closed=True)
        values = np.array([5, 3, 2, 9])
        figure = counts.counts_figure(Domain((attribute,)), raw=values, counts=values, half_width=2).json
        figure["layout"]["meta"] = {**figure["layout"].get("meta", {}), "is_ordered": is_ordered}
        for width in (390, 760):
            lying = [text for text in drawing(figure, width)["texts"] if not text["turned"]]
            at_side = [text for text in lying if text["anchor"] != "middle"]
            assert all(-1 <= end <= width for text in at_side for end in ends_of(text)), (length, width)


def test_a_text_is_cut_to_so_many_letters():
    assert [shortened(text, 5) for text in ("abcde", "abcdef", "一二", "一二三", "a一二", "é" * 6)] == [
        *("abcde", "abcd…", "一二", "一二…", "a一二", "éééé…")
    ]
    assert (longest(["ab", "一二三"]), longest([]), longest([], 8)) == (6, 0, 8)


def test_a_name_stands_beside_a_mark_that_looks_as_its_bars_do():
    drawn = one_column()
    looks = [{name: area[name] for name in ("fill", "stroke", "opacity")} for area in drawn["areas"]]
    assert [mark for _name, mark in drawn["names"]] == looks
    assert looks[0] != looks[1]


def test_a_map_has_a_square_for_every_cell_and_the_darkest_for_the_largest():
    raw = np.arange(12)
    figure = counts.counts_figure(Domain((AGE, SEX)), raw=raw, counts=raw, half_width=3)
    drawn = drawing(figure.json)
    squares = sum(area["path"].count("M") for area in drawn["areas"])
    assert squares == 2 * 12
    assert max(area["opacity"] for area in drawn["areas"]) == 1
    assert len(drawn["areas"]) <= SHADES + 1
    assert "<m>" in {text["text"] for text in drawn["texts"]}


def test_a_map_of_signed_numbers_has_two_colours():
    figure = pairs.pairs_figure(("a", "b"), np.array([[np.nan, -0.5], [0.5, np.nan]]), "true")
    assert {a["fill"] for a in drawing(figure.json)["areas"]} == {"var(--below)", "var(--accent)"}


@pytest.mark.parametrize("answers", [5, 400])
def test_answers_are_points_with_their_intervals(answers):
    numbers = np.arange(answers, dtype=float)
    figure = queries.answers_figure(
        [f"q{i}" for i in range(answers)], numbers, numbers + 1, np.arange(answers), answers
    )
    drawn = drawing(figure.json)
    dots = [re.findall(r"a(\d) \1 0 1 0 \d 0a", area["path"]) for area in drawn["areas"]]
    assert sum(map(len, dots)) == answers


def test_the_titles_of_axes_are_whole_and_on_the_drawing():
    """“share of the privacy loss” was cut at its end, and ran out at the left."""
    figure = queries.shares_figure(["a", "b"], np.array([0.4, 0.6]))
    [title] = [text for text in drawing(figure.json)["texts"] if text["text"].startswith("share")]
    assert (title["text"], title["x"], title["anchor"]) == ("share of the privacy cost", 0, "start")


def test_a_running_count_is_a_line_with_a_band():
    figure = series.series_figure(
        series.Timeline(["Mon", "Tue", "Wed"], periods=3),
        released=np.array([1, 5, 9]),
        half_widths=np.array([2, 2, 2]),
        consistent=np.array([1.0, 5.0, 9.0]),
    )
    drawn = drawing(figure.json)
    assert len(drawn["areas"]) >= 1
    assert any(len(line["points"].split()) == 3 for line in drawn["lines"])


def test_every_figure_of_what_a_page_shows_gets_a_drawing():
    figure = counts.counts_figure(Domain((SEX,)), raw=np.array([1, 2]), counts=np.array([1, 2]), half_width=1)
    shown = stilled({"rows": 3, "more": [{"json": figure.json, "title": "One"}]})
    assert shown["rows"] == 3
    assert shown["more"][0]["drawing"]["width"] > 0


def test_few_lines_are_named_at_their_ends_and_bands_by_the_caption():
    figure = series.series_figure(
        series.Timeline(["Mon", "Tue", "Wed"], periods=3),
        released=np.array([1, 5, 9]),
        half_widths=np.array([2, 2, 2]),
        true=np.array([1, 5, 9]),
    )
    drawn = drawing(figure.json)
    ends = [text for text in drawn["texts"] if text.get("colour")]
    assert len(ends) == 2 and not drawn["names"]
    assert abs(ends[0]["y"] - ends[1]["y"]) >= 10
    assert not any("Margin" in text["text"] for text in ends)


def test_numbers_below_0_have_a_minus():
    figure = group_means.means_figure(
        "balance",
        ["a", "b"],
        Interval(np.array([-189.0, 20]), np.array([-200.0, 10]), np.array([-180.0, 30])),
        [0, 0],
    )
    texts = [text["text"] for text in drawing(figure.json)["texts"]]
    assert "−189" in texts and not [text for text in texts if "-189" in text]


def test_the_count_that_never_falls_is_drawn_where_a_reader_chooses_it():
    released, adjusted = np.array([1, 5, 4]), np.array([1.0, 4.5, 4.5])
    figure = series.series_figure(
        series.Timeline(["Mon", "Tue", "Wed"], periods=3),
        released=released,
        half_widths=np.array([2, 2, 2]),
        consistent=adjusted,
    )
    of_kind = {kind: [t for t in figure.json["data"] if t["meta"] == kind] for kind in ("noisy", "synthetic")}
    assert figure.json["layout"]["meta"]["is_switched"]
    assert [traces[-1]["y"] for traces in of_kind.values()] == [released.tolist(), adjusted.tolist()]
    assert all(len(traces) == 3 and any(t.get("fill") for t in traces) for traces in of_kind.values())
    assert [t["visible"] for t in figure.json["data"]] == [True] * 3 + [False] * 3
    assert "Never falling" not in {text["text"] for text in drawing(figure.json)["texts"]}


def test_the_largest_bar_has_its_number_over_it():
    figure = counts.counts_figure(
        Domain((SEX,)), raw=np.array([4267, 12]), counts=np.array([4267, 12]), half_width=3
    )
    noisy = {**figure.json, "data": figure.json["data"][:1]}
    assert {t["text"]: t["strong"] for t in drawing(noisy)["texts"] if "strong" in t} == {
        "4,267": True,
        "12": False,
    }


def test_a_number_is_strong_only_where_it_certainly_is_the_largest():
    """As a column of bars that stand, and as bars that lie."""
    mean, names = np.array([46.0, 49.3, 40.0]), ["preschool", "1st to 4th grade", "others"]
    for margin, strong in ((10.0, []), (1.0, ["49.3"])):
        figure = group_means.means_figure(
            "age", names, Interval(mean, mean - margin, mean + margin), [1] * len(names)
        )
        for texts in (drawing(figure.json)["texts"], lying_drawing(figure.json, 400)["texts"]):
            assert [t["text"] for t in texts if t.get("strong")] == strong


def test_of_many_means_only_one_that_is_certainly_the_largest_has_its_number():
    mean, names = np.arange(40.0, 52.0), [f"g {place}" for place in range(12)]
    for margin, numbers in ((0.6, []), (0.4, ["51.0"])):
        figure = group_means.means_figure(
            "age", names, Interval(mean, mean - margin, mean + margin), [1] * len(names)
        )
        assert [t["text"] for t in drawing(figure.json)["texts"] if "strong" in t] == numbers


def test_few_means_have_their_numbers_over_them_as_the_table_writes_them():
    mean = np.array([36.331, np.nan, 42.418])
    figure = group_means.means_figure("hours", ["f", "o", "m"], Interval(mean, mean - 1, mean + 1), [1, 1, 1])
    assert {t["text"] for t in drawing(figure.json)["texts"] if "strong" in t} == {"36.3", "42.4"}
    assert figure.json["data"][0]["hovertext"][0] == "35.3 to 37.3"
    assert figure.json["data"][0]["customdata"][0] == "36.3"


def test_a_phone_has_a_drawing_of_its_own_with_letters_of_the_same_size():
    figure = counts.counts_figure(Domain((AGE,)), raw=np.arange(6), counts=np.arange(6), half_width=1)
    drawn = for_screens(figure.json)
    narrow = drawn["narrow"]
    assert narrow["width"] < drawn["width"] / 2
    assert all(0 <= text["x"] <= narrow["width"] for text in narrow["texts"])
    assert {"0", "5", "age"} <= {text["text"] for text in narrow["texts"]}


def test_a_map_keeps_its_width_on_a_phone():
    figure = counts.counts_figure(
        Domain((AGE, SEX)), raw=np.ones((6, 2)), counts=np.ones((6, 2)), half_width=1
    )
    assert any(t["type"] == "heatmap" for t in figure.json["data"])
    assert "narrow" not in for_screens(figure.json)


def test_lines_of_the_grid_lie_behind_the_bars_and_titles_over_their_numbers():
    figure = counts.counts_figure(Domain((AGE,)), raw=np.arange(6), counts=np.arange(6), half_width=1)
    noisy = drawing({**figure.json, "data": figure.json["data"][:1]})
    assert noisy["grid"] and not any(line["stroke"] == "var(--grid)" for line in noisy["lines"])
    heights_of = {text["text"]: text["y"] for text in noisy["texts"] if text["y"] < 60}
    assert heights_of["people"] < heights_of["5"] - 8
