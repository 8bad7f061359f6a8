"""Maps of a chart whose cells are as dark as many people are in them: whether each has the shade of its number.

A shade is one of 32, the darkest for the end of the scale, which is the largest number of a column, or 1. Cells go
along the lines of a table, or across them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import product

import numpy as np

from mechanisms.verify.chart_series import SHARE, ChartSeries
from mechanisms.verify.svg_shapes import Shade

SHADES, PALEST = 32, 0.04
# Of bars that are hatched, which no shade of a map is, and of others.
_HATCHED, _FULL = 0.35, 1.0
# On some maps a shade goes by the square root of a number.
_POWERS = (1.0, 0.5)
# Cells of a map at most, and of what a number may be off: a shade begins where another ends.
MOST, _OFF = 2000, 1e-6


def strange(shades: Sequence[Shade], series: ChartSeries, *, on_axis: bool = False) -> tuple[int, list[str]]:
    """How many cells were compared, and the shades of those that have not the one of their number.

    A map that shows no column of a table is not compared. on_axis: whether a drawing has lines of an axis, on which
    what has one shade is bars.
    """
    if are_bars(shades) or (on_axis and {shade.opacity for shade in shades} <= {_FULL}):
        return 0, []
    cells = _cells(shades) if shades else np.zeros((0, 4))
    count, wrong = 0, []
    for panel in _panels(cells):
        unknown = _strange(panel, series)
        if unknown is not None:
            count += len(panel)
            wrong += unknown
    return count, wrong


def are_bars(shades: Sequence[Shade]) -> bool:
    """Whether some are hatched, and all others full."""
    opacities = {shade.opacity for shade in shades}
    return _HATCHED in opacities and opacities <= {_HATCHED, _FULL}


def _cells(shades: Sequence[Shade]) -> np.ndarray:
    """Left, top, opacity, and sign of each cell, in cells of the grid: (n, 4). Some stand together as one shape.

    Bars that lie are rectangles, too, and one of nobody has no width.
    """
    places = np.concatenate([shade.places for shade in shades])
    places = places[(places[:, 2] > 0) & (places[:, 3] > 0)]
    if not len(places):
        return np.zeros((0, 4))
    wide, tall = places[:, 2].min(), places[:, 3].min()
    cells = [
        (left / wide + step, top / tall, shade.opacity, -1.0 if shade.is_below else 1.0)
        for shade in shades
        for left, top, width, height, _back in shade.places
        if width > 0 and height > 0
        for step in range(max(1, round(width / wide)))
    ]
    return np.array(cells)


def _panels(cells: np.ndarray) -> Iterator[np.ndarray]:
    """Cells that are beside each other, of maps side by side."""
    if not len(cells):
        return
    columns, rows = (_bands(cells[:, side]) for side in (0, 1))
    for column, row in product(sorted(set(columns)), sorted(set(rows))):
        own = cells[(columns == column) & (rows == row)]
        if 1 < len(own) <= MOST:
            yield own


def _bands(places: np.ndarray) -> np.ndarray:
    """Of each place the number of the band that it is in; more than a cell and a half lie between two."""
    order = np.argsort(places)
    numbers = np.zeros(len(places), int)
    numbers[order[1:]] = np.cumsum(np.diff(places[order]) > 1.5)
    return numbers


def _strange(cells: np.ndarray, series: ChartSeries) -> list[str] | None:
    """None where no column has these shades."""
    ordered = list(_orders(cells))
    best: tuple[np.ndarray, np.ndarray] | None = None
    for own, end, power in _candidates(cells, series):
        shown = [_shades_of(own, end, power, off) for off in (-_OFF, _OFF)]
        for each in ordered:
            wrong = np.logical_and.reduce([np.abs(each - known) > _OFF for known in shown])
            if best is None or wrong.sum() < best[1].sum():
                best = each, wrong
        if best is not None and not best[1].any():
            return []
    if best is None or best[1].sum() > SHARE * len(cells):
        return None
    return [f"{abs(opacity):g}" for opacity in best[0][best[1]]]


def _candidates(cells: np.ndarray, series: ChartSeries) -> Iterator[tuple[np.ndarray, float, float]]:
    """Columns, ends of their scale, and powers; each column by itself before all that share one scale.

    On a scale that begins at nobody what is below counts as nobody.
    """
    candidates = [own for own, _known in series.every if len(own) == len(cells)]
    columns = [*candidates, *(np.maximum(own, 0) for own in candidates if (own < 0).any())]
    largest = [float(np.abs(own).max()) for own in columns]
    for own, end in zip(columns, largest, strict=True):
        yield from product([own], {1.0, end, float(int(end))} - {0.0}, _POWERS)
    yield from product(columns, sorted({*largest, *map(np.floor, largest)} - {0.0}), _POWERS)


def _orders(cells: np.ndarray) -> Iterator[np.ndarray]:
    """Opacities with their signs: along rows and columns, from the top and from below."""
    left, top = np.round(cells[:, 0], 1), np.round(cells[:, 1], 1)
    for first, second in ((top, left), (left, top), (-top, left), (left, -top)):
        order = np.lexsort((second, first))
        yield cells[order, 2] * cells[order, 3]


def _shades_of(numbers: np.ndarray, end: float, power: float, off: float) -> np.ndarray:
    """Opacities of numbers, with the sign of those below 0. off: what one may be off, in shades; whole ones are not."""
    rounded = off * (numbers != np.round(numbers))
    shade = np.ceil(SHADES * np.minimum(1.0, np.abs(numbers) / end) ** power + rounded)
    opacity = np.round(np.maximum(PALEST, np.clip(shade, 0, SHADES) / SHADES), 3)
    return np.asarray(np.where(numbers < 0, -1.0, 1.0) * opacity)
