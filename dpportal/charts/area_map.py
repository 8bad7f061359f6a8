"""A map of known areas, each as dark as many people were counted in it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from django.utils.translation import gettext as _

from dpportal.charts.area_classes import class_of, limits
from dpportal.charts.counted_word import counted_by, counted_word, picked_row_caption
from dpportal.charts.counts import interval_caption
from dpportal.charts.figure_json import FigureJson
from dpportal.charts.style import TEMPLATE, TRANSPARENT, Figure, plain
from dpportal.platform.listed_names import in_a_row, joint, listed
from mechanisms.arrays import Floats

# Areas that a page draws on one map, while a visitor waits.
MOST_AREAS = 400
WIDTH, TALLEST, LEGEND = 760, 620, 40
# Of the opacity of the first shade and the last.
PALEST, DARKEST = 0.12, 0.95
# How an area looks whose number noise explains, and one of which there is none.
HATCHED: FigureJson = {
    "fillcolor": TRANSPARENT,
    "fillpattern": {"shape": "/", "fgcolor": "var(--muted)", "bgcolor": TRANSPARENT, "size": 6},
    "opacity": 1,
}
NOT_KNOWN: FigureJson = {"fillcolor": "var(--muted)", "opacity": 0.35}
Ring = Sequence[int]


@dataclass(frozen=True)
class Areas:
    """The outlines of areas: of each label its rings, x and y in turn. width, height: of all of them together.

    others: areas of the same map that no cell has.
    """

    width: int
    height: int
    shapes: Mapping[str, Sequence[Ring]]
    credit: str = ""
    others: Mapping[str, Sequence[Ring]] = field(default_factory=dict)


def area_figure(
    areas: Areas, labels: Sequence[str], values: Floats, *, half_width: int | None, column: str
) -> Figure:
    """Released counts on a map. labels: of the cells; values: (cells,) estimates; half_width: of each, if all have one.

    An area whose number is no larger than its margin is hatched, in no class. Cells that no area is known for are named
    in the caption: their counts are in the table.
    """
    shown = {
        label: value for label, value in zip(labels, values.tolist(), strict=True) if label in areas.shapes
    }
    certain = np.array([value for value in shown.values() if not _is_noise(value, half_width)])
    begins = limits(certain, half_width)
    margin = "" if half_width is None else f" ± {half_width:,}"
    traces = [
        _trace(areas.shapes[label], _words(label, value, margin), _look(value, begins, half_width), label)
        for label, value in shown.items()
    ]
    traces += [_trace(rings, _unknown(name), NOT_KNOWN, name) for name, rings in areas.others.items()]
    legend = [*_legend(begins, certain, half_width), *_marks(shown.values(), half_width, areas.others)]
    return Figure(
        {
            "data": [*traces, _outlines(areas), *map(_shade, legend)],
            "layout": _layout(areas, legend, {plain(label): round(value) for label, value in shown.items()}),
        },
        in_a_row(_captions(areas, labels, half_width)),
        counted_by(plain(column)),
    )


def _captions(areas: Areas, labels: Sequence[str], half_width: int | None) -> list[str]:
    lacking = [label for label in labels if label not in areas.shapes]
    captions = [picked_row_caption(), interval_caption(half_width, counted_word())]
    if lacking:
        captions.append(_("Not on the map: %(labels)s.") % {"labels": listed(map(plain, lacking))})
    if areas.credit:
        captions.append(_("Areas: %(credit)s.") % {"credit": plain(areas.credit)})
    return captions


def _is_noise(value: float, half_width: int | None) -> bool:
    """Whether perhaps nobody is there."""
    return half_width is not None and value <= half_width


def _look(value: float, begins: Sequence[int], half_width: int | None) -> FigureJson:
    if _is_noise(value, half_width):
        return HATCHED
    return {"opacity": _opacity(class_of(value, begins), len(begins))}


def _words(label: str, value: float, margin: str) -> str:
    return f"{plain(label)}{joint(':')}{value:,.0f}{margin} {counted_word()}"


def _unknown(name: str) -> str:
    return f"{plain(name)}{joint(':')}{_('no number')}"


def _trace(rings: Sequence[Ring], text: str, look: FigureJson, name: str) -> FigureJson:
    """An area, as it looks in its class. text: at the pointer."""
    return {
        "type": "scatter",
        "mode": "lines",
        "fill": "toself",
        **_places(rings),
        "name": plain(name),
        "fillcolor": "var(--accent)",
        "line": {"width": 0},
        "hoveron": "fills",
        "hoverinfo": "text",
        "text": text,
        "showlegend": False,
        **look,
    }


def _outlines(areas: Areas) -> FigureJson:
    """The lines of all areas, which are as dark around a pale one."""
    every = [ring for rings in (*areas.shapes.values(), *areas.others.values()) for ring in rings]
    line = {"color": "var(--text)", "width": 0.7}
    shown = {"hoverinfo": "skip", "showlegend": False, "line": line}
    return {"type": "scatter", "mode": "lines", "name": "", **_places(every), **shown}


def _places(rings: Sequence[Ring]) -> FigureJson:
    """Rings one after the other, with nothing between them."""
    x: list[int | None] = []
    y: list[int | None] = []
    for ring in rings:
        x += [*ring[::2], None]
        y += [*ring[1::2], None]
    return {"x": x[:-1], "y": y[:-1]}


def _shade(entry: FigureJson) -> FigureJson:
    """A line of the live chart's legend; a drawing has its own."""
    symbol = "square-x-open" if "fillpattern" in entry else "square"
    marker = {"symbol": symbol, "size": 14, "color": entry.get("fillcolor", "var(--accent)")}
    return {
        "type": "scatter",
        "mode": "markers",
        "x": [None],
        "y": [None],
        "name": entry["text"],
        "marker": marker,
        "opacity": entry["opacity"],
    }


