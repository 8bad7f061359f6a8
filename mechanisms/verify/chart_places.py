"""Where the shapes of a chart stand along the axis that shows no numbers: evenly, at their labels, on one grid."""

from __future__ import annotations

from collections.abc import Iterator, Sequence, Set

import numpy as np

from mechanisms.verify.chart_maps import are_bars
from mechanisms.verify.chart_series import SHARE
from mechanisms.verify.svg_shapes import WORD_OF_NUMBER, Drawing

# Two places, each written to a tenth of a pixel, tell a distance.
_DISTANCE = 0.16
# A width is written to a tenth of a pixel.
_WRITTEN = 0.06
# Of so many places each pair is tried.
_FEW = 40


def uneven(drawing: Drawing, sizes: Set[int] = frozenset()) -> Iterator[str]:
    """Places across that are not as far apart as the others of their series; widths and feet that differ.

    sizes: how many cells a map may have along a side.
    """
    yield from _off_labels(drawing)
    last = {float(end) for rule in drawing.grid for end in rule[:, 0]}
    for line in drawing.lines:
        yield from _uneven_places(line[:, 0], last)
    for half in (half for band in drawing.bands for half in np.array_split(band, 2)):
        yield from _uneven_places(half[:, 0])
    if drawing.whiskers:
        ends = np.array(drawing.whiskers)
        side = _side_of_whiskers(ends, drawing)
        yield from (f"{line[0, side]:.1f}" for line in ends if line[0, side] != line[1, side])
        yield from _off_centres(ends[:, 0, side], drawing, side)
    for bars in drawing.bars:
        yield from _uneven_places(bars[:, 0])
        yield from _unlike_most(bars[:, 3])
        yield from _unlike_most(bars[:, [1, 4]].ravel())
    across = 1 if _has_upright_grid(drawing) else 0
    for dots in drawing.dots:
        # Queries that ask the same have one place.
        yield from _uneven_places(dots[np.sort(np.unique(dots[:, :2], axis=0, return_index=True)[1]), across])
        yield from _unlike_most(dots[:, 2])
        yield from _unlike_most(dots[:, 3])
    for outline in drawing.outlines:
        # It begins and ends on the floor, under its first step and its last.
        yield from _unlike_most(outline[[0, -1, 0], 1])
        yield from (
            f"{outline[end, 0]:g}" for end in (0, -1) if outline[end, 0] != outline[1 if end == 0 else -2, 0]
        )
        yield from _uneven_places(outline[1:-1:2, 0])
        yield from _uneven_places(outline[2:-1:2, 0])
        # Each step is level, and begins where the one before ended.
        yield from (f"{each:g}" for each in outline[1:-1:2, 1][outline[1:-1:2, 1] != outline[2:-1:2, 1]])
        yield from (f"{each:g}" for each in outline[3:-1:2, 0][outline[3:-1:2, 0] != outline[2:-2:2, 0]])
    if drawing.rectangles and not drawing.grid:
        yield from _off_map(drawing.rectangles, sizes, are_rows=are_bars(drawing.shades))


def _has_upright_grid(drawing: Drawing) -> bool:
    """Whether the lines of the axis stand, so that numbers go from left to right."""
    return any(bool(line[0, 0] == line[1, 0]) for line in drawing.grid if line.shape == (2, 2))


def _uneven_places(places: np.ndarray, ends: Set[float] = frozenset()) -> list[str]:
    """Those that are not even with the others; none where most are not. ends: of axes, where a last step may end."""
    if len(places) < 4:
        return []
    number = _numbers(places)
    rests = [places - slope * number for slope in _pitches(places, number)]
    wrong = min((np.abs(rest - np.median(rest)) > _DISTANCE for rest in rests), key=np.sum)
    wrong[-1] &= float(places[-1]) not in ends
    return [f"{each:.1f}" for each in places[wrong]] if wrong.sum() <= SHARE * len(places) else []


def _numbers(places: np.ndarray) -> np.ndarray:
    """The how many-eth each is. Of more than there are pixels single ones may be left out, as their distance says."""
    apart = np.diff(places)
    pitch = (places[-1] - places[0]) / (len(places) - 1)
    if not 0 < abs(pitch) < 1:
        return np.arange(len(places))
    return np.concatenate([[0.0], np.cumsum(np.clip(np.rint(apart / pitch), 1, 2))])


def _side_of_whiskers(ends: np.ndarray, drawing: Drawing) -> int:
    """0 where they stand, 1 where they lie; those without a length do as the bars do."""
    level, upright = (np.median(ends[:, 0, side] == ends[:, 1, side]) for side in (1, 0))
    return int(level > upright or (level == upright and bool(drawing.rectangles)))


