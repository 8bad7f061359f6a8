"""Charts of a running count: arrays in, Plotly figures out. No file, no database, no model.

A figure without `true` holds nothing about true counts. Callers give at most a few thousand periods: long series
come thinned, and the caption says so.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import plotly.graph_objects as go
from django.utils.translation import gettext as _

from dpportal.charts.both_kinds import of_both_kinds, one_at_a_time
from dpportal.charts.counted_word import counted_word
from dpportal.charts.style import (
    PERIODS,
    TRANSPARENT,
    Figure,
    SeriesFigure,
    category_axis,
    finished,
    plain,
    plain_all,
    whiskers,
)

TICKS = 12
MAX_EXPECTED = 400
# Told apart by dash as well as by colour, so that a print in grey still reads.
_DASHES = ("solid", "dash", "dot", "dashdot", "longdash", "longdashdot")
# Of the style sheet, for lines of one chart.
MOST_COLOURS = 6


@dataclass(frozen=True)
class Timeline:
    """The T periods of a chart, and what is counted in them.

    labels: of the periods. unit: what is counted. periods: how many there are in all, if these are some of them.
    """

    labels: Sequence[str]
    unit: str = "people"
    periods: int = 0


def series_figure(
    time: Timeline,
    *,
    released: np.ndarray,
    half_widths: np.ndarray,
    consistent: np.ndarray | None = None,
    true: np.ndarray | None = None,
    name: str = "",
) -> Figure:
    """A released running count with its 95 % band, and beside it the true count if given.

    released, half_widths, consistent, true: (T,), in the timeline's unit. consistent: what never falls, which a reader
    may see in place of the released count. name: which series.
    """
    x, unit = plain_all(time.labels), time.unit
    figure = SeriesFigure()
    add_band(figure, x, released - half_widths, released + half_widths)
    hover = "%{x}<br><b>%{y:,}</b> ± %{customdata:,} " + plain(unit) + "<extra>%{fullData.name}</extra>"
    trace = _seen(line(_("Released"), "var(--noisy)", "solid", hover), len(x))
    if len(x) == 1:
        trace.update(error_y=whiskers(half_widths.tolist(), half_widths.tolist()))
    figure.add_series(trace, x=x, y=released.tolist(), customdata=half_widths.tolist())
    if consistent is not None:
        text = "%{x}<br><b>%{y:,.1f}</b> " + plain(unit) + "<extra>%{fullData.name}</extra>"
        trace = _seen(line(_("Never falling"), "var(--synthetic)", "dot", text), len(x))
        figure.add_series(trace, x=x, y=consistent.tolist())
    if true is not None:
        text = "%{x}<br><b>%{y:,}</b> " + plain(unit) + "<extra>%{fullData.name}</extra>"
        trace = _seen(line(_("True"), "var(--true)", "solid", text), len(x))
        figure.add_series(trace, x=x, y=true.tolist())
    figure.update_layout(xaxis=category_axis(_("period"), TICKS), yaxis={"title": {"text": plain(unit)}})
    title = _("Running count: %(name)s") % {"name": name} if name else _("Running count")
    shown = finished(figure, title=title, caption=band_caption() + thinned(time), display=PERIODS)
    if consistent is None:
        return shown
    edges, numbers = shown.json["data"][:2], shown.json["data"][2:]
    return one_at_a_time(shown, of_both_kinds([*edges, numbers[0]], [*edges, numbers[1]]))


def _seen(trace: go.Scatter, periods: int) -> go.Scatter:
    """The same, with a dot where there is a single period: a line of one point is not seen."""
    return trace.update(mode="lines+markers", marker_color=trace.line.color) if periods == 1 else trace


def errors_figure(
    time: Timeline, *, released: np.ndarray, true: np.ndarray, half_widths: np.ndarray
) -> Figure:
    """Released minus true running counts against the band ± half_width; for the curator only. All (T,)."""
    x, unit = plain_all(time.labels), time.unit
    figure = SeriesFigure()
    add_band(figure, x, -half_widths, half_widths)
    text = "%{x}<br><b>%{y:+,}</b> " + plain(unit) + "<extra></extra>"
    trace = _seen(line(_("Released minus true"), "var(--noisy)", "solid", text), len(x))
    figure.add_series(trace, x=x, y=(released - true).tolist())
    figure.update_layout(xaxis=category_axis(_("period"), TICKS), yaxis={"title": {"text": plain(unit)}})
    caption = _("Shaded: where the error is expected in at least 95 of 100 periods.")
    caption += " " + _("Errors of neighbouring periods share noise, so they go together.")
    return finished(figure, title=_("Released minus true"), caption=caption + thinned(time))


def expectation_periods(horizon: int) -> np.ndarray:
    """Where an expected error is drawn: at most MAX_EXPECTED periods from 1 to the horizon."""
    return np.unique(np.linspace(1, horizon, min(horizon, MAX_EXPECTED)).astype(np.int64))


def expectation_figure(
    periods: np.ndarray,
    standard_errors: Mapping[str, np.ndarray],
    *,
    published: int | None = None,
    unit: str = "",
) -> Figure:
    """Expected standard error by period, one line for each strategy; no data.

    periods: (P,) numbers from 1. standard_errors: (P,) by the strategy's title. published: a mark at that period.
    """
    unit, figure = unit or counted_word(), SeriesFigure()
    for place, (title, errors) in enumerate(standard_errors.items()):
        text = _("period") + " %{x:,}<br><b>%{y:,.3g}</b> " + plain(unit) + "<extra>%{fullData.name}</extra>"
        trace = line(title, f"var(--series-{place % MOST_COLOURS + 1})", _DASHES[place % len(_DASHES)], text)
        figure.add_series(trace, x=periods.tolist(), y=errors.tolist())
    if published:
        figure.add_vline(published, line={"color": "var(--control)", "width": 1, "dash": "dot"})
    figure.update_layout(
        xaxis={"title": {"text": _("period")}, "tickformat": ","},
        yaxis={
            "title": {"text": _("standard error, %(unit)s") % {"unit": plain(unit)}},
            "rangemode": "tozero",
        },
        showlegend=len(standard_errors) > 1,
    )
    caption = _("Computed from the method and its noise alone, not from the data.")
    return finished(figure, title=_("Expected error by period"), caption=caption)


def line(name: str, colour: str, dash: str, hover: str) -> go.Scatter:
    """A line without its numbers. hover: what is said at a point, as Plotly writes templates."""
    style = {"color": colour, "width": 1.5, "dash": dash}
    return go.Scatter(name=plain(name), mode="lines", line=style, hovertemplate=hover)


def add_band(figure: SeriesFigure, x: list[str], lower: np.ndarray, upper: np.ndarray) -> None:
    """The 95 % band as an area between its two ends."""
    for trace, y in zip(band(), (lower, upper), strict=True):
        figure.add_series(trace, x=x, y=y.tolist())


def band(fill: str = "var(--interval)") -> tuple[go.Scatter, go.Scatter]:
    """The ends of the 95 % band, without their numbers. fill: its colour."""
    edge = {"mode": "lines", "line": {"width": 0, "color": TRANSPARENT}, "hoverinfo": "skip"}
    filled = {"fill": "tonexty", "fillcolor": fill, "name": _("Margin (95 %)")}
    return go.Scatter(**edge, showlegend=False), go.Scatter(**edge, **filled)


def band_caption() -> str:
    """What an interval of a running count promises."""
    return _(
        "The band holds the true running count with probability 95 % or more, in each period taken alone."
    )


def thinned(time: Timeline) -> str:
    """That not all periods are drawn, if so."""
    if len(time.labels) >= time.periods:
        return ""
    text = _("%(drawn)s of %(periods)s periods are drawn; all are in series.csv.")
    return " " + text % {"drawn": f"{len(time.labels):,}", "periods": f"{time.periods:,}"}
