"""Running totals, and sums of so many neighbours, along a column: a line for each group on the band of its margins."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import plotly.graph_objects as go
from django.utils.translation import gettext as _

from dpportal.charts.counted_word import counted_word
from dpportal.charts.figure_json import FigureJson
from dpportal.charts.group_traces import DASHES, TICKS
from dpportal.charts.style import (
    PERIODS,
    Figure,
    category_axis,
    finished,
    hover,
    people_axis,
    plain,
    plain_all,
)
from dpportal.platform.listed_names import joint
from mechanisms.arrays import Floats


@dataclass(frozen=True)
class AnswerLines:
    """What is drawn. labels: along the axis. groups: names of the lines, one empty one where there is a single line.

    answers, margins: (labels, groups) whole numbers, and how far each reaches. axis: what the labels are. by: whose
    values the groups are.
    """

    labels: Sequence[str]
    groups: Sequence[str]
    answers: Floats
    margins: Floats
    axis: str
    by: str = ""


def lines_figure(shown: AnswerLines, title: str) -> Figure:
    """Each line in a colour and a dash of its own."""
    figure = go.Figure(layout={"legend": {"title": {"text": plain(shown.by)}}} if shown.by else {})
    for place, name in enumerate(plain_all(shown.groups)):
        figure.add_traces(_line(shown, place, name))
    figure.update_layout(
        xaxis=category_axis(shown.axis, TICKS, len(shown.labels)), yaxis=people_axis(counted_word())
    )
    caption = _("Each true answer lies within its margin with probability 95 % or more.")
    return finished(figure, title=title, caption=caption, display=PERIODS)


def _line(shown: AnswerLines, place: int, name: str) -> list[go.Scatter]:
    answers, margins = shown.answers[:, place], shown.margins[:, place]
    edge: FigureJson = {
        "x": plain_all(shown.labels),
        "mode": "lines",
        "line": {"width": 0},
        "hoverinfo": "skip",
        "showlegend": False,
    }
    own = name or plain(counted_word())
    head = f"{name}{joint(',')}" if name else ""
    text = hover(counted_word(), margins, "%{customdata[0]:,}")
    return [
        go.Scatter(**edge, y=(answers - margins).tolist()),
        go.Scatter(
            **edge,
            y=(answers + margins).tolist(),
            fill="tonexty",
            fillcolor=f"var(--series-{place + 1}-band)",
            name=_("Margin (95 %)"),
        ),
        go.Scatter(
            name=own,
            x=plain_all(shown.labels),
            y=answers.tolist(),
            customdata=np.stack([answers, margins], axis=1).tolist(),
            mode="lines",
            legendgroup=own,
            line={"color": f"var(--series-{place + 1})", "width": 2, "dash": DASHES[place]},
            hovertemplate=f"{head}{text}<extra></extra>",
            showlegend=bool(name),
        ),
    ]
