"""The chart of one column of a synthetic table: its noisy counts, with their margin where each has one."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import plotly.graph_objects as go
from django.utils.translation import gettext as _

from dpportal.charts.counted_word import counted_by, counted_word
from dpportal.charts.counts import TICKS, interval_caption
from dpportal.charts.style import (
    Display,
    Figure,
    bar_look,
    category_axis,
    finished,
    hover,
    people_axis,
    plain_all,
    series_names,
    whisker,
)
from dpportal.platform.listed_names import in_a_row

# Of a chart that stands beside its numbers, under the rows: in pixels.
HEIGHT = 300


def column_figure(
    name: str,
    labels: Sequence[str],
    counts: Sequence[int],
    *,
    half_width: int | None,
    together: int,
    is_ordered: bool = True,
) -> Figure:
    """labels, counts: of the same length. together: cells that one count adds up. is_ordered: as the cells are."""
    bars = go.Bar(
        name=series_names()["noisy"],
        x=plain_all(labels),
        y=list(counts),
        marker=bar_look("var(--noisy)", ""),
        error_y=whisker(half_width),
        hovertemplate=hover(counted_word(), half_width) + "<extra></extra>",
    )
    figure = go.Figure(bars)
    # Between ordered cells a reader counts on; other names are read one by one.
    most = TICKS if is_ordered else 2 * TICKS
    axis = category_axis(name, TICKS if len(labels) > most else 0, len(labels))
    figure.update_layout(xaxis=axis, yaxis=people_axis(counted_word()))
    caption = in_a_row(_sentences(counts, half_width, together))
    display = Display(height=HEIGHT, is_counts=True, is_ordered=is_ordered)
    return finished(figure, title=counted_by(name), caption=caption, display=display)


def _sentences(counts: Sequence[int], half_width: int | None, together: int) -> Iterator[str]:
    """What a bar counts, its margin, and why one may stand below 0; pages stored earlier have no margin of several."""
    if together > 1:
        text = _("Each bar adds up %(cells)s neighbouring cells; those and their margins are in columns.csv.")
        yield text % {"cells": f"{together:,}"}
    if together == 1 or half_width is not None:
        yield interval_caption(half_width, counted_word())
    if min(counts, default=0) < 0:
        yield _("A count below 0 is noise: few or none are there.")
