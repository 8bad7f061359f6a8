"""Names beside shapes that lie are those of their lines, also where they are numbers that are not even."""

from __future__ import annotations

import pandas as pd
import pytest

from mechanisms.verify.chart_series import ChartSeries
from mechanisms.verify.charts import compared
from tests.mechanisms.verify.test_chart_kinds import line, word

CODES = ("1000", "1002", "1003", "1009")
MEANS = (2.0, 3.0, 3.0, 5.5)


@pytest.fixture
def series() -> ChartSeries:
    """Groups by their codes; of 1001 and 1004 nothing is told."""
    lines = [
        (code, f"{mean}", f"{mean - 1}", f"{mean + 1 + place}")
        for place, (code, mean) in enumerate(zip(CODES, MEANS, strict=True))
    ]
    table = pd.DataFrame(
        [*lines, ("1001", "", "", ""), ("1004", "", "", "")],
        columns=["town", "mean", "mean_lower", "mean_upper"],
    )
    return ChartSeries({"totals": table}, {*table.to_numpy().ravel()} - {""})


def chart(codes: tuple[str, ...]) -> str:
    """Dots of the means with whiskers, a line for each, on an axis from 0 to 10 that has 20 pixels for each."""
    drawn = [line(60 + 20 * mark, 40, 60 + 20 * mark, 160, stroke="var(--grid)") for mark in (0, 5, 10)]
    drawn += [word(str(mark), 60 + 20 * mark, 175) for mark in (0, 5, 10)]
    dots = ""
    for place, (code, mean) in enumerate(zip(codes, MEANS, strict=True)):
        at, middle = 60 + 20 * mean, 55 + 23 * place
        dots += f"M{at - 4:.1f} {middle:.1f}a4 4 0 1 0 8 0a4 4 0 1 0 -8 0"
        drawn.append(line(at - 20, middle, at + 20 * (1 + place), middle, stroke="var(--text)"))
        drawn.append(word(code, 52, middle + 4, "end"))
    return f'<svg>{"".join(drawn)}<path d="{dots}" fill="red"></svg>'


def test_codes_of_groups_are_no_marks_of_an_axis(series):
    assert compared(chart(CODES), series).strange == []


@pytest.mark.parametrize("other", ["1001", "1002", "1005"])
def test_the_code_of_another_group_is_named(series, other):
    assert other in compared(chart((CODES[0], CODES[1], other, CODES[3])), series).strange


def test_codes_that_were_swapped_are_named_though_their_means_are_the_same(series):
    swapped = compared(chart((CODES[0], CODES[2], CODES[1], CODES[3])), series).strange
    assert CODES[2] in swapped


def test_marks_of_an_axis_that_are_not_even_are_named_where_they_name_no_lines(series):
    assert "41" in compared(chart(("10", "20", "30", "41")), series).strange
