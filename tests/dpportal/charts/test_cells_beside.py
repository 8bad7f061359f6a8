"""Along an order a chart ends at its last cell: “Missing” is no age after the highest, and told in words."""

from __future__ import annotations

import re

import numpy as np
import pytest

from dpportal.charts.chosen_counts import ChosenCounts, chosen_figure, shown_margins
from dpportal.charts.chosen_panels import ChosenPanels, panels_figure
from dpportal.charts.counts import counts_figure
from dpportal.charts.own_cells import own_cells_sentence
from dpportal.charts.reader_counts import reader_figure
from dpportal.charts.static_svg import drawing
from dpportal.charts.style import Figure
from mechanisms.domain import Categorical, Domain, Integer

AGE = Integer("age", True, lower=0, upper=59)
SEX = Categorical("sex", True, values=("f", "m", "d"))
VALUES = np.arange(AGE.size * SEX.size, dtype=float).reshape(AGE.size, SEX.size)


MISSING = "Not drawn, since it has no place in the order of"


def _released() -> Figure:
    counts = VALUES.astype(np.int64).reshape(-1)
    return reader_figure(Domain((AGE, SEX)), raw=counts, counts=counts, half_width=7)


def _long() -> Figure:
    years = Integer("year", True, lower=0, upper=299)
    counts = np.arange(years.size)
    return counts_figure(Domain((years,)), raw=counts, counts=counts, half_width=7)


def _bars() -> Figure:
    years = Integer("year", True, lower=0, upper=79)
    counts = np.arange(years.size)
    return reader_figure(Domain((years,)), raw=counts, counts=counts, half_width=7)


def _chosen() -> Figure:
    return chosen_figure(ChosenCounts(AGE, SEX, VALUES, 7))


def _panels() -> Figure:
    apart = Categorical("place", values=("x", "y"))
    each = ChosenCounts(AGE, SEX, VALUES, 7)
    return panels_figure(ChosenPanels(each, apart, np.stack([VALUES] * apart.size, axis=2)))


# Of 60 ages and the last cell: its five groups.
OF_GROUPS = "Missing: f 300 ± 7, m 301 ± 7, d 302 ± 7, Other 303 ± 7, Missing 304 ± 7."


@pytest.mark.parametrize(
    ("drawn", "said"),
    [
        (_released, f"{MISSING} age – {OF_GROUPS}"),
        (_long, f"{MISSING} year – Missing 300 ± 7."),
        (_bars, f"{MISSING} year – Missing 80 ± 7."),
        (_chosen, f"{MISSING} age – {OF_GROUPS}"),
        (_panels, f"{MISSING} age: Missing. The table has it."),
    ],
)
def test_no_mark_of_missing_stands_where_the_next_age_would(drawn, said: str) -> None:
    """A sentence has its numbers; the axis ends with the order."""
    figure = drawn()
    assert figure.json["data"]
    assert not any("Missing" in trace["x"] for trace in figure.json["data"])
    assert all(len(trace["x"]) == len(trace["y"]) for trace in figure.json["data"])
    assert said in figure.caption
    cells = len(dict.fromkeys(x for trace in figure.json["data"] for x in trace["x"]))
    ends = [axis.get("range") for name, axis in figure.json["layout"].items() if name.startswith("xaxis")]
    assert all(end in (None, [-0.5, cells - 0.5]) for end in ends)


def test_a_share_that_has_no_place_is_told_with_its_own_margin() -> None:
    """300 of f's 9,150 people."""
    chosen = ChosenCounts(AGE, SEX, VALUES, 7, shares=True, rest_half_width=50)
    [told] = re.findall(r"Missing: f 3.28 ± ([\d.]+) %, m ", chosen_figure(chosen).caption)
    assert float(told) == shown_margins(chosen)[-1, 0]


def test_a_name_keeps_its_hyphen_and_a_large_number_its_digits() -> None:
    ages = Integer("age", True, lower=0, upper=1)
    values = np.array([[1.0], [2.0], [-12_345_678.0]])
    said = own_cells_sentence(ages, ["old-age"], values, 1_234_567)
    assert said.endswith("Missing: old-age −12,345,678 ± 1,234,567.")


def test_few_bars_have_labels_and_missing_is_one_of_them() -> None:
    tens = Integer("age", True, lower=0, upper=89, width=10)
    counts = np.arange(tens.size)
    figure = reader_figure(Domain((tens,)), raw=counts, counts=counts, half_width=7)
    assert "Missing" in figure.json["data"][0]["x"]
    for width in (360, 760):
        assert "Missing" in {text["text"] for text in drawing(figure.json, width)["texts"]}


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
