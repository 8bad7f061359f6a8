"""The chart of what the best attack on one person can do: hits against false alarms."""

from __future__ import annotations

import numpy as np
import plotly.graph_objects as go
from django.utils.translation import gettext as _

from dpportal.charts.style import Display, Figure, finished

HEIGHT = 320


def trade_off_figure(false_alarms: np.ndarray, hits: np.ndarray) -> Figure:
    """A curve over the diagonal of mere guessing. Both between 0 and 1, (n,)."""
    figure = go.Figure()
    alarms = (100 * false_alarms).round(3).tolist()
    text = "%{y:.1f} % · %{x:.1f} %<extra>%{fullData.name}</extra>"
    for name, values, colour, dash in (
        (_("Best attack"), hits, "var(--noisy)", "solid"),
        (_("Guessing"), false_alarms, "var(--muted)", "dot"),
    ):
        look = {"color": colour, "width": 2, "dash": dash}
        y = (100 * values).round(3).tolist()
        figure.add_trace(go.Scatter(name=name, x=alarms, y=y, mode="lines", line=look, hovertemplate=text))
    figure.update_layout(
        xaxis={"title": {"text": _("false alarms, %")}, "range": [0, 100]},
        yaxis={"title": {"text": _("hits, %")}, "range": [0, 100]},
    )
    caption = _(
        "An attack tells from the release whether your data are in it. Of people who are not, it accuses so many "
        "(false alarms); of those who are, it finds at most so many (hits), whatever else it knows."
    )
    title = _("How well anybody can tell that you are in the data")
    return finished(figure, title=title, caption=caption, display=Display(height=HEIGHT))
