"""A chart shows the numbers of its table: each shape that was moved is named, and so is each wrong mark."""

from __future__ import annotations

import re

import pandas as pd
import pytest

from mechanisms.verify.chart_series import ChartSeries
from mechanisms.verify.charts import compared

AGES = ("0–9", "10–19", "20–29", "30–39", "40–49")
COUNTS = (12, 30, 45, 28, 7)
LEFT, FLOOR, TALL = 80.0, 300.0, 5.0  # pixels of one person


def chart() -> str:
    """Bars with marks from 0 to 50, and the number of the largest over it."""
    marks = range(0, 60, 10)
    grid = "".join(
        f'<polyline points="{LEFT},{FLOOR - TALL * mark:.1f} 700.0,{FLOOR - TALL * mark:.1f}" stroke="var(--grid)" />'
        for mark in marks
    )
    words = "".join(
        f'<text x="72.0" y="{FLOOR - TALL * mark + 4:.1f}" text-anchor="end">{mark}</text>' for mark in marks
    )
    words += "".join(
        f'<text x="{150 + 100 * place:.1f}" y="315.0" text-anchor="middle">{age}</text>'
        for place, age in enumerate(AGES)
    )
    words += '<text x="350.0" y="71.0" text-anchor="middle">45</text>'
    bars = "".join(
        f"M{110 + 100 * place:.1f} {FLOOR}V{FLOOR - TALL * count:.1f}h80.0V{FLOOR}z"
        for place, count in enumerate(COUNTS)
    )
    return f'<svg class="still">{grid}<path d="{bars}" fill="red">{words}</svg>'


@pytest.fixture
def series() -> ChartSeries:
    table = pd.DataFrame({"age": AGES, "count": map(str, COUNTS)})
    return ChartSeries({"histogram": table}, set(AGES))


def test_a_chart_as_the_portal_draws_it_agrees(series):
    assert compared(chart(), series).strange == []
    assert compared(chart(), series).numbers == len(COUNTS) + 6


FORGERIES = {
    "a higher bar": ("V240.0", "V230.0"),
    "a bar elsewhere": ("M210.0", "M220.0"),
    "a wider bar": ("V75.0h80.0", "V75.0h81.0"),
    "a bar that begins above nothing": ("M310.0 300.0", "M310.0 290.0"),
    "another mark": (">20</text>", ">30</text>"),
    "another number over a bar": (">45</text>", ">54</text>"),
    "a label of nothing": (">20–29</text>", ">20–39</text>"),
    "a label twice": (">20–29</text>", ">30–39</text>"),
    "a shape that no portal draws": ("M110.0", "M1.0 1.0c2M110.0"),
}


@pytest.mark.parametrize("old, new", FORGERIES.values(), ids=FORGERIES)
def test_each_change_is_named(series, old, new):
    assert old in chart()
    assert compared(chart().replace(old, new, 1), series).strange != []


def test_all_bars_swapped_are_named(series):
    tops = re.findall(r"V([0-9.]+)h", chart())
    swapped = chart().replace(f"V{tops[0]}h", "V?h").replace(f"V{tops[1]}h", f"V{tops[0]}h")
    assert compared(swapped.replace("V?h", f"V{tops[1]}h"), series).strange != []


def test_a_chart_of_something_else_is_not_compared(series):
    """Sums over columns that no table has: its marks alone are looked at."""
    other = ChartSeries(
        {"histogram": pd.DataFrame({"age": AGES, "count": ["1", "2", "3", "4", "5"]})}, set(AGES)
    )
    assert compared(chart(), other).numbers == 6


def pyramid() -> str:
    """Bars to both sides of x = 285.7, one of which is nobody's."""

    def side(widths: tuple[float, ...], *, left: bool) -> str:
        rows = (
            f"M{285.7 - width * left:.1f} {100 - 9.6 * row:.1f}h{width:.1f}v7.7h-{width:.1f}z"
            for row, width in enumerate(widths)
        )
        return f'<path d="{"".join(rows)}" fill="red">'

    left, right = (120.9, 63.1, 44.3, 5.9, 0.0), (135.4, 86.0, 32.7, 15.0, 2.0)
    return f'<svg class="still">{side(left, left=True)}{side(right, left=False)}</svg>'


