"""A group's counts along a column, as bars beside those of other groups or as a line, told apart without colours."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import plotly.graph_objects as go
from django.utils.translation import gettext as _

from dpportal.charts.figure_json import FigureJson
from dpportal.charts.style import HalfWidth, bar_look, interval_band, whisker, whiskers
from mechanisms.domain import Attribute

# As lines or bars beside each other: more cannot be told apart.
MAX_GROUPS = 6
# Of bars beside each other one group more: a table of eight by eight cells is a map.
MAX_SIDE_BY_SIDE = 7
# Up to so many cells of the other column, bars in groups; of more, if it is ordered, lines.
MAX_GROUPED = 8
TICKS = 20
# A line whose highest place is so many times that of the next line leaves the others flat.
FAR_ABOVE = 5
HATCHES, DASHES = (
    ("", "/", "x", "-", "\\", "+", "."),
    ("solid", "dash", "dot", "dashdot", "longdash", "longdashdot"),
)


def are_lines(along: Attribute) -> bool:
    """Whether groups are lines along a column, and no bars."""
    return along.ordered and along.size > MAX_GROUPED


def far_above_caption(names: Sequence[str], values: np.ndarray) -> str:
    """What to do where one of several lines leaves the others flat; empty where none does. values: (cells, lines)."""
    if len(names) < 3:
        return ""
    highest = values.max(axis=0)
    *_others, second, first = np.argsort(highest).tolist()
    if highest[first] < FAR_ABOVE * max(1, highest[second]):
        return ""
    text = _(
        "“%(group)s” is far above the others: explore the chart with a square-root axis to tell those apart."
    )
    return text % {"group": names[first]}


def group_bars(
    place: int, name: str, labels: list[str], values: np.ndarray, half_width: HalfWidth, text: str
) -> go.Bar:
    """place: of the group among those drawn. values: (labels,). text: what is said of a bar, in Plotly's way."""
    return go.Bar(
        name=name,
        x=labels,
        y=values.tolist(),
        customdata=with_margins(values, half_width),
        marker=bar_look(f"var(--series-{place + 1})", HATCHES[place]),
        error_y=error_bars(values, half_width),
        hovertemplate=f"{text}<extra></extra>",
    )


def error_bars(values: np.ndarray, half_width: HalfWidth, is_left: bool = False) -> FigureJson | None:
    """The intervals of some marks. is_left: whether the marks grow to the left."""
    if not isinstance(half_width, np.ndarray):
        return whisker(half_width)
    inwards, outwards = np.minimum(values, half_width).tolist(), half_width.tolist()
    return whiskers(outwards, inwards) if is_left else whiskers(inwards, outwards)


def one_sided(values: np.ndarray, half_width: HalfWidth, *, is_left: bool) -> FigureJson | None:
    """The intervals of bars that grow to one side of 0 only: of a value below 0 what of it lies on that side."""
    if half_width is None or (values >= 0).all():
        return error_bars(values, half_width, is_left)
    widths = np.broadcast_to(half_width, values.shape)
    outwards = np.where(values < 0, np.maximum(values + widths, 0), widths).tolist()
    inwards = np.where(values < 0, 0, np.minimum(values, widths)).tolist()
    return whiskers(outwards, inwards) if is_left else whiskers(inwards, outwards)


def with_margins(values: np.ndarray, half_width: HalfWidth) -> list[list[float]] | None:
    """What `hover` reads of marks that have intervals of their own: (value, half width) of each."""
    if not isinstance(half_width, np.ndarray):
        return None
    pairs: list[list[float]] = np.stack([values, half_width], axis=1).tolist()
    return pairs


def group_line(
    place: int, name: str, labels: list[str], values: np.ndarray, half_width: HalfWidth, text: str
) -> list[go.Scatter]:
    """The same as a line, on the band of its intervals where they are known."""
    colour = f"var(--series-{place + 1})"
    fill = f"var(--series-{place + 1}-band)"
    band = [] if half_width is None else interval_band(labels, values, half_width, fill)
    line = {"color": colour, "width": 2, "dash": DASHES[place], "shape": "hvh"}
    scatter = go.Scatter(
        name=name,
        x=labels,
        y=values.tolist(),
        customdata=with_margins(values, half_width),
        mode="lines",
        legendgroup=name,
        line=line,
        hovertemplate=f"{text}<extra></extra>",
    )
    return [*(trace.update(showlegend=False) for trace in band), scatter]
