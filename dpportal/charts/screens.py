"""A figure as drawings for the screens that pages are read on: one for a window, and one for a phone."""

from __future__ import annotations

from dpportal.charts.figure_json import FigureJson
from dpportal.charts.spoken import spoken_summary
from dpportal.charts.static_svg import drawing
from dpportal.charts.text_width import longest
from dpportal.charts.trace_values import Trace, values_on

PHONE = 360
# Panels below each other on a phone, of so many pixels with their name; more are moved sideways.
MOST_PANELS, PANEL, AROUND = 12, 170, 96
# Of a panel's height, for its name and the space above it.
NAME = 0.2
# Letters of a map's names that leave it half of a phone's width.
SHORT_NAME = 10


def for_screens(figure: FigureJson) -> FigureJson:
    """A drawing with another under `narrow`, whose letters can be read where the first would be made smaller.

    Panels lie below each other there. Maps with long names, several maps and many panels have none: they need the
    width, and are moved sideways on a phone. `spoken` is what they show in words.
    """
    figures = {**drawing(figure), "spoken": spoken_summary(figure)}
    upright = _upright(figure)
    return {**figures, "narrow": drawing(upright, PHONE)} if upright else figures


def _upright(figure: FigureJson) -> FigureJson | None:
    """The figure as a phone has room for it; None where it needs more."""
    pairs = list(dict.fromkeys((t.get("xaxis", "x"), t.get("yaxis", "y")) for t in figure["data"]))
    maps = [t for t in figure["data"] if t["type"] == "heatmap"]
    if maps and (len(pairs) > 1 or not all(map(_has_short_names, maps))):
        return None
    return figure if len(pairs) < 2 else _below_each_other(figure, pairs)


def _has_short_names(trace: Trace) -> bool:
    return longest([str(name) for letter in "xy" for name in values_on(trace, letter)]) <= SHORT_NAME


def _below_each_other(figure: FigureJson, pairs: list[tuple[str, str]]) -> FigureJson | None:
    """Panels with axes of their own, each with a name above it, in one column."""
    layout, number = figure["layout"], len(pairs)
    notes = layout.get("annotations", ())
    names = [note for note in notes if not note.get("textangle") and note.get("yanchor") == "bottom"]
    have_own = len({x for x, _y in pairs}) == number == len({y for _x, y in pairs})
    if not have_own or len(names) != number or number > MOST_PANELS:
        return None
    axes: FigureJson = {}
    tops = [1 - place / number for place in range(number)]
    for (x, y), top in zip(pairs, tops, strict=True):
        across, along = f"xaxis{x[1:]}", f"yaxis{y[1:]}"
        axes[across] = {**layout.get(across, {}), "domain": (0, 1), "showticklabels": top == tops[-1]}
        domain = (top - 1 / number, top - NAME / number)
        axes[along] = {**layout.get(along, {}), "domain": domain, "showticklabels": True}
    placed = [{**name, "x": 0.5, "y": top - NAME / number} for name, top in zip(names, tops, strict=True)]
    others = [note for note in notes if note not in names]
    height = AROUND + PANEL * number
    return {**figure, "layout": {**layout, **axes, "annotations": [*placed, *others], "height": height}}