def _opacity(place: int, classes: int) -> float:
    """Even steps of lightness, which grey print and every eye tell apart."""
    return round(PALEST + (DARKEST - PALEST) * place / max(1, classes - 1), 3)


def _legend(begins: Sequence[int], values: Floats, half_width: int | None) -> list[FigureJson]:
    """Each class in which there is an area, in words; the last ends with the largest number."""
    ends = [*(begin - 1 for begin in begins[1:]), round(float(values.max(initial=0)))]
    used = {class_of(value, begins) for value in values.tolist()}
    return [
        {
            "text": f"{_range_text(begin or (half_width or -1) + 1, end)} {counted_word()}",
            "opacity": _opacity(place, len(begins)),
        }
        for place, (begin, end) in enumerate(zip(begins, ends, strict=True))
        if place in used
    ]


def _marks(values: Iterable[float], half_width: int | None, others: Mapping[str, object]) -> list[FigureJson]:
    """What hatched and grey areas are, where there are any."""
    marks = []
    if any(_is_noise(value, half_width) for value in values):
        text = _("up to %(margin)s %(counted)s, which is within the margin")
        marks.append({"text": text % {"margin": f"{half_width:,}", "counted": counted_word()}, **HATCHED})
    if others:
        marks.append({"text": _("no number"), **NOT_KNOWN})
    return marks


def _range_text(low: int, high: int) -> str:
    """Two whole numbers and what lies between; one where they are the same."""
    return f"{low:,}" if low == high else _("%(low)s to %(high)s") % {"low": f"{low:,}", "high": f"{high:,}"}


def _layout(areas: Areas, legend: list[FigureJson], counts: Mapping[str, int]) -> FigureJson:
    """counts: of each area that is shown, for who hears a page."""
    hidden = {"visible": False, "showgrid": False}
    height = min(TALLEST, round(WIDTH * areas.height / max(1, areas.width)))
    return {
        "template": TEMPLATE.to_plotly_json(),
        "xaxis": hidden,
        "yaxis": {**hidden, "autorange": "reversed", "scaleanchor": "x"},
        "margin": {"l": 0, "r": 0, "t": 40, "b": 0},
        "height": height + LEGEND,
        "meta": {"is_areas": True, "legend": legend, "counts": counts},
    }
