"""A number for every pair of columns as a map."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import plotly.graph_objects as go
from django.utils.translation import gettext as _

from dpportal.charts.style import Figure, category_axis, finished, plain_all

CELL_PIXELS, FRAME_PIXELS = 22, 220


def pairs_figure(names: Sequence[str], values: np.ndarray, kind: str) -> Figure:
    """Columns down and across. values: (d, d), NaN where there is nothing to show.

    kind: "errors" (total variation), or "true" and "synthetic" (correlations).
    """
    labels = plain_all(names)
    shown = [[None if v != v else round(float(v), 4) for v in row] for row in values]
    errors = kind == "errors"
    figure = go.Figure(
        go.Heatmap(
            x=labels,
            y=labels,
            z=shown,
            zmin=0 if errors else -1,
            zmax=None if errors else 1,
            colorscale="Blues" if errors else "RdBu",
            hovertemplate="%{y} × %{x}<br><b>%{z:.3f}</b><extra></extra>",
            hoverongaps=False,
        )
    )
    axis = category_axis("")
    figure.update_layout(xaxis=axis, yaxis={**axis, "autorange": "reversed"})
    height = FRAME_PIXELS + CELL_PIXELS * len(labels)
    return finished(figure, title=_title(kind), caption=_caption(kind), height=height)


def _title(kind: str) -> str:
    titles = {
        "errors": _("Total variation of every pair of columns"),
        "true": _("Correlations, true"),
        "synthetic": _("Correlations, synthetic"),
    }
    return titles[kind]


def _caption(kind: str) -> str:
    if kind == "errors":
        return _("The share of rows that would have to move to another cell of the pair's table.")
    return _("Of ordered and yes-or-no columns, by the numbers of their cells.")
