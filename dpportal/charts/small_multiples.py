"""Several running counts in one chart, and each in a panel of its own: arrays in, Plotly figures out."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from copy import deepcopy
from functools import cache

import numpy as np
from django.utils.translation import gettext as _
from plotly.subplots import make_subplots

from dpportal.charts.figure_json import FigureJson
from dpportal.charts.series import TICKS, Timeline, band, line, thinned
from dpportal.charts.style import (
    PERIODS,
    Display,
    Figure,
    SeriesFigure,
    category_axis,
    finished,
    plain,
    plain_all,
)

# More lines in one chart cannot be told apart.
MAX_TOGETHER = 6
MAX_APART = 12
COLUMNS = 3
# Places along a line at which its interval and its mark are drawn.
MARKS = 12
# Told apart by dash, mark and pattern as well as by colour.
COLOURS = [f"var(--series-{number})" for number in range(1, MAX_TOGETHER + 1)]
_DASHES = ("solid", "dash", "dot", "dashdot", "longdash", "longdashdot")
_SYMBOLS = ("circle", "square", "diamond", "triangle-up", "x", "cross")
PATTERNS = ("", "/", "\\", "x", "-", ".")
FRAME, _PANEL, _NARROWEST = 110, 190, 640
# For each name of a panel, which make_subplots leaves out where it is empty.
_PLACEHOLDER = "–"


def together_figure(
    time: Timeline,
    names: Sequence[str],
    *,
    released: np.ndarray,
    half_widths: np.ndarray,
) -> Figure:
    """Released running counts in one chart, each on the band of its margins, in a paler colour of its own.

    names: of the k series, at most MAX_TOGETHER. released: (T, k). half_widths: (T,), the same for all series.
    """
    x, unit, figure = plain_all(time.labels), time.unit, SeriesFigure()
    for place in range(len(names)):
        fill = f"var(--series-{place + 1}-band)"
        for edge, side in zip(band(fill), (-half_widths, half_widths), strict=True):
            edge.update(legendgroup=str(place), showlegend=False)
            figure.add_series(edge, x=x, y=(released[:, place] + side).tolist())
    for place, name in enumerate(names):
        own, counts = COLOURS[place], released[:, place]
        mark = {"symbol": _SYMBOLS[place], "color": own, "size": 7, "maxdisplayed": MARKS}
        trace = line(name, own, _DASHES[place], _hover(unit))
        trace.update(mode="lines+markers", marker=mark, legendgroup=str(place))
        if len(x) == 1:
            # A band of one period is not seen.
            trace.update(error_y={"array": half_widths.tolist(), "color": own, "thickness": 1, "width": 4})
        figure.add_series(trace, x=x, y=counts.tolist(), customdata=half_widths.tolist())
    figure.update_layout(xaxis=category_axis(_("period"), TICKS), yaxis={"title": {"text": plain(unit)}})
    caption = f"{_interval_caption()}{thinned(time)}"
    return finished(figure, title=_("Running counts"), caption=caption, display=PERIODS)


def apart_figure(
    time: Timeline,
    names: Sequence[str],
    *,
    released: np.ndarray,
    half_widths: np.ndarray,
) -> Figure:
    """A panel for each running count with its 95 % band, all on the same axes; see `together_figure`."""
    x, unit = plain_all(time.labels), time.unit
    ends = [trace.to_plotly_json() for trace in band()]

    def panel(place: int) -> list[FigureJson]:
        counts = released[:, place]
        main = line(names[place], "var(--noisy)", "solid", _hover(unit)).to_plotly_json()
        return [
            *(
                {**end, "x": x, "y": y.tolist()}
                for end, y in zip(ends, (counts - half_widths, counts + half_widths), strict=True)
            ),
            {**main, "x": x, "y": counts.tolist(), "customdata": half_widths.tolist()},
        ]

    caption = f"{_('Every panel has the same axes.')} {_interval_caption()}{thinned(time)}"
    return in_panels(names, panel, title=_("Running counts, side by side"), caption=caption, unit=unit)


def in_panels(
    names: Sequence[str],
    panel: Callable[[int], Sequence[FigureJson]],
    *,
    title: str,
    caption: str,
    unit: str,
    along: str = "",
) -> Figure:
    """Panels with shared axes. names: above each. panel: the traces of one, by its place. along: if not periods."""
    layout = deepcopy(_panels(len(names)))
    for note, text in zip(layout["annotations"], [*names, along or _("period"), unit], strict=True):
        note["text"] = plain(text)
    traces = [
        # Panels are numbered row by row, and the first has the axes x and y.
        {
            **trace,
            "xaxis": f"x{place + 1 if place else ''}",
            "yaxis": f"y{place + 1 if place else ''}",
        }
        for place in range(len(names))
        for trace in panel(place)
    ]
    return Figure(json={"data": traces, "layout": layout}, caption=caption, title=title)


@cache
def _panels(number: int) -> FigureJson:
    """The layout of so many panels, whose annotations are their names and those of the axes; slow to work out."""
    columns = min(COLUMNS, number)
    rows = -(-number // columns)
    figure = make_subplots(
        rows=rows,
        cols=columns,
        shared_xaxes="all",
        shared_yaxes="all",
        subplot_titles=[_PLACEHOLDER] * number,
        horizontal_spacing=0.03,
        vertical_spacing=0.3 / rows,
        x_title=_PLACEHOLDER,
        y_title=_PLACEHOLDER,
    )
    figure.update_xaxes(type="category", nticks=3, tickangle=0)
    for place in range(max(0, number - columns), number):
        # Also where the last row leaves a column without a panel.
        figure.update_xaxes(showticklabels=True, row=place // columns + 1, col=place % columns + 1)
    figure.update_annotations(font={"size": 13})
    figure.update_layout(showlegend=False, margin={"b": 64, "l": 72})
    width = _NARROWEST if columns > 1 else 0
    height = FRAME + _PANEL * rows
    layout: FigureJson = finished(
        figure, title="", caption="", display=Display(height=height, min_width=width)
    ).json["layout"]
    return layout


def _interval_caption() -> str:
    return _("Each band is a margin (95 %), for one count in one period, taken alone.")


def _hover(unit: str) -> str:
    return "%{x}<br><b>%{y:,}</b> ± %{customdata:,} " + plain(unit) + "<extra>%{fullData.name}</extra>"
