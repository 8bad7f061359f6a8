"""What readers see first of released counts: the chart that fits their shape, and one kind of count at a time."""

from __future__ import annotations

import numpy as np
import plotly.graph_objects as go
from django.utils.translation import gettext as _

from dpportal.charts.cells import shaped
from dpportal.charts.counts import MAX_STEPS, UNIT, counts_figure, interval_caption
from dpportal.charts.style import (
    Display,
    Figure,
    bar_look,
    category_axis,
    finished,
    hover,
    interval_band,
    people_axis,
    plain,
    plain_all,
    whisker,
)
from mechanisms.domain import Attribute, Domain

# As lines or bars beside each other: more cannot be told apart.
MAX_GROUPS = 6
# Up to so many cells of the other column, bars in groups; of more, if it is ordered, lines.
MAX_GROUPED = 8
TICKS = 20
HATCHES, DASHES = (
    ("", "/", "x", "-", "\\", "+"),
    ("solid", "dash", "dot", "dashdot", "longdash", "longdashdot"),
)


def reader_figure(
    domain: Domain,
    *,
    raw: np.ndarray,
    counts: np.ndarray,
    half_width: int | None,
    partition: np.ndarray | None = None,
) -> Figure:
    """Noisy counts; adjusted ones in their place at a reader's choice, where they are not drawn side by side.

    raw, counts: (domain.size,) in cell order. half_width: of one noisy count's 95 % interval. One column: bars or
    steps. Two, one of them with few cells: bars in groups, or a line for each group. Otherwise heat maps.
    """
    axes = _grouped_by(domain) if partition is None else None
    if axes is None:
        whole = counts_figure(domain, raw=raw, counts=counts, half_width=half_width, partition=partition)
        return _one_at_a_time(whole) if len(domain.attributes) == 1 else whole
    along, groups = (domain.attributes[axis] for axis in axes)
    figure = go.Figure(layout={"barmode": "group", "legend": {"title": {"text": plain(groups.name)}}})
    draw = _bars if along.size <= MAX_GROUPED else _lines
    for kind, values in shaped(domain, {"noisy": raw, "synthetic": counts}).items():
        shown = half_width if kind == "noisy" else None
        figure.add_traces(draw(along, groups, values.transpose(axes), kind, shown))
    axis = category_axis(along.name, TICKS if along.size > 2 * TICKS else 0, along.size)
    figure.update_layout(xaxis=axis, yaxis=people_axis(UNIT))
    title = _("Counts by %(columns)s") % {"columns": " × ".join(domain.names)}
    caption = interval_caption(half_width, UNIT)
    return _one_at_a_time(finished(figure, title=title, caption=caption, display=Display(is_counts=True)))


def _grouped_by(domain: Domain) -> tuple[int, int] | None:
    """Of two columns, which one runs along the axis and which one makes groups; None where neither has few cells."""
    if len(domain.attributes) != 2:
        return None
    groups = min((1, 0), key=lambda axis: domain.shape[axis])
    along = domain.attributes[1 - groups]
    fits = along.size <= MAX_GROUPED or (along.ordered and along.size <= MAX_STEPS)
    return (1 - groups, groups) if domain.shape[groups] <= MAX_GROUPS and fits else None


def _bars(
    along: Attribute, groups: Attribute, values: np.ndarray, kind: str, half_width: int | None
) -> list[go.Bar]:
    labels, names = plain_all(along.labels()), plain_all(groups.labels())
    return [
        go.Bar(
            name=name,
            meta=kind,
            x=labels,
            y=values[:, place].tolist(),
            marker=bar_look(f"var(--series-{place + 1})", HATCHES[place]),
            error_y=whisker(half_width),
            hovertemplate=f"{name}, {hover(UNIT, half_width)}<extra></extra>",
        )
        for place, name in enumerate(names)
    ]


def _lines(
    along: Attribute, groups: Attribute, values: np.ndarray, kind: str, half_width: int | None
) -> list[go.Scatter]:
    labels, traces = plain_all(along.labels()), []
    for place, name in enumerate(plain_all(groups.labels())):
        if half_width is not None:
            band = interval_band(labels, values[:, place], half_width)
            traces += [trace.update(showlegend=False) for trace in band]
        line = {"color": f"var(--series-{place + 1})", "width": 2, "dash": DASHES[place], "shape": "hvh"}
        text = f"{name}, {hover(UNIT, half_width)}<extra></extra>"
        y = values[:, place].tolist()
        traces.append(
            go.Scatter(name=name, meta=kind, x=labels, y=y, mode="lines", line=line, hovertemplate=text)
        )
    return traces


def _one_at_a_time(figure: Figure) -> Figure:
    """The same with adjusted counts hidden until they are chosen."""
    data = [{**trace, "visible": trace.get("meta") != "synthetic"} for trace in figure.json["data"]]
    layout = figure.json["layout"]
    meta = {**(layout.get("meta") or {}), "is_switched": True}
    return Figure(
        {**figure.json, "data": data, "layout": {**layout, "meta": meta}}, figure.caption, figure.title
    )
