"""A figure as a few shapes of a hundred pixels: bars, a line, dots or shades, without words or axes."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

import numpy as np

from dpportal.charts.area_drawing import frame, rings
from dpportal.charts.figure_json import FigureJson
from dpportal.charts.group_traces import MAX_GROUPS
from dpportal.charts.svg_paths import bar, rectangle
from mechanisms.arrays import Floats

WIDTH, HEIGHT = 120, 72
MOST_BARS, MOST_POINTS, MOST_SQUARES, MOST_DOTS = 30, 60, 20, 12
# Lines, or bars beside each other: as many as the chart itself draws.
MOST_SERIES, PALEST_SERIES = MAX_GROUPS, 0.4
# Of areas without a shade.
FAINT = 0.06
# Pixels that two corners of an area lie apart at least.
CORNER = 1.5
# Pixels from the middle of a dot to its edge.
DOT = 4
SHADES = 6
# Of a table: columns, the height of their heads, and of a row.
MOST_HEADS, HEAD, ROW = 4, 28, 8
Mark = FigureJson


def thumbnail(figure: FigureJson) -> list[Mark]:
    """Shapes for `catalogue/_thumbnail.html` from a figure's JSON: kind (area, bar, line or square), path, opacity.

    Draws the first chart of several, and in it all that have the kind of the first series with numbers, up to
    MOST_SERIES; empty if there is none that it knows. What the chart hides at first is not drawn, nor a series beside
    the first of which noise draws more than people do.
    """
    traces = [trace for trace in figure["data"] if trace.get("visible", True) is True]
    if (figure.get("layout", {}).get("meta") or {}).get("is_areas"):
        return list(_areas([trace for trace in traces if trace.get("fill")]))
    for trace in traces:
        if trace["type"] == "heatmap" and trace.get("z"):
            return list(_shades(np.array(trace["z"], dtype=np.float64)))
        if trace.get("orientation") == "h":
            return mirrored(traces)
        if _has_marks(trace):
            series = [
                _numbers(other)
                for other in traces
                if _has_marks(other)
                and _go_together(trace, other)
                and (other is trace or not _is_noise(other))
            ]
            return _marks_of(trace, series[:MOST_SERIES])
    return []


def line(numbers: Sequence[float]) -> Mark:
    """A running line over at most MOST_POINTS of the numbers."""
    return lines([np.array(numbers, dtype=np.float64)])[0]


def lines(series: Sequence[Floats]) -> list[Mark]:
    """Lines on one scale, each paler than the one before."""
    thinned = [_thinned(numbers, MOST_POINTS) for numbers in series]
    reach = np.concatenate(thinned)
    marks = []
    for values, opacity in zip(thinned, _opacities(len(thinned)), strict=True):
        across = np.linspace(0, WIDTH, values.size)
        down = _heights(np.concatenate([values, reach]))[: values.size]
        points = " ".join(f"{x:.1f} {y:.1f}" for x, y in zip(across, down, strict=True))
        marks.append({"kind": "line", "path": f"M{points}", "opacity": opacity})
    return marks


def dots(numbers: Floats) -> Mark:
    """A dot for each number, as of groups without an order; of many, for means of neighbours."""
    values = _thinned(numbers, MOST_DOTS)
    across = (np.arange(values.size) + 0.5) * WIDTH / values.size
    down = DOT + _heights(values, HEIGHT - 2 * DOT)
    places = zip(across.tolist(), down.tolist(), strict=True)
    path = "".join(f"M{x - DOT:.1f} {y:.1f}a4 4 0 1 0 8 0a4 4 0 1 0 -8 0" for x, y in places)
    return {"kind": "bar", "path": path, "opacity": 1}


def mirrored(traces: Sequence[FigureJson]) -> list[Mark]:
    """Bars to both sides of the middle, the first at the bottom."""
    sides = [_thinned(np.array(trace["x"], dtype=np.float64), MOST_BARS) for trace in traces]
    reach = max(float(np.abs(side).max()) for side in sides) or 1.0
    tall = HEIGHT / max(side.size for side in sides)
    marks = []
    for side, opacity in zip(sides, (1, 0.5), strict=False):
        widths = side / reach * WIDTH / 2
        bars = [
            rectangle(min(WIDTH / 2, WIDTH / 2 + wide), HEIGHT - (place + 0.9) * tall, abs(wide), 0.8 * tall)
            for place, wide in enumerate(widths.tolist())
        ]
        marks.append({"kind": "bar", "path": "".join(bars), "opacity": opacity})
    return marks


def grouped_bars(series: Sequence[Floats]) -> list[Mark]:
    """Bars beside each other on one scale, one of each series; of many places, for means of neighbours."""
    values = np.array([_thinned(numbers, max(1, MOST_BARS // len(series))) for numbers in series])
    tops = _heights(values)
    floor = float(_heights(np.append(values, 0.0))[-1])
    step = WIDTH / values.shape[1]
    wide = 0.8 * step / len(series)
    marks = []
    for place, (row, opacity) in enumerate(zip(tops.tolist(), _opacities(len(series)), strict=True)):
        bars = (bar((i + 0.1) * step + place * wide, floor, top, wide) for i, top in enumerate(row))
        marks.append({"kind": "bar", "path": "".join(bars), "opacity": opacity})
    return marks


def small_bars(numbers: Sequence[float]) -> str:
    """A path of bars over the whole of a picture, of at most MOST_BARS means of neighbours."""
    return str(_bars(np.array(numbers, dtype=np.float64))["path"])


def table(columns: Sequence[Sequence[float]]) -> list[Mark]:
    """A table as its readers see it: the first columns with small bars as their heads, over lines of rows."""
    shown = columns[:MOST_HEADS]
    wide = WIDTH / len(shown)
    heads = [
        _bars(np.array(numbers, dtype=np.float64), (place * wide + 2, HEAD), wide - 6)
        for place, numbers in enumerate(shown)
    ]
    lines = "".join(
        rectangle(place * wide + 2, HEAD + 4 + line * ROW, (wide - 6) * (0.9 - (3 * line + place) % 4 / 6), 3)
        for line in range(int((HEIGHT - HEAD - 4) / ROW))
        for place in range(len(shown))
    )
    return [*heads, {"kind": "bar", "path": lines, "opacity": 0.3}]


def _has_marks(trace: FigureJson) -> bool:
    """Bars, or a line or points that are no edge of a band."""
    if trace["type"] == "bar":
        return bool(_numbers(trace).size)
    return trace["type"] == "scatter" and trace.get("hoverinfo") != "skip" and _numbers(trace).size > 1


def _is_noise(trace: FigureJson) -> bool:
    """Whether half of its numbers or more are smaller than their margins; not where these are unknown."""
    margins = (trace.get("error_y") or {}).get("array")
    if margins is None:
        return False
    pairs = zip(trace["y"], margins, strict=True)
    hidden = [bool(value is None or margin is None or abs(value) < margin) for value, margin in pairs]
    return 2 * sum(hidden) > len(hidden)


def _go_together(trace: FigureJson, other: FigureJson) -> bool:
    """Whether they are drawn in one chart, in one way."""
    return all(trace.get(key) == other.get(key) for key in ("type", "mode", "xaxis", "yaxis"))


def _marks_of(trace: FigureJson, series: Sequence[Floats]) -> list[Mark]:
    if trace["type"] == "bar":
        return grouped_bars(series)
    return [dots(series[0])] if trace.get("mode") == "markers" else lines(series)


def _opacities(series: int) -> list[float]:
    """From full ink for the first to PALEST_SERIES for the last of several."""
    return [round(float(ink), 2) for ink in np.linspace(1, PALEST_SERIES, series)]


def _numbers(trace: FigureJson) -> Floats:
    return np.array(
        [value for value in trace.get("y") or () if isinstance(value, int | float)], dtype=np.float64
    )


def _thinned(values: Floats, most: int) -> Floats:
    """Means of neighbours, so many that few enough are left."""
    return np.array([part.mean() for part in np.array_split(values, min(most, values.size))])


def _heights(values: Floats, height: float = HEIGHT) -> Floats:
    """Places down from the top; nothing is the bottom, unless some are below it."""
    low, high = min(0.0, float(values.min())), max(0.0, float(values.max()))
    return height * (1 - (values - low) / ((high - low) or 1.0))


def _bars(numbers: Floats, corner: tuple[float, float] = (0.0, HEIGHT), width: float = WIDTH) -> Mark:
    """corner: where the bars begin, on the left, and stand, from the top."""
    left, height = corner
    values = _thinned(numbers, MOST_BARS)
    tops, (floor, *_others) = _heights(values, height), _heights(np.array([0.0, *values]), height)
    step = width / values.size
    bars = (bar(left + (i + 0.1) * step, floor, top, 0.8 * step) for i, top in enumerate(tops))
    return {"kind": "bar", "path": "".join(bars), "opacity": 1}


def _shades(numbers: Floats) -> Iterator[Mark]:
    """Squares of one shade as one path."""
    rows = np.array_split(np.nan_to_num(np.maximum(numbers, 0)), min(MOST_SQUARES, len(numbers)))
    means = np.array([_thinned(part.mean(axis=0), MOST_SQUARES) for part in rows])
    tall, wide = HEIGHT / means.shape[0], WIDTH / means.shape[1]
    # Square roots, since a few cells often hold most people.
    shades = np.ceil(SHADES * np.sqrt(means / (means.max() or 1.0))).astype(int)
    for shade in range(1, SHADES + 1):
        places = zip(*np.nonzero(shades == shade), strict=True)
        path = "".join(rectangle(x * wide, y * tall, wide, tall) for y, x in places)
        if path:
            yield {"kind": "square", "path": path, "opacity": round(math.sqrt(shade / SHADES), 2)}


def _areas(traces: Sequence[FigureJson]) -> Iterator[Mark]:
    """Areas of one shade as one path, in the middle of the picture; islands of less than a corner are left out."""
    left, top, wide, tall = frame(traces)
    scale = min(WIDTH / max(1, wide), HEIGHT / max(1, tall))
    x0, y0 = (WIDTH - wide * scale) / 2 - left * scale, (HEIGHT - tall * scale) / 2 - top * scale
    paths: dict[float, str] = {}
    for trace in traces:
        outlines = ([(x0 + x * scale, y0 + y * scale) for x, y in ring] for ring in rings(trace))
        path = "".join(_outline(ring) for ring in outlines)
        # Without a pattern: of a number within its margin, and of none, no more than an outline is seen.
        ink = trace["opacity"] if trace["fillcolor"] == "var(--accent)" else FAINT
        paths[ink] = paths.get(ink, "") + path
    for opacity, path in sorted(paths.items()):
        if path:
            yield {"kind": "area", "path": path, "opacity": opacity}


def _outline(ring: Sequence[tuple[float, float]]) -> str:
    """A ring as a path, without the corners that nobody could tell apart."""
    corners: list[tuple[float, float]] = []
    for corner in ring:
        if not corners or math.dist(corner, corners[-1]) >= CORNER:
            corners.append(corner)
    return "M" + " ".join(f"{x:.1f} {y:.1f}" for x, y in corners) + "z" if len(corners) > 2 else ""
