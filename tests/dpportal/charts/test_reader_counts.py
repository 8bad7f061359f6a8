"""The chart that a reader sees first: its kind by the shape of the release, one kind of count at a time."""

from __future__ import annotations

import re

import numpy as np
import pytest

from dpportal.charts.reader_counts import reader_figure
from dpportal.charts.static_svg import drawing
from mechanisms.domain import Categorical, Domain, Integer

SEX, RACE = Categorical("sex", values=("f", "m<b>")), Categorical("race", values=("a", "b", "c"))
AGE, MANY = Integer("age", lower=0, upper=89), Categorical("town", values=tuple(f"t{i}" for i in range(40)))


def traces(*columns, half_width: int | None = 7) -> list[dict[str, object]]:
    domain = Domain(columns)
    raw = np.arange(domain.size) - 3
    return reader_figure(domain, raw=raw, counts=np.maximum(raw, 0), half_width=half_width).json["data"]


@pytest.mark.parametrize(
    ("columns", "kinds"),
    [
        ((RACE,), {"bar"}),
        ((Integer("age", lower=0, upper=400),), {"scatter"}),
        ((RACE, SEX), {"bar"}),
        ((AGE, SEX), {"scatter"}),
        ((SEX, AGE), {"scatter"}),
        ((MANY, SEX), {"bar"}),
        ((MANY, AGE), {"heatmap"}),
        ((RACE, SEX, AGE), {"heatmap"}),
    ],
)
def test_the_kind_of_chart_is_by_the_shape(columns, kinds):
    assert {trace["type"] for trace in traces(*columns)} == kinds


@pytest.mark.parametrize(
    "columns", [(RACE,), (RACE, SEX), (AGE, SEX), (MANY, AGE), (Integer("age", lower=0, upper=400),)]
)
def test_adjusted_counts_are_hidden_until_they_are_chosen(columns):
    shown = {trace["meta"]: trace["visible"] for trace in traces(*columns)}
    assert shown == {"noisy": True, "synthetic": False}


@pytest.mark.parametrize("columns", [(AGE, SEX), (SEX, AGE)])
def test_each_group_is_a_line_through_its_own_counts(columns):
    """Whichever of the columns was named first."""
    lines = [t for t in traces(*columns, half_width=None) if t["meta"] == "noisy"]
    raw = np.arange(270).reshape(Domain(columns).shape) - 3
    by_sex = raw.T if columns[0] is AGE else raw
    assert [line["name"] for line in lines] == ["f", "m&lt;b&gt;", "Other"]
    assert [list(line["y"]) for line in lines] == by_sex.tolist()


def test_an_interval_belongs_to_noisy_counts_alone():
    assert {t["meta"]: t.get("error_y", {}).get("value") for t in traces(RACE, SEX)} == {
        "noisy": 7,
        "synthetic": None,
    }
    bands = [t for t in traces(AGE, SEX) if t.get("fill")]
    assert len(bands) == 3 and {t["meta"] for t in bands} == {"noisy"}


def test_many_values_are_sorted_and_the_smallest_are_in_the_table_alone():
    """40 towns, of which the last has most people, and Other: 25 lie one above the other with their numbers."""
    raw = np.arange(41)
    figure = reader_figure(Domain((MANY,)), raw=raw, counts=raw, half_width=7, margins=[7])
    for trace in figure.json["data"]:
        assert list(trace["y"]) == list(range(40, 15, -1)) and trace["x"][1] == "t39"
    assert "The 25 largest of 41 groups are drawn; all are in the table." in figure.caption
    for width in (760, 360):
        shapes = drawing(figure.json, width)
        assert len(re.findall("h", shapes["areas"][0]["path"])) == 50 and not shapes["names"]
        words = [text for text in shapes["texts"] if text["text"] in ("t39", "39")]
        assert len(words) == 2 and words[0]["y"] == words[1]["y"]
        assert all(0 <= text["x"] <= width for text in shapes["texts"])


def test_seventeen_values_by_three_are_bars_beside_each_other():
    area = Categorical("area", values=tuple(f"area {place}" for place in range(17)), closed=True)
    raw = np.arange(68)
    figure = reader_figure(Domain((area, RACE)), raw=raw, counts=raw, half_width=7)
    assert [(t["name"], len(t["x"])) for t in figure.json["data"] if t["visible"]] == [
        ("a", 17),
        ("b", 17),
        ("c", 17),
        ("Other", 17),
    ]
    assert figure.json["data"][0]["x"][0] == "area 16"
    for width in (760, 360):
        shapes = drawing(figure.json, width)
        assert [len(re.findall("h", area["path"])) for area in shapes["areas"]] == [34] * 4


def test_eight_by_eight_values_are_a_map():
    letters, digits = Categorical("l", values=tuple("abcdefgh"), closed=True), Integer("d", lower=1, upper=8)
    assert {trace["type"] for trace in traces(letters, digits)} == {"heatmap"}


@pytest.mark.parametrize("width", [760, 360])
@pytest.mark.parametrize("columns", [(RACE, SEX), (MANY, SEX), (AGE, SEX)], ids=["bars", "lying", "lines"])
def test_the_names_of_groups_stand_beside_their_column(columns, width):
    domain = Domain(columns)
    raw = np.arange(domain.size)
    drawn = drawing(reader_figure(domain, raw=raw, counts=raw, half_width=7).json, width)
    texts = [text["text"] for text in drawn["texts"]]
    assert drawn["names_of"] == "sex" and (bool(drawn["names"]) or "sex" in texts)


def test_the_column_of_names_at_lines_stands_over_them():
    """Where it has room beside the lines; a longer one ends at the edge."""
    domain = Domain((AGE, SEX))
    raw = np.arange(domain.size)
    drawn = drawing(reader_figure(domain, raw=raw, counts=raw, half_width=7).json)
    names = [text for text in drawn["texts"] if text.get("colour")]
    [title] = [text for text in drawn["texts"] if text["text"] == "sex"]
    assert names and (title["x"], title["anchor"]) == (names[0]["x"], "start")


def test_a_line_far_above_the_others_is_named_with_what_to_do():
    hour = Integer("hour", lower=0, upper=23)
    vehicle = Categorical("vehicle", values=("car", "lorry", "bus"), closed=True)
    raw = np.array([[17_000, 2_500, 300]] * 24).reshape(-1)
    domain = Domain((hour, vehicle))
    assert "“car” is far above the others" in reader_figure(domain, raw=raw, counts=raw, half_width=9).caption
    near = np.array([[17_000, 9_000, 300]] * 24).reshape(-1)
    assert "far above" not in reader_figure(domain, raw=near, counts=near, half_width=9).caption
