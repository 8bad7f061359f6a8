"""Rows of marks that stand at no line of a grid: whether they stand where the shapes' numbers put them.

Below a panel of lines the first place and the last are known, and bars that grow to both sides have their marks so far
from the middle as a bar of that number is long. Of others only that they are even is known.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import numpy as np

from mechanisms.verify import chart_marks
from mechanisms.verify.chart_maps import are_bars
from mechanisms.verify.chart_marks import PIXEL
from mechanisms.verify.chart_series import ChartSeries
from mechanisms.verify.shown_numbers import value_of
from mechanisms.verify.svg_shapes import WORD_OF_NUMBER, Drawing, Word

_NEAR = 1.1


class PlacedShape(Protocol):
    """places: where its points are along the axis that shows no numbers of theirs."""

    places: np.ndarray


def off_axis(
    row: Sequence[Word],
    across: str,
    drawing: Drawing,
    panels: Sequence[np.ndarray],
    series: ChartSeries,
    shapes: Sequence[PlacedShape],
) -> list[str]:
    """Marks, three or more, that are not even, or not where the axis of the shapes has them."""
    if across == "x" and are_on_axis(row, series, shapes):
        return []
    if across == "x" and not panels and _middle_of(drawing) is not None:
        return _strange_sides(row, drawing, series)
    return list(chart_marks.off_scale(row, across))


def are_on_axis(row: Sequence[Word], series: ChartSeries, shapes: Sequence[PlacedShape]) -> bool:
    """Whether marks, which may be too few to tell a scale, stand where the shapes' first place and last say."""
    if not shapes or not all(WORD_OF_NUMBER.fullmatch(word.text) for word in row):
        return False
    places = max((shape.places for shape in shapes), key=len)
    begin, reach = places.min(), np.ptp(places)
    at, numbers = np.array([word.x for word in row]), np.array([value_of(word.text) for word in row])
    return any(
        bool((np.abs(begin + (numbers - first) / (last - first) * reach - at) < _NEAR).all())
        for first, last in series.axes
        if last > first and reach > 0
    )


def is_heading_of_sides(word: Word, drawing: Drawing, series: ChartSeries) -> bool:
    """Whether it names the column of two groups, over the line from which their bars grow to both sides."""
    middle = _middle_of(drawing)
    return (
        middle is not None
        and abs(word.x - middle) < _NEAR
        and word.y == min(each.y for each in drawing.words)
        and word.text in series.names
    )


def _strange_sides(row: Sequence[Word], drawing: Drawing, series: ChartSeries) -> list[str]:
    """Marks below bars that grow to both sides, and bars, that do not show numbers of one column by one scale."""
    middle = _middle_of(drawing)
    numbers = np.array([value_of(word.text) for word in row])
    apart = np.abs(np.array([word.x for word in row]) - (middle or 0.0))
    slope = chart_marks.slope_of(apart, numbers)
    if not slope:
        return [word.text for word in row]
    wrong = np.flatnonzero(np.abs(numbers - slope * apart) > 2 * PIXEL * slope)
    strange = [row[int(place)].text for place in wrong]
    for widths in (bars[:, 2] for bars in drawing.rectangles):
        tolerance = PIXEL * slope * (1 + widths / apart.max())
        match = series.match(slope * widths, tolerance, is_cut=True)
        others = np.ones(len(widths), bool) if match is None else match.wrong
        # A bar of nobody, or of less than nobody, has no width.
        strange += [f"{width:.1f}" for width in widths[others & (widths > 0)]]
    return strange


def _middle_of(drawing: Drawing) -> float | None:
    """Where all bars of the first group end, and those of the second begin; None of other drawings."""
    if len(drawing.rectangles) != 2 or not are_bars(drawing.shades):
        return None
    first, second = drawing.rectangles
    ends, middle = first[:, 0] + first[:, 2], float(second[0, 0])
    meet = (np.abs(ends - middle) < 2 * PIXEL).all() and (np.abs(second[:, 0] - middle) < 2 * PIXEL).all()
    return middle if meet else None