def test_a_pyramid_with_a_bar_of_nobody_agrees(series):
    assert compared(pyramid(), series).strange == []


@pytest.mark.parametrize(
    ("old", "new"),
    [(" 90.4h63.1", " 93.4h63.1"), ("h44.3v7.7h-44.3", "h44.3v9.7h-44.3"), ("h-135.4", "h-99.4")],
)
def test_a_bar_of_a_pyramid_that_is_not_in_its_row_is_named(series, old, new):
    assert old in pyramid()
    assert compared(pyramid().replace(old, new), series).strange


def three_bars(shift: float = 0.0, number: str = "12") -> str:
    """A chart of three groups, too few to tell by themselves which one is not even."""
    words = "".join(
        f'<text x="{150 + 100 * place:.1f}" y="315.0" text-anchor="middle">{age}</text>'
        for place, age in enumerate(AGES[:3])
    )
    bars = "".join(
        f"M{110 + 100 * place + shift * (place == 0):.1f} {FLOOR}V{FLOOR - TALL * count:.1f}h80.0V{FLOOR}z"
        for place, count in enumerate(COUNTS[:3])
    )
    over = f'<text x="150.0" y="236.0" text-anchor="middle">{number}</text>'
    frame = re.sub(r"<path[^>]*>", "", chart().partition('<text x="150')[0])
    return f'{frame}{words}{over}<path d="{bars}" fill="red"></svg>'


def test_a_bar_of_three_stands_at_its_label(series):
    known = compared(three_bars(), series).strange
    assert known == []
    assert compared(three_bars(shift=1.0), series).strange == ["151.0"]


def test_a_number_over_a_bar_is_that_of_its_line_though_another_line_has_it(series):
    """And though its height would do for both."""
    table = pd.DataFrame({"age": AGES[:3], "count": ["12", "30", "45"], "other": ["12.02", "13", "30"]})
    own = ChartSeries({"histogram": table}, {*AGES, "12", "30", "45", "13"})
    assert compared(three_bars(), own).strange == []
    assert compared(three_bars(number="13"), own).strange == ["13"]
    assert compared(three_bars(number="30"), own).strange == ["30"]


def outline(heights: tuple[float, ...] = (12, 30, 45, 28, 7), foot: str = "16.0", last: str = "96.0") -> str:
    """A small picture as stands in a table: steps whose tallest is 15 pixels high."""
    steps = " ".join(
        f"{19.2 * (place + side):.1f},{16 - height / 3:.1f}"
        for place, height in enumerate(heights)
        for side in (0, 1)
    )
    return f'<svg class="mark"><path d="M0.0,{foot} {steps} {last},16.0z" /></svg>'


def test_steps_of_a_small_picture_are_those_of_a_column_also_where_the_tallest_was_changed(series):
    assert compared(outline(), series).strange == []
    assert compared(outline(), series).numbers == 5
    assert compared(outline((12, 30, 42, 28, 7)), series).strange == ["14.0"]
    assert compared(outline(foot="15.0"), series).strange != []
    assert compared(outline(last="97.0"), series).strange != []


def test_two_bars_of_one_size_have_the_same_number_over_them():
    counts = (12, 30, 12)
    table = pd.DataFrame({"age": AGES[:3], "count": map(str, counts)})
    series = ChartSeries({"histogram": table}, {*AGES, *map(str, counts)})
    second = '<text x="350.0" y="236.0" text-anchor="middle">12</text>'
    equal = three_bars().replace(f"V{FLOOR - TALL * COUNTS[2]:.1f}h", f"V{FLOOR - TALL * 12:.1f}h")
    equal = equal.replace('<path d="M', f'{second}<path d="M')
    assert compared(equal, series).strange == []
    assert compared(equal.replace(">12</text>", ">13</text>", 1), series).strange == ["13"]
