"""The chart of a running count as a file: one SVG that opens anywhere, prints well and needs no script."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from django.template.loader import render_to_string
from django.utils.translation import gettext as _

from dpportal.charts.svg_paths import points, round_step

WIDTH, HEIGHT = 800, 400
LEFT, RIGHT, TOP, BOTTOM = 84, 16, 48, 52
TICKS = 6
MAX_POINTS = 2_000


@dataclass(frozen=True)
class Tick:
    """A labelled place on an axis, in pixels."""

    at: float
    text: str


def series_svg(
    labels: Sequence[str],
    *,
    released: np.ndarray,
    half_widths: np.ndarray,
    title: str,
    unit: str = "people",
) -> str:
    """A released running count with its 95 % band, as an SVG document.

    labels: of the T >= 1 periods. released, half_widths: (T,), in `unit`. At most MAX_POINTS periods are drawn.
    """
    places = np.arange((len(labels) - 1) % _stride(labels), len(labels), _stride(labels))
    low = (released - half_widths)[places].astype(float)
    high = (released + half_widths)[places].astype(float)
    marks = _round_marks(min(0.0, float(low.min())), float(high.max()))
    x = LEFT + (WIDTH - LEFT - RIGHT) * (places + 0.5) / len(labels)

    def y(values: np.ndarray) -> np.ndarray:
        share = (values - marks[0]) / (marks[-1] - marks[0])
        return HEIGHT - BOTTOM - (HEIGHT - TOP - BOTTOM) * share

    named = places[:: max(1, -(-places.size // TICKS))]
    context = {
        "title": title,
        "band": points([*zip(x, y(high), strict=True), *zip(x[::-1], y(low)[::-1], strict=True)]),
        "line": points(zip(x, y(released[places].astype(float)), strict=True)),
        "counts": [Tick(float(y(np.array(mark))), f"{mark:,.0f}") for mark in marks],
        "periods": [Tick(float(x[np.searchsorted(places, i)]), labels[i]) for i in named],
        "caption": _("Released running count with its margin (95 %%), in %(unit)s") % {"unit": unit},
        "size": {
            "width": WIDTH,
            "height": HEIGHT,
            "left": LEFT,
            "right": WIDTH - RIGHT,
            "floor": HEIGHT - BOTTOM,
        },
    }
    return render_to_string("streams/series.svg", context)


def _stride(labels: Sequence[str]) -> int:
    return max(1, -(-len(labels) // MAX_POINTS))


def _round_marks(low: float, high: float) -> list[float]:
    """Evenly spaced round whole numbers that cover low..high, at least two."""
    step = round_step(max(float(TICKS), high - low), TICKS)
    first = math.floor(low / step)
    last = max(first + 1, math.ceil(high / step))
    return [step * place for place in range(first, last + 1)]
