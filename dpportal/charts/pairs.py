"""A number for every pair of columns as a map."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import plotly.graph_objects as go
from django.utils.translation import gettext as _

from dpportal.charts.style import Display, Figure, category_axis, finished, plain_all

# Differences of lightness, which every eye sees; red and blue for the two signs.
SCALE = [[0, "var(--scale-low)"], [0.5, "var(--scale-mid)"], [1, "var(--scale-high)"]]
SIGNED_SCALE = [[0, "var(--below)"], [0.5, "var(--scale-low)"], [1, "var(--above)"]]
CELL_PIXELS, FRAME_PIXELS = 22, 220


def pairs_figure(names: Sequence[str], values: np.ndarray, kind: str) -> Figure:
    """Columns down and across. values: (d, d), NaN where there is nothing to show.

    kind: "errors" (total variation), "true" and "synthetic" (correlations), both with "_association" (Cramér's V), or
    "measured" (how often).
    """
    labels = plain_all(names)
    shown = [[None if v != v else round(float(v), 4) for v in row] for row in values]
    signed = kind in {"true", "synthetic"}
    figure = go.Figure(
        go.Heatmap(
            x=labels,
            y=labels,
            z=shown,
            zmin=-1 if signed else 0,
            zmax=_largest(kind, values),
            colorscale=SIGNED_SCALE if signed else SCALE,
            colorbar={
                "thickness": 10,
                "outlinewidth": 0,
                "tickfont": {"color": "var(--muted)"},
                "dtick": 1 if kind == "measured" else None,
            },
            hovertemplate=f"%{{y}} × %{{x}}<br><b>%{{z:{'d' if kind == 'measured' else '.3f'}}}</b><extra></extra>",
            hoverongaps=False,
            xgap=1,
            ygap=1,
        )
    )
    axis = category_axis("")
    figure.update_layout(xaxis=axis, yaxis={**axis, "autorange": "reversed", "showgrid": False})
    height = FRAME_PIXELS + CELL_PIXELS * len(labels)
    return finished(figure, title=_title(kind), caption=_caption(kind), display=Display(height=height))


def _largest(kind: str, values: np.ndarray) -> float:
    """The end of the scale: 1 for what is 1 at most, else the largest value that there is."""
    if kind in {"errors", "measured"}:
        return float(np.nanmax(values, initial=1.0 if kind == "measured" else 0.0)) or 1.0
    return 1.0


def _title(kind: str) -> str:
    titles = {
        "errors": _("Total variation of every pair of columns"),
        "true": _("Correlations, true"),
        "synthetic": _("Correlations, synthetic"),
        "true_association": _("Cramér’s V, true"),
        "synthetic_association": _("Cramér’s V, synthetic"),
        "measured": _("Which pairs were measured, and how often"),
    }
    return titles[kind]


def _caption(kind: str) -> str:
    if kind == "errors":
        return _("The share of rows that would have to move to another cell of the pair's table.")
    if kind == "measured":
        return _(
            "A pair that was never measured is only modelled: from the measured ones, or as independent."
        )
    if kind.endswith("_association"):
        return _(
            "How strongly two columns go together, from 0 to 1, corrected for the number of cells (Bergsma 2013)."
        )
    return _(
        "Of ordered and yes-or-no columns, by the numbers of their cells, over the rows that have both values."
    )
