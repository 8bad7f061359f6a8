"""The chart of what the best attack on one person can do: hits against false alarms."""

from __future__ import annotations

import numpy as np
import plotly.graph_objects as go
from django.utils.translation import gettext as _

from dpportal.charts.style import Display, Figure, finished
from mechanisms.accounting import Neighbours

HEIGHT = 320


def trade_off_figure(
    false_alarms: np.ndarray, hits: np.ndarray, neighbours: Neighbours = Neighbours.ADD_REMOVE
) -> Figure:
    """A curve over the diagonal of mere guessing. Both between 0 and 1, (n,).

    neighbours: what the attack tells apart.
    """
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
    title, caption = _words(neighbours)
    return finished(figure, title=title, caption=caption, display=Display(height=HEIGHT))


def _words(neighbours: Neighbours) -> tuple[str, str]:
    """Title and caption: who is replaced is in the data either way, and only what is recorded of them is hidden."""
    if neighbours is Neighbours.REPLACE_ONE:
        caption = _(
            "An attack tells from the release which of two possible entries is yours. Where yours is the one, it says "
            "the other so often (false alarms); where yours is the other, it says so at most so often (hits), whatever "
            "else it knows."
        )
        return _("How well anybody can tell what your entries are"), caption
    caption = _(
        "An attack tells from the release whether your data are in it. Of people who are not, it accuses so many "
        "(false alarms); of those who are, it finds at most so many (hits), whatever else it knows."
    )
    return _("How well anybody can tell that you are in the data"), caption
