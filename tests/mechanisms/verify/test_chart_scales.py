"""Numbers of shapes where a chart tells its scale by few marks, by its tallest bar, or by means of neighbours."""

from __future__ import annotations

import numpy as np
import pandas as pd

from mechanisms.verify.chart_series import MOST_SMALL, ChartSeries
from mechanisms.verify.charts import compared

LINES = 1275


def series_of(values: np.ndarray) -> ChartSeries:
    """A table of one column of numbers."""
    labels = [f"v{place}" for place in range(len(values))]
    return ChartSeries({"answers": pd.DataFrame({"query": labels, "answer": map(str, values)})}, set(labels))


def line(marks: tuple[str, str]) -> str:
    """A line of many answers, with two marks below it."""
    grid = "".join(
        f'<polyline points="80.0,{300 - mark:.1f} 717.0,{300 - mark:.1f}" stroke="var(--grid)" />'
        f'<text x="72.0" y="{304 - mark:.1f}" text-anchor="end">{mark}</text>'
        for mark in (0, 100, 200)
    )
    points = " ".join(f"{80 + place / 2:.1f},{300 - place % 200}.0" for place in range(LINES))
    words = "".join(
        f'<text x="{80 + (at - 1) / 2:.1f}" y="315" text-anchor="middle">{mark}</text>'
        for at, mark in zip((500, 1000), marks, strict=True)
    )
    return f'<svg class="still">{grid}<polyline points="{points}" stroke="red" />{words}</svg>'


def test_two_marks_stand_where_the_first_line_and_the_last_say():
    series = series_of(np.arange(LINES) % 200)
    assert compared(line(("500", "1,000")), series).strange == []
    for other in (("500", "1,100"), ("600", "1,000"), ("5,000", "1,000")):
        assert compared(line(other), series).strange != []


def dots(places: list[float]) -> str:
    """Dots that lie far to the left of two marks, at 50 and 100, which are 256.5 pixels apart."""
    grid = "".join(
        f'<polyline points="{at},44.0 {at},205.0" stroke="var(--grid)" />'
        f'<text x="{at}" y="220.0" text-anchor="middle">{mark}</text>'
        for at, mark in ((366.5, 50), (623.0, 100))
    )
    shapes = "".join(
        f"M{at - 4:.1f} {55 + 23 * row:.1f}a4 4 0 1 0 8 0a4 4 0 1 0 -8 0" for row, at in enumerate(places)
    )
    return f'<svg class="still">{grid}<path d="{shapes}" fill="red"></svg>'


def test_beyond_the_marks_a_place_tells_a_number_less_exactly():
    """115.0 is 0.974 by the marks as they are written, and may be 1. Lying dots need not be even across."""
    series = series_of(np.array([1.0, 1.0, 1.0, 60.0, 62.0, 99.0, 98.0]))
    true = [115.0, 115.0, 115.0, 417.8, 428.1, 617.9, 612.7]
    assert compared(dots(true), series).strange == []
    assert compared(dots([*true[:2], 114.0, *true[3:]]), series).strange == ["114.0"]
    assert compared(dots([*true[:4], 428.4, *true[5:]]), series).strange == ["428.4"]


def steps(heights: list[float]) -> str:
    """A small picture without an axis."""
    bars = "".join(f"M{4 * place}.0 16.0V{16 - tall:.1f}h3.2V16.0z" for place, tall in enumerate(heights))
    return f'<svg class="mark"><path d="{bars}" fill="red"></svg>'


def test_the_scale_of_a_small_picture_is_told_by_its_tallest_bars_too():
    """Of many low ones a tenth of a pixel is a large part."""
    values = np.array([1000.0, 200.0, *(range(19, 30))])
    heights = [15 * value / 1000 for value in values]
    assert compared(steps(heights), series_of(values)).strange == []
    for place in range(2):
        heights[place] -= 2
        assert compared(steps(heights), series_of(values)).strange == [f"{heights[place]:.1f}"]
        heights[place] += 2


