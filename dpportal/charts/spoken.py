"""What a chart shows in a few sentences, for who hears a page: highest, lowest and direction of each series.

All of it is read from the figure that a reader sees, and so from published numbers alone.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from django.utils.translation import gettext as _

from dpportal.charts.figure_json import FigureJson
from dpportal.charts.lying_bars import shown_traces
from dpportal.charts.trace_values import Trace, number_text, plain_label, sides_at, value_text
from dpportal.platform.listed_names import in_a_row

# Series that are told one by one; of more, and of charts side by side, the highest and lowest of all.
MOST_SPOKEN = 4


@dataclass(frozen=True)
class _Point:
    """A number, its text, how far it reaches to each side (0 where that is not known), and where it stands."""

    value: float
    text: str
    reach: float
    place: str


def spoken_summary(figure: FigureJson) -> str:
    """In the reader's language; empty of a chart without numbers. Counts are whole."""
    layout = figure["layout"]
    meta = layout.get("meta") or {}
    if meta.get("is_areas"):
        return _of_areas(meta.get("counts") or {})
    traces = [trace for trace in shown_traces(figure) if _is_series(trace)]
    are_counts = bool(meta.get("is_counts"))
    series = [
        (plain_label(trace.get("name") or ""), points)
        for trace in traces
        if (points := _points(trace, are_counts))
    ]
    if not series:
        return ""
    unit = _suffix(layout)
    panels = {trace.get("xaxis", "x") for trace in traces}
    if len(series) > MOST_SPOKEN or len(panels) > 1:
        return _of_all(series, len(panels), unit)
    are_lines = all("lines" in (trace.get("mode") or "") for trace in traces)
    is_ordered = are_lines or bool(meta.get("is_ordered"))
    return in_a_row(
        [_of_one(name if len(series) > 1 else "", points, is_ordered, unit) for name, points in series]
    )


def _of_areas(counts: Mapping[str, int]) -> str:
    """Of a map: how many areas and people it shows, and where most and fewest are."""
    if not counts:
        return ""
    top, low = max(counts, key=counts.__getitem__), min(counts, key=counts.__getitem__)
    named = {
        "number": f"{len(counts):,}",
        "total": _signed(f"{sum(counts.values()):,}"),
        "top": _signed(f"{counts[top]:,}"),
        "at_top": plain_label(top),
        "low": _signed(f"{counts[low]:,}"),
        "at_low": plain_label(low),
    }
    text = _(
        "%(number)s areas, %(total)s in all; highest: %(top)s at %(at_top)s; lowest: %(low)s at %(at_low)s."
    )
    return text % named


def _is_series(trace: Trace) -> bool:
    """Not the edges of a band, nor a line of a legend."""
    is_edge = trace.get("fill") or trace.get("hoverinfo") == "skip"
    return trace["type"] == "heatmap" or (trace["type"] in ("bar", "scatter") and not is_edge)


def _suffix(layout: FigureJson) -> str:
    axes = (layout.get(axis, {}) for axis in ("yaxis", "xaxis"))
    return next((str(axis["ticksuffix"]) for axis in axes if axis.get("ticksuffix")), "")


def _points(trace: Trace, are_counts: bool) -> list[_Point]:
    if trace["type"] == "heatmap":
        rows, columns = trace.get("y") or (), trace.get("x") or ()
        cells = [
            (value, f"{column} × {row}")
            for row, values in zip(rows, trace["z"], strict=False)
            for column, value in zip(columns, values, strict=False)
        ]
        return [
            _Point(value, _signed(number_text(value)), 0, plain_label(place))
            for value, place in cells
            if value is not None
        ]
    lies = trace.get("orientation") == "h"
    along, across = ("y", "x") if lies else ("x", "y")
    # Bars to the left count as those to the right do.
    sign = -1 if lies and sum(trace[across]) < 0 else 1
    points = []
    for place, (value, name) in enumerate(zip(trace[across], trace[along], strict=True)):
        if value is not None:
            reach = max(sides_at(trace, place, across) or (0, 0))
            at = plain_label(name) if isinstance(name, str) else number_text(name)
            text = _value(trace, place, across, sign, are_counts)
            points.append(_Point(sign * value, text, reach, at))
    return points


def _value(trace: Trace, place: int, across: str, sign: int, are_counts: bool) -> str:
    """As its figure writes it; counts that are no whole numbers, such as reconciled answers, to the nearest."""
    value = trace[across][place]
    if are_counts and isinstance(value, float):
        return _signed(f"{sign * round(value):,}")
    return _signed(number_text(-value)) if sign < 0 else value_text(trace, place, across)


def _of_one(name: str, points: Sequence[_Point], is_ordered: bool, unit: str) -> str:
    top, low = max(points, key=lambda point: point.value), min(points, key=lambda point: point.value)
    named = {"name": name, "top": _number(top, unit), "at_top": top.place}
    if len(points) == 1:
        words = _("%(name)s %(top)s at %(at_top)s.") if name else _("%(top)s at %(at_top)s.")
        return words % named
    named |= {"low": _number(low, unit), "at_low": low.place}
    words = (
        _("%(name)s: highest %(top)s at %(at_top)s, lowest %(low)s at %(at_low)s.")
        if name
        else _("Highest: %(top)s at %(at_top)s; lowest: %(low)s at %(at_low)s.")
    )
    return in_a_row([words % named, _direction(points, unit) if is_ordered else ""])


def _direction(points: Sequence[_Point], unit: str) -> str:
    """From the first to the last: up or down where their margins, if marks have them, do not explain it."""
    first, last = points[0], points[-1]
    named = {
        "first": first.place,
        "last": last.place,
        "from": _number(first, unit),
        "to": _number(last, unit),
    }
    if abs(last.value - first.value) <= first.reach + last.reach:
        return _("From %(first)s to %(last)s about the same.") % named
    if last.value > first.value:
        return _("Up from %(from)s at %(first)s to %(to)s at %(last)s.") % named
    return _("Down from %(from)s at %(first)s to %(to)s at %(last)s.") % named


def _of_all(series: Sequence[tuple[str, Sequence[_Point]]], panels: int, unit: str) -> str:
    """Of many series, or of several charts, which one is the highest and which the lowest place of all."""
    every = [(name, point) for name, points in series for point in points]
    top, low = (pick(every, key=lambda pair: pair[1].value) for pick in (max, min))
    named = {
        "number": panels if panels > 1 else len(series),
        "top": _number(top[1], unit),
        "at_top": _place_text(*top),
        "low": _number(low[1], unit),
        "at_low": _place_text(*low),
    }
    words = (
        _("%(number)s charts. Highest of all: %(top)s at %(at_top)s; lowest: %(low)s at %(at_low)s.")
        if panels > 1
        else _("%(number)s series. Highest of all: %(top)s at %(at_top)s; lowest: %(low)s at %(at_low)s.")
    )
    return words % named


def _place_text(name: str, point: _Point) -> str:
    return f"{name}, {point.place}" if name else point.place


def _number(point: _Point, unit: str) -> str:
    return f"{point.text}{unit}"


def _signed(text: str) -> str:
    return text.replace("-", "\N{MINUS SIGN}")
