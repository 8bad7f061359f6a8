"""A map of areas as shapes that stand still, with its shades in words under it."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from itertools import pairwise

from dpportal.charts.figure_json import FigureJson
from dpportal.charts.text_width import width_of
from dpportal.charts.trace_values import Trace

EDGE, LINE, SWATCH = 8, 18, 14
# Between the lines of what is hatched.
GAP = 7
# From this opacity on, words on an area are in the colour of words on the accent.
DARK = 0.8


PixelPoint = tuple[float, float]
PixelRing = list[PixelPoint]


def area_drawing(figure: FigureJson, width: int) -> FigureJson:
    """The same context as `static_svg.drawing`. figure: from `area_map`. width: in pixels."""
    traces = [trace for trace in figure["data"] if trace.get("fill")]
    legend = figure["layout"]["meta"]["legend"]
    left, top, wide, tall = frame(traces)
    most = int(figure["layout"]["height"])
    scale = min((width - 2 * EDGE) / max(1, wide), most / max(1, tall))
    areas: list[FigureJson] = []
    texts: list[FigureJson] = []
    for trace in traces:
        outlines = [
            [(EDGE + (x - left) * scale, EDGE + (y - top) * scale) for x, y in ring] for ring in rings(trace)
        ]
        path = "".join(
            ["M" + "L".join([f"{x:.1f} {y:.1f}" for x, y in ring]) + "z" for ring in outlines if ring]
        )
        areas += _shapes(path, trace, [ring for ring in outlines if ring])
        areas[-1]["title"] = trace["text"]
        is_dark = trace["fillcolor"] == "var(--accent)" and trace["opacity"] > DARK
        texts += _named(str(trace["name"]), outlines, is_dark)
    height = 2 * EDGE + tall * scale
    for place, (x, y) in zip(legend, _places(legend, width, height), strict=True):
        corners = [(x, y), (x + SWATCH, y), (x + SWATCH, y + SWATCH), (x, y + SWATCH)]
        areas += _shapes(f"M{x:.1f} {y:.1f}h{SWATCH}v{SWATCH}h-{SWATCH}z", place, [corners])
        texts.append(_text(place["text"], x + SWATCH + EDGE, y + SWATCH - 3, "start"))
    bottom = max((text["y"] for text in texts[-len(legend) :]), default=height)
    return {
        "width": width,
        "height": round(bottom + EDGE),
        "areas": areas,
        "lines": [],
        "texts": texts,
        "names": [],
        "scale": "",
    }


def rings(trace: Trace) -> Iterator[PixelRing]:
    """The outlines of an area of `area_map`, which stand one after the other with nothing between them."""
    xs, ys = trace["x"], trace["y"]
    ends = [place for place, x in enumerate(xs) if x is None]
    for first, end in zip([0, *(end + 1 for end in ends)], [*ends, len(xs)], strict=True):
        yield list(zip(xs[first:end], ys[first:end], strict=True))


def frame(traces: Sequence[Trace]) -> tuple[float, float, float, float]:
    """Left, top, width and height of all areas."""
    x = [value for trace in traces for value in trace["x"] if value is not None] or [0]
    y = [value for trace in traces for value in trace["y"] if value is not None] or [0]
    return min(x), min(y), max(x) - min(x), max(y) - min(y)


def _named(name: str, outlines: list[PixelRing], is_dark: bool) -> list[FigureJson]:
    """Its name in the middle of its widest ring, where it lies inside; the pointer tells the others."""
    rings = [ring for ring in outlines if ring]
    if not rings:
        return []
    widest = max(rings, key=_width)
    xs, ys = [x for x, _y in widest], [y for _x, y in widest]
    x, y, half = (min(xs) + max(xs)) / 2, (min(ys) + max(ys)) / 2, width_of(name) / 2
    corners = [(x + side, y + end) for side in (-half, 0, half) for end in (-LINE / 3, LINE / 3)]
    if not all(_is_inside(corner, widest) for corner in corners):
        return []
    colour = "var(--on-accent)" if is_dark else "var(--text)"
    return [_text(name, x, y + 4, "middle") | {"strong": True, "colour": colour}]


def _width(ring: PixelRing) -> float:
    xs = [x for x, _y in ring]
    return max(xs) - min(xs)


def _is_inside(place: PixelPoint, ring: PixelRing) -> bool:
    """Whether a line from the place to the right crosses the ring an odd number of times."""
    x, y = place
    edges = [(a, b) for a, b in pairwise([*ring, ring[0]]) if (a[1] > y) != (b[1] > y)]
    crossed = [a[0] + (y - a[1]) * (b[0] - a[0]) / (b[1] - a[1]) > x for a, b in edges]
    return sum(crossed) % 2 == 1


def _places(legend: Sequence[FigureJson], width: int, top: float) -> Iterator[tuple[float, float]]:
    """Left and top of each shade, in lines that are not wider than the drawing."""
    x, y = float(EDGE), top + EDGE
    for place in legend:
        wide = SWATCH + 3 * EDGE + width_of(place["text"])
        if x > EDGE and x + wide > width:
            x, y = float(EDGE), y + LINE
        yield x, y
        x += wide


def _shapes(path: str, look: FigureJson, outlines: Sequence[PixelRing]) -> list[FigureJson]:
    """An area or a swatch in its class; of one that is hatched the lines, then its outline, which has the pointer."""
    if "fillpattern" not in look:
        fill = look.get("fillcolor", "var(--accent)")
        return [{"path": path, "fill": fill, "stroke": "var(--text)", "opacity": look["opacity"]}]
    lines = {"path": hatching(outlines), "fill": "none", "stroke": "var(--muted)", "opacity": 1}
    return [lines, {"path": path, "fill": "var(--page)", "stroke": "var(--text)", "opacity": 0}]


def hatching(outlines: Sequence[PixelRing]) -> str:
    """Lines from below to above, GAP apart, within some rings; what lies in two of them is a hole."""
    edges = [edge for ring in outlines for edge in pairwise([*ring, ring[0]])]
    sums = [x + y for ring in outlines for x, y in ring]
    first, last = (math.floor(end / GAP) for end in (min(sums, default=0), max(sums, default=0)))
    path = []
    for step in range(first + 1, last + 1):
        crossed = sorted(_crossings(edges, step * GAP))
        path += [
            f"M{a:.1f} {step * GAP - a:.1f}L{b:.1f} {step * GAP - b:.1f}"
            for a, b in zip(crossed[::2], crossed[1::2], strict=False)
        ]
    return "".join(path)


def _crossings(edges: Sequence[tuple[PixelPoint, PixelPoint]], total: float) -> Iterator[float]:
    """Where edges cross the line of all places whose sum of x and y is the total: across."""
    for (x0, y0), (x1, y1) in edges:
        before, after = x0 + y0 - total, x1 + y1 - total
        if (before > 0) != (after > 0):
            yield x0 + (x1 - x0) * before / (before - after)


def _text(words: str, x: float, y: float, anchor: str) -> FigureJson:
    return {"text": words, "x": round(x, 1), "y": round(y, 1), "anchor": anchor, "turned": False}