def test_bars_of_many_values_are_means_of_neighbours():
    values = np.arange(1.0, 42.0)
    means = [part.mean() for part in np.array_split(values, MOST_SMALL)]
    heights = [15 * mean / max(means) for mean in means]
    assert compared(steps(heights), series_of(values)).numbers == MOST_SMALL
    assert compared(steps(heights), series_of(values)).strange == []
    heights[20] -= 2
    assert compared(steps(heights), series_of(values)).strange == [f"{heights[20]:.1f}"]


def shares(numbers: tuple[str, ...]) -> str:
    """Bars whose numbers stand in one row, over lines that reach to the end; their labels are turned."""
    grid = "".join(
        f'<polyline points="80.0,{300 - 2 * mark:.1f} 717.0,{300 - 2 * mark:.1f}" stroke="var(--grid)" />'
        f'<text x="72.0" y="{304 - 2 * mark:.1f}" text-anchor="end">{mark}</text>'
        for mark in (0, 50, 100)
    )
    heights = (91.4, 0.0, 29.4, 79.4)
    bars = "".join(f"M{100 + 100 * i}.0 300.0V{300 - tall:.1f}h80.0V300.0z" for i, tall in enumerate(heights))
    words = "".join(
        f'<text x="{140 + 100 * i}.0" y="96.0" text-anchor="middle">{number}</text>'
        for i, number in enumerate(numbers)
    )
    return f'<svg class="still">{grid}<path d="{bars}" fill="red">{words}</svg>'


def test_numbers_over_bars_are_no_marks_of_an_axis_though_they_stand_in_a_row():
    series = series_of(np.array([45.7, 0.0, 14.7, 39.7]))
    assert compared(shares(("45.7", "0", "14.7", "39.7")), series).strange == []
    assert compared(shares(("45.7", "0", "14.7", "39.6")), series).strange == ["39.6"]
    assert compared(shares(("14.7", "0", "45.7", "39.7")), series).strange != []


def test_marks_to_both_sides_say_what_their_places_do_to_a_tenth_of_a_pixel():
    """The numbers grow to the left of 604.1, where bars of 300 and of 100 meet."""
    bars = (
        '<path d="M226.6 50.0h377.5v10.0h-377.5z" fill="var(--accent)" fill-opacity="0.35">'
        '<path d="M604.1 50.0h125.8v10.0h-125.8z" fill="var(--accent)" fill-opacity="1">'
    )

    def named(*marks: str) -> list[str]:
        words = "".join(
            f'<text x="{at}" y="343.0" text-anchor="middle">{mark}</text>'
            for at, mark in zip((226.6, 352.4, 478.3, 604.1), marks, strict=True)
        )
        return compared(f'<svg class="still">{bars}{words}</svg>', series_of(np.array([300, 100]))).strange

    assert named("300", "200", "100", "0") == []
    assert named("300", "201", "100", "0") == ["201"]
    assert named("303", "200", "100", "0") != []
    assert "3" in named("300", "200", "100", "3")


def test_a_number_that_another_label_has_is_named_where_a_label_is_a_number():
    """Lines of the labels “0–2”, “3–5” and “9”, of which each has a shape of its own."""
    first, second, third = [10, 12, 15, 19, 21], [40, 41, 44, 48, 50], [70, 73, 75, 78, 83]
    for labels in (["0–2", "3–5", "9"], ["1", "2", "9"]):
        table = pd.DataFrame({"value": labels * 5, "count": np.array([first, second, third]).T.ravel()})
        series = ChartSeries({"series": table.astype(str)}, set(labels))
        for values, wrong in (([40, 41, 44, 48, 50], 0), ([40, 41, 44, 48, 83], 1)):
            match = series.match(np.array(values, float), 0.2)
            assert match is not None
            assert match.wrong.sum() == wrong
