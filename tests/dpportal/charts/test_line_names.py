"""Names of lines stand where a reader can tell the lines apart."""

from __future__ import annotations

import numpy as np

from dpportal.charts.line_names import places_of_names
from dpportal.charts.reader_counts import reader_figure
from dpportal.charts.static_svg import drawing
from mechanisms.domain import Categorical, Domain, Integer

HILL = [0, 50, 250, 100, 0, 0]


def test_lines_that_all_end_at_nobody_are_named_where_they_are_furthest_apart():
    lines = [[(float(x), 300.0 - y * share) for x, y in enumerate(HILL)] for share in (1.0, 0.4)]
    high, low = places_of_names(lines, 15, [1, 1], 300)
    assert high == (2.0, 300 - 250 - 7.5) and low == (2.0, 300 - 40 + 7.5)


def test_no_line_strikes_through_its_name():
    """Two lines that meet at both ends, as hits of the best attack and of guessing do: names stay clear of both."""
    bent = [(0.0, 200.0), (40.0, 82.0), (100.0, 0.0)]
    straight = [(0.0, 200.0), (40.0, 120.0), (100.0, 0.0)]
    (across, above), (_same, below) = places_of_names([bent, straight], 15, [30, 30], 300)
    at = np.linspace(across, across + 30, 50)
    upper, lower = (np.interp(at, *np.array(line).T) for line in (bent, straight))
    assert above <= upper.min() - 7 and below >= lower.max() + 7


def test_lines_that_end_apart_or_are_alike_everywhere_are_named_at_their_ends():
    apart = [[(0.0, 300.0), (1.0, 100.0)], [(0.0, 300.0), (1.0, 200.0)]]
    assert places_of_names(apart, 15, [1, 1], 300) == [(1.0, 100.0), (1.0, 200.0)]
    alike = [[(0.0, 300.0), (1.0, 299.0)], [(0.0, 301.0), (1.0, 300.0)]]
    assert places_of_names(alike, 15, [1, 1], 300) == [(1.0, 299.0), (1.0, 300.0)]
    assert places_of_names([], 15, [], 300) == []


def test_people_by_sex_and_age_are_named_at_the_ages_of_most():
    sex = Categorical("sex", values=("Female", "Male", "Other"), closed=True)
    age = Integer("age", lower=0, upper=119, width=5)
    shape = np.array([0, 0, 1, 53, 79, 136, 198, 248, 264, 269, 197, 115, 72, 30, 18, *[0] * 9])
    counts = np.concatenate([shape, shape // 3, shape // 60])
    figure = reader_figure(Domain((sex, age)), raw=counts, counts=counts, half_width=3)
    shapes = drawing(figure.json)
    across = {text["text"]: text["x"] for text in shapes["texts"] if text.get("strong")}
    assert set(across) == {"Female", "Male", "Other"} and max(across.values()) < 0.7 * shapes["width"]
