"""Means of groups with their intervals; with the true ones beside them for the curator alone."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import plotly.graph_objects as go
from django.utils.translation import gettext as _

from dpportal.charts.figure_json import FigureJson
from dpportal.charts.style import Display, Figure, category_axis, finished, plain, plain_all, whiskers
from dpportal.charts.svg_paths import round_step, up_to_mark
from dpportal.platform.listed_names import in_a_row
from mechanisms.arrays import Floats
from mechanisms.moments.estimates import Interval
from mechanisms.tabular.csv_frames import ten_digits

MOST_GROUPS, MARKS = 60, 6
UNORDERED = Display(is_ordered=False)


def means_figure(
    column: str,
    labels: Sequence[str],
    means: Interval,
    decimals: Sequence[int],
    true: Floats | None = None,
    by: str = "",
) -> Figure:
    """A point for each group whose mean is told, the first MOST_GROUPS of them.

    means: with their 95 % intervals; NaN: nothing is told. decimals: of each group's mean, as in the table beside it.
    by: what makes the groups.
    """
    shown = np.flatnonzero(~np.isnan(means.estimate))[:MOST_GROUPS]
    names = plain_all([labels[i] for i in shown])
    mean, low, high = (of[shown] for of in (means.estimate, means.lower, means.upper))
    own_decimals = [decimals[place] for place in shown]
    figure = go.Figure()
    if true is not None:
        figure.add_scatter(
            name=_("True mean"), x=names, y=_numbers(true[shown]), mode="markers",
            customdata=_texts(true[shown], own_decimals),
            marker={"color": "var(--true)", "symbol": "line-ew-open", "size": 16, "line": {"width": 2}},
            hovertemplate="%{x}<br><b>%{customdata}</b><extra>%{fullData.name}</extra>",
        )  # fmt: skip
    figure.add_scatter(
        name=_("Mean"), x=names, y=_numbers(mean), mode="markers",
        marker={"color": "var(--noisy)", "size": 7}, customdata=_texts(mean, own_decimals),
        hovertext=_interval_texts(low, high, own_decimals),
        error_y=whiskers(_numbers(mean - low), _numbers(high - mean)),
        hovertemplate="%{x}<br><b>%{customdata}</b><br>%{hovertext}<extra>%{fullData.name}</extra>",
    )  # fmt: skip
    reach = _reach(low, high)
    axis = {"title": {"text": plain(_("mean of %(column)s") % {"column": column})}, **reach}
    figure.update_layout(xaxis=category_axis(by or _("group")), yaxis=axis, showlegend=true is not None)
    title = _("Mean of %(column)s by group") % {"column": column}
    caption = in_a_row([_caption(len(shown), len(labels)), _without_zero(reach)])
    return finished(figure, title=title, caption=caption, display=UNORDERED)


def _texts(values: Floats, decimals: Sequence[int]) -> list[str]:
    """Each as the table has it."""
    return [f"{value:,.{own}f}".replace("-", "−") for value, own in zip(values, decimals, strict=True)]


def _interval_texts(low: Floats, high: Floats, decimals: Sequence[int]) -> list[str]:
    """The intervals in words."""
    ends = zip(_texts(low, decimals), _texts(high, decimals), strict=True)
    return [_("%(low)s to %(high)s") % {"low": a, "high": b} for a, b in ends]


def _reach(low: Floats, high: Floats) -> FigureJson:
    """An axis with marks below and above all that is drawn; zero is among them only if it is near."""
    if not low.size:
        return {}
    least, most = float(low.min()), float(high.max())
    end = up_to_mark(least, most if most > least else least + 1, MARKS)
    step = round_step(end - least, MARKS)
    begin = step * math.floor(least / step)
    # Where that costs no more than one mark, nothing is in sight.
    begin = 0 if begin == step else begin
    return {"range": [begin, end + step / 10], "dtick": step}


def _without_zero(axis: FigureJson) -> str:
    """That the axis leaves out zero, where it does: points with margins need none, and differences would be hidden."""
    begin, end = axis.get("range", (0, 0))
    return "" if begin <= 0 <= end else _("The axis does not begin at zero, so that differences can be seen.")


def _caption(shown: int, groups: int) -> str:
    caption = _(
        "The true mean of each group lies within the bar around its point with probability 95 % or more."
    )
    if shown < groups:
        text = _(
            "Drawn are %(drawn)s of %(groups)s groups: those whose mean can be told, the first in order."
        )
        caption += " " + text % {"drawn": shown, "groups": f"{groups:,}"}
    return caption


def _numbers(values: Floats) -> list[float | None]:
    """Numbers with the digits that the table has; nothing where there is none, as of a group of nobody."""
    return [None if np.isnan(value) else float(ten_digits(value)) for value in values]
