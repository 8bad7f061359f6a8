"""One column of a summary: shares of its categories or a density of its values, in all and by groups."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import plotly.graph_objects as go
from django.utils.translation import gettext as _

from dpportal.charts.counted_word import counted_word
from dpportal.charts.style import Figure, category_axis, finished, plain, plain_all, whiskers
from mechanisms.arrays import Floats
from mechanisms.moments.column import day_of

MOST_LABELS = 40
# Series that are told apart by colour and dash; further groups are in the table.
MOST_SERIES = 7
COLOURS = ("var(--muted)", *(f"var(--series-{place})" for place in range(1, 7)))
# How far marks of two groups stand beside each other, in steps.
APART = 0.1
DASHES = ("solid", "solid", "dash", "dot", "dashdot", "longdash", "longdashdot")


def shares_figure(
    column: str, labels: Sequence[str], series: Mapping[str, tuple[Floats, Floats, Floats]]
) -> Figure:
    """Bars of each category, a series for each group.

    series: by the group's name the shares and the ends of their 95 % intervals, (labels,) each.
    """
    figure, names = go.Figure(), plain_all(labels[:MOST_LABELS])
    shown = dict(list(series.items())[:MOST_SERIES])
    for place, (name, (share, lower, upper)) in enumerate(shown.items()):
        sides = _percent(share - lower), _percent(upper - share)
        figure.add_bar(
            name=plain(name), x=names, y=_percent(share[:MOST_LABELS]), marker={"color": COLOURS[place]},
            error_y=whiskers(*sides),
            hovertemplate="%{x}<br><b>%{y:.2f} %</b><extra>%{fullData.name}</extra>",
        )  # fmt: skip
    figure.update_layout(
        barmode="group",
        xaxis=category_axis(column),
        yaxis={"title": {"text": _("%% of %(unit)s") % {"unit": counted_word()}}, "rangemode": "tozero"},
        showlegend=len(shown) > 1,
    )
    caption = _("The true share lies within the line at the end of its bar with probability 95 % or more.")
    caption += _first_of(len(labels), MOST_LABELS, _("values"))
    caption += _first_of(len(series), MOST_SERIES, _("groups"))
    return finished(figure, title=_title(_("Shares of %(column)s"), column), caption=caption)


def density_figure(
    column: str,
    edges: Sequence[float],
    series: Mapping[str, tuple[Floats, Floats, Floats]],
    *,
    is_date: bool = False,
) -> Figure:
    """A line over the middles of a column's steps with their intervals, a series for each group.

    edges: (steps + 1,) where each step begins and the last one ends; of dates in days since 1970. series: by the
    group's name the shares of the steps and the ends of their 95 % intervals, (steps,) each.
    """
    figure, shown = go.Figure(), dict(list(series.items())[:MOST_SERIES])
    middles, width = (np.add(edges[:-1], edges[1:]) / 2).tolist(), edges[1] - edges[0]
    ends = [day_of(day).isoformat() for day in (edges[0], edges[-1])] if is_date else [edges[0], edges[-1]]
    for place, (name, (share, lower, upper)) in enumerate(shown.items()):
        # Beside each other, so that it is seen whose intervals they are.
        shift = (place - (len(shown) - 1) / 2) * APART * width
        x = [middle + shift for middle in middles]
        figure.add_scatter(
            name=plain(name), x=[day_of(day).isoformat() for day in x] if is_date else x, y=_percent(share),
            mode="lines+markers", line={"color": COLOURS[place], "dash": DASHES[place], "width": 1.5},
            marker={"color": COLOURS[place], "size": 4},
            error_y=whiskers(_percent(share - lower), _percent(upper - share), COLOURS[place]),
            hovertemplate="<b>%{y:.3g} %</b><extra>%{fullData.name}</extra>",
        )  # fmt: skip
    figure.update_layout(
        xaxis={"title": {"text": plain(column)}, "range": ends, **({} if is_date else {"tickformat": ","})},
        yaxis={
            "title": {"text": _("%% of %(unit)s, by step") % {"unit": counted_word()}},
            "rangemode": "tozero",
        },
        showlegend=len(shown) > 1,
    )
    text = _("Of each group's %(unit)s with a value, how many lie in each of %(steps)s steps of equal width.")
    meta = {"unit": counted_word(), "steps": len(edges) - 1}
    caption = text % meta + " " + _("The true share lies within the line with probability 95 % or more.")
    caption += _first_of(len(series), MOST_SERIES, _("groups"))
    return finished(figure, title=_title(_("Distribution of %(column)s"), column), caption=caption)


def _title(text: str, column: str) -> str:
    return text % {"column": column}


def _first_of(there: int, most: int, what: str) -> str:
    if there <= most:
        return ""
    text = _(" Drawn are the first %(most)s of %(there)s %(what)s; all are in the table.")
    return text % {"most": most, "there": there, "what": what}


def _percent(values: Floats | Sequence[float]) -> list[float | None]:
    """Shares as percentages, with more digits than a chart shows, which rounds them; nothing where there is none."""
    return [None if value != value else float(f"{100 * value:.8g}") for value in values]
