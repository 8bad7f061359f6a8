"""A map shows the numbers of a column by shades: each that was changed, or swapped with another, is named."""

from __future__ import annotations

import pandas as pd
import pytest

from mechanisms.verify.chart_series import ChartSeries
from mechanisms.verify.charts import compared

NUMBERS = (16, 2, 0, 7, 32, 20, 4, 1, 11, 26, 13, 5)
COLUMNS = 4


def drawn(numbers: tuple[int, ...] = NUMBERS, columns: int = COLUMNS, ink: str = "") -> str:
    """Three lines of four cells, the darkest for 32. ink: the opacity of the first in place of its own."""
    shades = [str(max(0.04, round(number / 32, 3))) for number in numbers]
    shades[0] = ink or shades[0]
    cells = "".join(
        f'<path d="M{100 + 40.0 * (place % columns):.1f} {50 + 30.0 * (place // columns):.1f}h40.0v30.0h-40.0z" '
        f'fill="var(--accent)" stroke="none" fill-opacity="{shade}">'
        for place, shade in enumerate(shades)
    )
    return f"<svg>{cells}</svg>"


@pytest.fixture
def series() -> ChartSeries:
    return ChartSeries({"histogram": pd.DataFrame({"count": list(map(str, NUMBERS))})}, set())


def test_a_map_of_a_column_agrees(series):
    assert compared(drawn(), series).strange == []
    assert compared(drawn(), series).numbers == len(NUMBERS)


def test_a_map_across_the_lines_agrees(series):
    across = tuple(NUMBERS[3 * (place % 4) + place // 4] for place in range(12))
    assert compared(drawn(across), series).strange == []
    assert compared(drawn(across), series).numbers == len(NUMBERS)


def test_another_shade_is_named(series):
    assert compared(drawn(ink="0.531"), series).strange == ["0.531"]


def test_two_shades_that_are_swapped_are_named(series):
    swapped = (NUMBERS[1], NUMBERS[0], *NUMBERS[2:])
    assert compared(drawn(swapped), series).strange == ["0.062", "0.5"]


def test_a_map_of_something_else_is_not_compared(series):
    other = ChartSeries(
        {"histogram": pd.DataFrame({"count": [str(9 * number % 31) for number in NUMBERS]})}, set()
    )
    assert compared(drawn(), other).numbers == 0


def pyramid(second: str = "193.1") -> str:
    """Of two groups that have equally many of each age, so that all bars are equally wide; the second is hatched."""
    sides = (
        (left, "".join(f"M{left} {top}h323.0v56.8h-323.0z" for top in ("264.1", second, "122.1", "51.1")))
        for left in ("78.2", "401.2")
    )
    (_l, left), (_r, right) = sides
    return (
        f'<svg><path d="{left}" fill="a" stroke="none" fill-opacity="1"></path>'
        f'<path d="{right}" fill="b" stroke="b" fill-opacity="0.35"></path></svg>'
    )


def test_bars_of_one_width_to_both_sides_are_no_map(series):
    assert compared(pyramid(), series).strange == []
    assert compared(pyramid("190.1"), series).strange == ["190.1", "190.1"]
