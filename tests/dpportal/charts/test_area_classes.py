"""The shades of a map: few classes with round limits, and areas of which noise or nobody tells."""

from __future__ import annotations

import re

import numpy as np
import pytest

from dpportal.charts.area_classes import CLASSES, class_of, limits
from dpportal.charts.area_drawing import hatching
from dpportal.charts.area_map import Areas, area_figure
from dpportal.charts.screens import for_screens

SQUARE = [0, 0, 100, 0, 100, 100, 0, 100]


def test_limits_are_even_where_the_numbers_are() -> None:
    assert limits(np.arange(10.0, 100.0, 5), 3) == [0, 20, 40, 60, 80]


def test_without_a_number_there_is_one_class() -> None:
    assert limits(np.array([]), None) == [0]


def test_where_most_areas_would_have_one_shade_limits_are_round_quantiles() -> None:
    """Of sixteen areas with from 0.7 to 18 million people eleven would be in the first of even classes."""
    millions = np.array([0.7, 1.0, 1.6, 1.6, 2.1, 2.2, 2.5, 2.9, 3.6, 4.0, 4.1, 6.3, 8.0, 11, 13, 18]) * 10**6
    found = limits(millions, None)
    assert found == [0, 2_000_000, 5_000_000, 10_000_000]
    fullest = max(np.bincount([class_of(value, found) for value in millions]))
    assert fullest <= len(millions) / 2


@pytest.mark.parametrize(
    ("values", "half_width", "begins"),
    [
        ((618, 640, 655, 660, 671, 690, 702, 715, 740, 769), 70, [600, 700]),
        ((618, 640, 655, 660, 671, 690, 702, 715, 740, 769), 9, [600, 650, 700, 750]),
        ((1_000_000, 1_000_400, 1_000_900), None, [1_000_000, 1_000_200, 1_000_400, 1_000_600, 1_000_800]),
        ((50, 50, 50), 5, [0, 10, 20, 30, 40]),
    ],
)
def test_numbers_that_are_alike_have_several_shades_where_margins_tell_them_apart(
    values: tuple[int, ...], half_width: int | None, begins: list[int]
) -> None:
    """Districts are made of as many people each."""
    assert limits(np.array(values, dtype=float), half_width) == begins


@pytest.mark.parametrize("half_width", [30, 400])
def test_no_class_is_narrower_than_the_margin(half_width: int) -> None:
    values = np.concatenate([np.full(50, 35.0), np.linspace(40, 1000, 30)])
    found = limits(values, half_width)
    assert 1 <= len(found) <= CLASSES and all(np.diff(found) >= half_width)


def figure(values: list[float], half_width: int | None = 10):
    areas = Areas(500, 100, {name: [[n + 110 * place for n in SQUARE]] for place, name in enumerate("abcd")})
    others = {"e": [[n + 440 for n in SQUARE]]}
    areas = Areas(areas.width, areas.height, areas.shapes, "", others)
    return area_figure(areas, list("abcd"), np.array(values), half_width=half_width, column="region")


def test_an_area_within_its_margin_is_hatched_and_one_without_a_number_grey() -> None:
    shown = figure([-3, 10, 60, 200])
    by_name = {trace["name"]: trace for trace in shown.json["data"] if trace.get("fill")}
    assert [("fillpattern" in by_name[name]) for name in "abcde"] == [True, True, False, False, False]
    assert by_name["e"]["fillcolor"] == "var(--muted)" and by_name["e"]["text"] == "e: no number"
    legend = [entry["text"] for entry in shown.json["layout"]["meta"]["legend"]]
    assert legend == [
        "50 to 99 people",
        "150 to 200 people",
        "up to 10 people, which is within the margin",
        "no number",
    ]


def test_a_map_without_margins_marks_nothing_as_uncertain() -> None:
    shown = figure([0, 10, 60, 200], None)
    assert not [trace for trace in shown.json["data"] if "fillpattern" in trace]


def test_hatching_lies_within_its_area_and_leaves_holes() -> None:
    outer = [(0.0, 0.0), (100.0, 0.0), (100.0, 100.0), (0.0, 100.0)]
    hole = [(40.0, 40.0), (60.0, 40.0), (60.0, 60.0), (40.0, 60.0)]
    lines = [
        [float(part) for part in match]
        for match in re.findall(r"M([\d.-]+) ([\d.-]+)L([\d.-]+) ([\d.-]+)", hatching([outer, hole]))
    ]
    middles = [((a + c) / 2, (b + d) / 2) for a, b, c, d in lines]
    assert len(lines) > 25
    assert all(-0.1 <= number <= 100.1 for line in lines for number in line)
    assert not [(x, y) for x, y in middles if 41 < x < 59 and 41 < y < 59]


def test_a_drawing_has_lines_for_a_hatched_area_and_its_swatch() -> None:
    drawn = for_screens(figure([-3, 20, 60, 200]).json)
    assert len([area for area in drawn["areas"] if area["fill"] == "none"]) == 2
    assert {text["text"] for text in drawn["texts"]} >= {"a", "no number"}
