"""Marks of an axis that tell no scale by lines of a grid: whether they are even among themselves."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from mechanisms.verify.shown_numbers import value_of
from mechanisms.verify.svg_shapes import Word

# A place is written to a tenth of a pixel.
PIXEL = 0.12


def off_scale(row: Sequence[Word], across: str) -> Iterator[str]:
    """Marks along an axis that are not even."""
    values = np.array([value_of(word.text) for word in row])
    places = np.array([getattr(word, across) for word in row])
    wrong = [_uneven(places, each) for each in (values, _mirrored(places, values))]
    yield from (row[int(place)].text for place in min(wrong, key=len))


def are_first_places(row: Sequence[Word], across: str) -> bool:
    """Whether it is a map's marks of one cell or two, which tell no scale: they are counted from 0."""
    if across == "over" or len(row) > 2:
        return False
    placed = sorted((float(getattr(word, across)), word.text) for word in row)
    return [text for _at, text in placed] == [str(place) for place in range(len(row))]


def _mirrored(places: np.ndarray, values: np.ndarray) -> np.ndarray:
    """Marks of an axis whose numbers grow to both sides, with those before nought below it."""
    return np.where(places < places[values.argmin()], -values, values)


def _uneven(places: np.ndarray, values: np.ndarray) -> np.ndarray:
    """Which marks are not where the others say."""
    slope = slope_of(places, values)
    begins = values - slope * places
    return np.flatnonzero(np.abs(begins - np.median(begins)) > 2 * PIXEL * abs(slope))


def slope_of(pixels: np.ndarray, numbers: np.ndarray) -> float:
    """What most pairs say that are far apart, so that tenths of a pixel matter least."""
    first, second = np.triu_indices(len(pixels), 1)
    apart = np.abs(pixels[first] - pixels[second])
    far = apart >= max(0.5 * apart.max(), 1.0)
    rises = (numbers[first] - numbers[second])[far] / (pixels[first] - pixels[second])[far]
    return float(np.median(rises)) if far.any() else 0.0
