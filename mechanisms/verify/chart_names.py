"""Names beside the shapes of a chart that lies: each is that of a line that has the numbers of its shapes.

Values of a column may be numbers themselves, as codes are. Those of which nothing is told are left out, so that the
others do not stand as far apart as marks of an axis.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Protocol

import numpy as np

from mechanisms.verify.chart_series import SHARE, ChartSeries
from mechanisms.verify.svg_shapes import Word


class LyingShape(Protocol):
    """values: the numbers of a shape, each told to a tolerance. places: down the drawing, where each stands."""

    values: np.ndarray
    tolerance: np.ndarray
    places: np.ndarray


def of_other_lines(
    names: Sequence[str], column: Sequence[Word], shapes: Sequence[LyingShape], series: ChartSeries
) -> list[str] | None:
    """Which of the names stand at numbers of other lines; None where most do, so that they name no lines.

    column: all words that stand beside the shapes, each of which belongs to the nearest.
    """
    shown = _numbers_at(column, shapes)
    compared = [name for name in names if name in shown]
    wrong = [name for name in compared if not all(_is_of(name, own, series) for own in shown[name])]
    return None if len(wrong) > SHARE * len(compared) or not compared else wrong


def is_cut(word: str, labels: Iterable[str]) -> bool:
    """Whether it is the beginning of a label and “…”, perhaps with the words at the label's end behind that."""
    beginning, sign, end = word.rpartition("…")
    are_words = not end or (beginning and end[0] in " ,")
    return bool(sign and are_words) and any(
        label.startswith(beginning) and label.endswith(end) for label in labels
    )


def _numbers_at(column: Sequence[Word], shapes: Sequence[LyingShape]) -> dict[str, list[np.ndarray]]:
    """Of each word the numbers at each place beside it, with their tolerances: (n, 2)."""
    heights = np.array([word.y for word in column])
    at: dict[tuple[str, float], list[tuple[float, float]]] = {}
    for shape in shapes:
        for place, value, near in zip(shape.places, shape.values, shape.tolerance, strict=True):
            word = column[int(np.abs(heights - place).argmin())].text
            at.setdefault((word, round(float(place), 1)), []).append((float(value), float(near)))
    by_name: dict[str, list[np.ndarray]] = {}
    for (word, _place), numbers in at.items():
        by_name.setdefault(word, []).append(np.array(numbers))
    return by_name


def _is_of(name: str, numbers: np.ndarray, series: ChartSeries) -> bool:
    """Whether one line of that name has all of these numbers. numbers: (n, 2)."""
    values, tolerance = numbers.T
    near = tolerance + 1e-5 * np.abs(values)
    return any((np.abs(line[:, None] - values) <= near).any(axis=0).all() for line in series.lines_of(name))
