"""What each period adds to running counts, with intervals of its own: arrays in, a Plotly figure out."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import plotly.graph_objects as go
from django.utils.translation import gettext as _

from dpportal.charts.figure_json import FigureJson
from dpportal.charts.series import TICKS, Timeline
from dpportal.charts.small_multiples import COLOURS, PATTERNS, in_panels
from dpportal.charts.style import PERIODS, Figure, category_axis, finished, plain, plain_all


def increments_figure(
    time: Timeline,
    names: Sequence[str],
    *,
    added: np.ndarray,
    half_widths: np.ndarray,
    true: np.ndarray | None = None,
) -> Figure:
    """Bars for what neighbouring periods added, each with its 95 % interval; and the true ones if given.

    The periods are the newest. names: of the k series; one empty name for one series. added, true: (T, k).
    half_widths: (T,).
    """
    x, unit, figure = plain_all(time.labels), time.unit, go.Figure()
    for place, name in enumerate(names):
        figure.add_trace(_bars(x, name, added[:, place], half_widths, unit, place))
        if true is not None:
            figure.add_trace(_true(x, true[:, place], unit))
    figure.update_layout(
        xaxis=category_axis(_("period"), TICKS),
        yaxis={"title": {"text": _("%(unit)s, new in the period") % {"unit": plain(unit)}}},
        showlegend=len(names) > 1 or true is not None,
    )
    return finished(figure, title=_title(names), caption=_caption(time), display=PERIODS)


def increments_apart_figure(
    time: Timeline,
    names: Sequence[str],
    *,
    added: np.ndarray,
    half_widths: np.ndarray,
) -> Figure:
    """The same with a panel for each series."""
    x, unit = plain_all(time.labels), time.unit

    def panel(place: int) -> list[FigureJson]:
        return [_bars(x, names[place], added[:, place], half_widths, unit).to_plotly_json()]

    return in_panels(names, panel, title=_title(names), caption=_caption(time), unit=unit)


def _bars(
    x: Sequence[str], name: str, added: np.ndarray, half_widths: np.ndarray, unit: str, place: int = 0
) -> go.Bar:
    own = COLOURS[place]
    pattern = {"shape": PATTERNS[place], "fgcolor": own, "bgcolor": "var(--page)", "size": 5}
    return go.Bar(
        name=plain(name) or _("Released"),
        x=list(x),
        y=added.tolist(),
        marker={"color": own, "pattern": pattern, "line": {"color": own, "width": 1}},
        error_y={"array": half_widths.tolist(), "color": "var(--text)", "thickness": 1, "width": 2},
        customdata=half_widths.tolist(),
        hovertemplate="%{x}<br><b>%{y:+,}</b> ± %{customdata:,} "
        + plain(unit)
        + "<extra>%{fullData.name}</extra>",
    )


def _true(x: Sequence[str], true: np.ndarray, unit: str) -> go.Scatter:
    return go.Scatter(
        name=_("True"),
        x=list(x),
        y=true.tolist(),
        mode="markers",
        marker={"color": "var(--true)", "symbol": "diamond-open", "size": 7},
        hovertemplate="%{x}<br><b>%{y:,}</b> " + plain(unit) + "<extra>%{fullData.name}</extra>",
    )


def _title(names: Sequence[str]) -> str:
    alone = names[0] if len(names) == 1 else ""
    return _("New in each period: %(name)s") % {"name": alone} if alone else _("New in each period")


def _caption(time: Timeline) -> str:
    text = _(
        "The released count less the one before: unbiased, and noisy, so it may be below 0. Each margin holds "
        "the true number with probability 95 % or more. Neighbouring counts share noise, so it is narrower than the "
        "margins of both added up."
    )
    if len(time.labels) >= time.periods:
        return text
    newest = _("The newest %(drawn)s of %(periods)s periods; all are in series.csv.")
    return f"{text} " + newest % {"drawn": f"{len(time.labels):,}", "periods": f"{time.periods:,}"}
