"""A map of known areas, each as dark as many people were counted in it."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from django.utils.translation import gettext as _

from dpportal.charts.counted_word import counted_by, counted_word, picked_row_caption
from dpportal.charts.counts import interval_caption
from dpportal.charts.figure_json import FigureJson
from dpportal.charts.style import TEMPLATE, Figure, plain
from dpportal.charts.svg_paths import round_step
from dpportal.platform.listed_names import in_a_row, joint, listed
from mechanisms.arrays import Floats

# Areas that a page draws on one map, while a visitor waits.
MOST_AREAS = 400
# Shades of a map: as many as can be told apart and named.
CLASSES = 5
WIDTH, TALLEST, LEGEND = 760, 620, 40
# Of the opacity of the first shade and the last.
PALEST, DARKEST = 0.12, 0.95
Ring = Sequence[int]


@dataclass(frozen=True)
class Areas:
    """The outlines of areas: of each label its rings, x and y in turn. width, height: of all of them together."""

    width: int
    height: int
    shapes: Mapping[str, Sequence[Ring]]
    credit: str = ""


def area_figure(
    areas: Areas, labels: Sequence[str], values: Floats, *, half_width: int | None, column: str
) -> Figure:
    """Released counts on a map. labels: of the cells; values: (cells,) estimates; half_width: of each, if all have one.

    Cells that no area is known for are named in the caption: their counts are in the table.
    """
    step = max(1, math.ceil(round_step(max(1.0, float(np.max(values, initial=1))), CLASSES)))
    shown = [
        (label, value) for label, value in zip(labels, values.tolist(), strict=True) if label in areas.shapes
    ]
    lacking = [label for label in labels if label not in areas.shapes]
    caption = [picked_row_caption(), interval_caption(half_width, counted_word())]
    if lacking:
        caption.append(_("Not on the map: %(labels)s.") % {"labels": listed(map(plain, lacking))})
    if areas.credit:
        caption.append(_("Areas: %(credit)s.") % {"credit": plain(areas.credit)})
    margin = "" if half_width is None else f" ± {half_width:,}"
    legend = _legend(max((value for _label, value in shown), default=0), step)
    traces = [_trace(areas.shapes[label], label, value, step, margin) for label, value in shown]
    return Figure(
        {"data": [*traces, *map(_shade, legend)], "layout": _layout(areas, legend)},
        in_a_row(caption),
        counted_by(plain(column)),
    )


def _trace(rings: Sequence[Ring], label: str, value: float, step: int, margin: str) -> FigureJson:
    """Its rings one after the other, with nothing between them."""
    x: list[int | None] = []
    y: list[int | None] = []
    for ring in rings:
        x += [*ring[::2], None]
        y += [*ring[1::2], None]
    return {
        "type": "scatter",
        "mode": "lines",
        "fill": "toself",
        "x": x[:-1],
        "y": y[:-1],
        "name": plain(label),
        "fillcolor": "var(--accent)",
        "opacity": _opacity(_class_of(value, step)),
        "line": {"color": "var(--text)", "width": 0.7},
        "hoveron": "fills",
        "hoverinfo": "text",
        "text": f"{plain(label)}{joint(':')}{value:,.0f}{margin} {counted_word()}",
        "showlegend": False,
    }


def _shade(entry: FigureJson) -> FigureJson:
    """A line of the live chart's legend; a drawing has its own."""
    marker = {"symbol": "square", "size": 14, "color": "var(--accent)"}
    return {
        "type": "scatter",
        "mode": "markers",
        "x": [None],
        "y": [None],
        "name": entry["text"],
        "marker": marker,
        "opacity": entry["opacity"],
    }


def _class_of(value: float, step: int) -> int:
    """A noisy count below 0 is in the first."""
    return min(CLASSES, max(0, int(value // step)))


def _opacity(place: int) -> float:
    return round(PALEST + (DARKEST - PALEST) * place / CLASSES, 3)


def _legend(largest: float, step: int) -> list[FigureJson]:
    """Each shade that there is, in words."""
    return [
        {
            "text": f"{_between(place * step, (place + 1) * step - 1)} {counted_word()}",
            "opacity": _opacity(place),
        }
        for place in range(_class_of(largest, step) + 1)
    ]


def _between(low: int, high: int) -> str:
    """Two whole numbers and what lies between; one where they are the same."""
    return f"{low:,}" if low == high else _("%(low)s to %(high)s") % {"low": f"{low:,}", "high": f"{high:,}"}


def _layout(areas: Areas, legend: list[FigureJson]) -> FigureJson:
    hidden = {"visible": False, "showgrid": False}
    height = min(TALLEST, round(WIDTH * areas.height / max(1, areas.width)))
    return {
        "template": TEMPLATE.to_plotly_json(),
        "xaxis": hidden,
        "yaxis": {**hidden, "autorange": "reversed", "scaleanchor": "x"},
        "margin": {"l": 0, "r": 0, "t": 40, "b": 0},
        "height": height + LEGEND,
        "meta": {"is_areas": True, "legend": legend},
    }
