"""How shapes are written in SVG, to a tenth of a pixel, and where round marks stand: for pictures that stand still."""

from __future__ import annotations

import math
from collections.abc import Iterable

from dpportal.charts.figure_json import FigureJson
from dpportal.charts.trace_values import Trace, colour_of

# The ink of hatched bars.
PALE = 0.35


def points(places: Iterable[tuple[float, float]]) -> str:
    """Of a line or a polygon."""
    return " ".join(f"{x:.1f},{y:.1f}" for x, y in places)


def bar(left: float, floor: float, top: float, width: float) -> str:
    """A bar between two heights, as a path."""
    return f"M{left:.1f} {floor:.1f}V{top:.1f}h{width:.1f}V{floor:.1f}z"


def rectangle(left: float, top: float, width: float, height: float) -> str:
    """A cell of a map, as a path."""
    return f"M{left:.1f} {top:.1f}h{width:.1f}v{height:.1f}h-{width:.1f}z"


def round_step(span: float, most: int) -> float:
    """Between the marks of an axis: 1, 2 or 5 times a power of ten, so that a span has about `most` of them."""
    power = 10.0 ** math.floor(math.log10(span / most))
    return next(power * factor for factor in (1, 2, 5, 10) if power * factor * most >= span)


def up_to_mark(low: float, high: float, most: int) -> float:
    """The end of an axis whose highest mark is not below what is shown; step as in `round_step`."""
    for _ in range(2):  # a longer axis may have a longer step
        step = round_step(high - low, most)
        high = step * math.ceil(round(high / step, 9))
    return high


def filled(path: str, marker: Trace) -> FigureJson:
    """Bars or dots in the colour of their marks. Hatched ones are pale with an edge."""
    hatch = marker.get("pattern")
    edge = marker.get("line", {}).get("color", "none")
    fill, opacity = (hatch["fgcolor"], PALE) if hatch else (marker.get("color"), 1)
    return {"path": path, "fill": fill, "stroke": edge, "opacity": opacity}


def swatch(trace: Trace) -> FigureJson:
    """The mark of a series beside its name: filled and edged as its bars are, or in the colour of its line or band."""
    if trace["type"] == "bar":
        return {name: value for name, value in filled("", trace.get("marker", {})).items() if name != "path"}
    return {"fill": colour_of(trace), "stroke": "none", "opacity": 1}