def _off_centres(places: np.ndarray, drawing: Drawing, side: int) -> list[str]:
    """Whiskers that stand in the middle of no bar and no dot; where none does, those that are not even."""
    upright = [
        *(bars[:, 0] + bars[:, 3] / 2 for bars in drawing.bars),
        *(dots[:, 0] + dots[:, 2] for dots in drawing.dots),
    ]
    lying = [cells[:, 1] + cells[:, 3] / 2 for cells in drawing.rectangles]
    centres = np.concatenate([*(lying if side else upright), np.zeros(0)])
    apart = np.abs(places[:, None] - centres[None, :]).min(axis=1, initial=np.inf)
    wrong = apart > _DISTANCE
    return [f"{each:.1f}" for each in places[wrong]] if wrong.mean() <= SHARE else _uneven_places(places)


def _pitches(places: np.ndarray, number: np.ndarray) -> Iterator[float]:
    """How far the next one may be: what most pairs say that are far apart, and of few places, each of these pairs."""
    first, second = np.triu_indices(len(places), 1)
    far = second - first >= len(places) // 2
    pitches = (places[second] - places[first])[far] / (number[second] - number[first])[far]
    yield float(np.median(pitches))
    yield float(np.polyfit(number, places, 1)[0])
    yield from pitches if len(places) <= _FEW else ()


def _off_labels(drawing: Drawing) -> Iterator[str]:
    """Shapes that do not stand as far from their own label as the others of their series, where each has a label."""
    words = [word for word in drawing.words if word.anchor == "middle"]
    lowest = max((word.y for word in words), default=0.0)
    below = [word for word in words if word.y == lowest]
    are_marks = all(WORD_OF_NUMBER.fullmatch(word.text) for word in below)
    series = [
        *(bars[:, 0] + bars[:, 3] / 2 for bars in drawing.bars),
        *(dots[:, 0] for dots in drawing.dots),
        *(line[:, 0] for line in drawing.lines),
    ]
    for places in series:
        left, right = _reach(places, drawing)
        labels = np.array(sorted(word.x for word in below if left <= word.x <= right))
        if len(places) == len(labels) > 1:
            apart = places - labels
            wrong = np.abs(apart - np.median(apart)) > _DISTANCE
            # Marks of an axis are as many as the shapes by chance only.
            if (len(places) < 4 and not are_marks) or wrong.sum() <= SHARE * len(places):
                yield from (f"{each:.1f}" for each in places[wrong])


def _reach(places: np.ndarray, drawing: Drawing) -> tuple[float, float]:
    """From where to where the panel goes that the shapes are in, of several beside each other."""
    level = [rule[:, 0] for rule in drawing.grid if rule.shape == (2, 2) and rule[0, 1] == rule[1, 1]]
    middle = float(np.median(places)) if len(places) else 0.0
    own = [(float(ends.min()), float(ends.max())) for ends in level if ends.min() <= middle <= ends.max()]
    return own[0] if own else (-np.inf, np.inf)


def _unlike_most(values: np.ndarray) -> list[str]:
    """Those that are not the same as the most are."""
    return [f"{each:g}" for each in values[values != np.median(values)]] if len(values) > 2 else []


def _off_map(series: Sequence[np.ndarray], sizes: Set[int], *, are_rows: bool) -> Iterator[str]:
    """Corners of a map's cells that are not on one grid, and sizes that are not cells of it.

    Of bars to both sides of a line, rows that are not even; a bar of nobody has no width. are_rows: whether they are.
    """
    left, top, width, height, back = np.concatenate(series).T
    yield from (f"{each:.1f}" for each in width[width != back])
    if are_rows or _lie_on_a_line(left, width):
        for bars in series:
            yield from _uneven_places(bars[:, 1])
        yield from _unlike_most(height)
        return
    for begins, reach in ((left, width), (top, height)):
        span = (begins + reach).max() - begins.min()
        narrowest = float(reach[reach > 0].min(initial=span or 1.0))
        fitting = range(
            round(span / (narrowest + _WRITTEN)), round(span / max(narrowest - _WRITTEN, 0.1)) + 1
        )
        places = np.concatenate([begins, begins + reach])
        grids = [_off_grid(places, span / cells) for cells in (*fitting, *sizes) if span >= cells > 0]
        yield from min(grids, key=len, default=[])


def _off_grid(places: np.ndarray, pitch: float) -> list[str]:
    """Edges of cells so far apart that are not on their grid."""
    steps = (places - places.min()) / pitch
    return [f"{each:.1f}" for each in places[np.abs(steps - np.round(steps)) * pitch > 2 * _DISTANCE]]


def _lie_on_a_line(left: np.ndarray, width: np.ndarray) -> bool:
    """Whether shapes of several widths all begin or end at the same place across."""
    if np.ptp(width) <= _DISTANCE:
        return False
    places, numbers = np.unique(np.concatenate([left, left + width]).round(1), return_counts=True)
    line = places[numbers.argmax()]
    off = np.minimum(np.abs(left - line), np.abs(left + width - line))
    return bool((off <= 2 * _DISTANCE).all())
