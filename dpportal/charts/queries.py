"""Charts of a workload's answers: arrays in, Plotly figures out. No file, no database, no model.

A figure without `true` holds nothing about true counts. Beyond MAX_POINTS answers, every so many are drawn,
always the same ones, and the caption says so.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import plotly.graph_objects as go
import scipy.sparse
from django.utils.translation import gettext as _
from plotly.subplots import make_subplots

from dpportal.charts.counted_word import counted_word
from dpportal.charts.figure_json import FigureJson
from dpportal.charts.style import Display, Figure, category_axis, finished, first_spread, plain, plain_all

MAX_POINTS = 2_000
MAX_ERROR_BARS = 300
MAX_NAMED = 24
MAX_LENGTHS = 120
MAX_PICTURE = 200
MAX_TABLES = 60


def shown_queries(queries: int, limit: int = MAX_POINTS) -> np.ndarray:
    """Which of the queries are drawn: all, or evenly spaced ones."""
    return np.unique(np.linspace(0, queries - 1, min(queries, limit)).round().astype(np.int64))


def answers_figure(
    labels: Sequence[str], answers: np.ndarray, half_widths: np.ndarray, places: np.ndarray, queries: int
) -> Figure:
    """Answers with their intervals in the order of the queries; nothing about true counts.

    Above MAX_NAMED of them the axis has their numbers, as the table has, since words would fill the chart.
    labels, answers, half_widths: of the queries drawn. places: which they are, from 0. queries: how many there are.
    """
    few, named = answers.size <= MAX_ERROR_BARS, answers.size <= MAX_NAMED
    words, numbers = plain_all(labels), (places + 1).tolist()
    figure = go.Figure()
    if not few:
        figure.add_traces(_band(places + 1, answers, half_widths))
    figure.add_scatter(
        name=_("Answer"),
        x=words if named else numbers,
        y=_numbers(answers),
        text=words,
        hovertext=[f"{half:,.1f}" for half in half_widths],
        mode="markers",
        marker={"color": "var(--noisy)", "size": 6 if few else 3},
        error_y=_error_bars(half_widths) if few else None,
        hovertemplate="%{text}<br><b>%{y:,.1f}</b> ± %{hovertext}<extra></extra>",
    )
    numbered = {"title": {"text": _("number of the query, as in the table")}, "tickformat": ","}
    axis = category_axis(_("query")) if named else numbered
    figure.update_layout(xaxis=axis, yaxis={"title": {"text": counted_word()}}, showlegend=False)
    caption = _("Each true answer lies within its margin with probability 95 % or more.")
    if not named:
        caption += " " + _("The pointer tells what a query asks.")
    return finished(
        figure,
        title=_("Answers"),
        caption=f"{caption} {_thinned(answers.size, queries)}".strip(),
        display=Display(is_counts=True, begins=first_spread(answers)),
    )


def comparison_figure(
    labels: Sequence[str], answers: np.ndarray, half_widths: np.ndarray, true: np.ndarray, queries: int
) -> Figure:
    """Answers against true answers, and below, on the same axis, released minus true with the intervals' band."""
    order = np.argsort(true, kind="stable")
    x, y, half = (np.asarray(a, dtype=float)[order] for a in (true, answers, half_widths))
    names = [plain(labels[i]) for i in order]
    figure = make_subplots(rows=2, cols=1, shared_xaxes=True, vertical_spacing=0.08, row_heights=[0.55, 0.45])
    ends = [float(x[0]), float(x[-1])]
    exact = {"color": "var(--true)", "width": 1}
    figure.add_scatter(
        name=_("No error"), x=ends, y=ends, mode="lines", line=exact, hoverinfo="skip", row=1, col=1
    )
    dots: FigureJson = {"mode": "markers", "marker": {"color": "var(--noisy)", "size": 5}, "text": names}
    figure.add_scatter(
        name=_("Answer"), x=_numbers(x), y=_numbers(y), **dots, row=1, col=1,
        hovertemplate="%{text}<br><b>%{y:,.1f}</b> " + _("released") + ", %{x:,} " + _("true") + "<extra></extra>",
    )  # fmt: skip
    few = x.size <= MAX_ERROR_BARS
    if not few:
        figure.add_trace(_ends(x, half), row=2, col=1)
    figure.add_scatter(
        name=_("Released minus true"), x=_numbers(x), y=_numbers(y - x), error_y=_error_bars(half) if few else None,
        **dots, customdata=_numbers(half),
        showlegend=False, row=2, col=1,
        hovertemplate="%{text}<br><b>%{y:+,.1f}</b>, " + _("margin") + " ± %{customdata:,.1f}<extra></extra>",
    )  # fmt: skip
    figure.update_yaxes(title_text=_("released (%(unit)s)") % {"unit": counted_word()}, row=1, col=1)
    figure.update_yaxes(title_text=_("released − true"), row=2, col=1)
    figure.update_xaxes(
        title_text=_("true answer (%(unit)s)") % {"unit": counted_word()}, tickformat=",", row=2, col=1
    )
    return finished(
        figure,
        title=_("Answers against the truth"),
        caption=f"{_errors_caption(few)} {_thinned(answers.size, queries)}".strip(),
        display=Display(height=560),
    )


def _errors_caption(few: bool) -> str:
    if few:
        return _(
            "Below, enlarged: the errors. Where an answer's margin (95 %) crosses the line, it holds the truth."
        )
    return _(
        "Below, enlarged: the errors, each with two dashes where its margin (95 %) ends; between them is inside."
    )


def lengths_figure(lengths: np.ndarray, observed: np.ndarray, expected: np.ndarray, column: str) -> Figure:
    """Root mean square error by the length of the range, beside what was expected.

    lengths: (k,) cells, ascending. observed, expected: (k,) people; without `observed`, a picture for everyone.
    """
    figure = go.Figure()
    figure.add_scatter(
        name=_("Expected"), x=lengths.tolist(), y=_numbers(expected), mode="lines",
        line={"color": "var(--true)", "width": 1.5, "dash": "dash"},
        hovertemplate="%{x:,} " + _("cells") + "<br><b>%{y:,.2f}</b><extra>%{fullData.name}</extra>",
    )  # fmt: skip
    figure.add_scatter(
        name=_("Observed"), x=lengths.tolist(), y=_numbers(observed), mode="lines+markers",
        line={"color": "var(--noisy)", "width": 1.5}, marker={"size": 4},
        hovertemplate="%{x:,} " + _("cells") + "<br><b>%{y:,.2f}</b><extra>%{fullData.name}</extra>",
    )  # fmt: skip
    figure.update_layout(
        xaxis={"title": {"text": _("cells in the range of %(column)s") % {"column": plain(column)}}},
        yaxis={
            "title": {"text": _("root mean square error (%(unit)s)") % {"unit": counted_word()}},
            "rangemode": "tozero",
        },
    )
    caption = _(
        "Over all answers about ranges of the same length; where they are few, a single one decides the point."
    )
    return finished(figure, title=_("Error by length of the range"), caption=caption)


def lengths_map(
    lengths: tuple[np.ndarray, np.ndarray], observed: np.ndarray, expected: np.ndarray, columns: Sequence[str]
) -> Figure:
    """Root mean square error of two-dimensional ranges by the lengths of their sides, observed beside expected.

    lengths: of the first and the second column's side, (k,) and (m,). observed, expected: (k, m) people.
    """
    figure = make_subplots(
        rows=1, cols=2, shared_yaxes=True, horizontal_spacing=0.04,
        subplot_titles=[_("Expected"), _("Observed")],
    )  # fmt: skip
    for place, values in enumerate((expected, observed), 1):
        figure.add_heatmap(
            x=lengths[1].tolist(), y=lengths[0].tolist(), z=[_numbers(row) for row in values],
            coloraxis="coloraxis", row=1, col=place,
            hovertemplate="%{y:,} × %{x:,} " + _("cells") + "<br><b>%{z:,.2f}</b><extra></extra>",
        )  # fmt: skip
    figure.update_xaxes(title_text=_("cells of %(column)s") % {"column": plain(columns[1])})
    figure.update_yaxes(title_text=_("cells of %(column)s") % {"column": plain(columns[0])}, col=1)
    figure.update_annotations(font={"size": 13})
    figure.update_layout(
        coloraxis={"cmin": 0, "colorbar": {"title": {"text": counted_word()}}}, margin={"t": 64}
    )
    return finished(
        figure,
        title=_("Error by the sides of the range"),
        caption=_(
            "Root mean square error in %(unit)s over all ranges with the same sides; one colour scale for both."
        )
        % {"unit": counted_word()},
        display=Display(min_width=560),
    )


def tables_figure(names: Sequence[str], observed: np.ndarray, expected: np.ndarray) -> Figure:
    """Root mean square error by table, beside what was expected; the largest MAX_TABLES where there are more."""
    shown = np.sort(np.argsort(-expected, kind="stable")[:MAX_TABLES])
    labels = plain_all([names[i] for i in shown])
    figure = go.Figure()
    figure.add_bar(
        name=_("Observed"), x=labels, y=_numbers(observed[shown]), marker={"color": "var(--noisy)"},
        hovertemplate="%{x}<br><b>%{y:,.2f}</b><extra>%{fullData.name}</extra>",
    )  # fmt: skip
    figure.add_scatter(
        name=_("Expected"), x=labels, y=_numbers(expected[shown]), mode="markers",
        marker={"color": "var(--true)", "symbol": "line-ew-open", "size": 16, "line": {"width": 2}},
        hovertemplate="%{x}<br><b>%{y:,.2f}</b><extra>%{fullData.name}</extra>",
    )  # fmt: skip
    figure.update_layout(
        xaxis=category_axis(_("table")),
        yaxis={
            "title": {"text": _("root mean square error (%(unit)s)") % {"unit": counted_word()}},
            "rangemode": "tozero",
        },
    )
    caption = _("Root mean square error over the cells of each table.")
    if len(names) > shown.size:
        text = _("The %(shown)s tables of largest expected error, of %(all)s.")
        caption += " " + text % {"shown": shown.size, "all": f"{len(names):,}"}
    return finished(figure, title=_("Error by table"), caption=caption)


def shares_figure(names: Sequence[str], shares: np.ndarray) -> Figure:
    """How the privacy loss is shared by the measured sets of columns; the largest shares where there are many."""
    shown = np.sort(np.argsort(-shares, kind="stable")[:MAX_TABLES])
    figure = go.Figure(
        go.Bar(
            x=plain_all([names[i] for i in shown]),
            y=_numbers(shares[shown]),
            marker={"color": "var(--noisy)"},
            hovertemplate="%{x}<br><b>%{y:.1%}</b><extra></extra>",
        )
    )
    axis = {"title": {"text": _("share of the privacy cost")}, "tickformat": ".0%", "rangemode": "tozero"}
    figure.update_layout(xaxis=category_axis(_("columns")), yaxis=axis, showlegend=False)
    caption = _("What varies with exactly these columns is measured with this share of the cost.")
    if len(names) > shown.size:
        text = _("The %(shown)s largest of %(all)s shares.")
        caption += " " + text % {"shown": shown.size, "all": f"{len(names):,}"}
    return finished(figure, title=_("The strategy"), caption=caption)


def matrix_figure(matrix: scipy.sparse.coo_array, column: str) -> Figure:
    """A strategy's matrix as a picture: a line for each measured sum, a column for each cell.

    column: of the table, whose cells are weighed; empty for the cells of all columns.
    """
    z = picture(matrix)
    reach = float(np.abs(z).max()) or 1.0
    colours = [[0, "var(--synthetic)"], [0.5, "var(--page)"], [1, "var(--scale-high)"]]
    if z.min() >= 0:
        colours = [[0, "var(--page)"], [0.5, "var(--scale-mid)"], [1, "var(--scale-high)"]]
    figure = go.Figure(
        go.Heatmap(
            z=[_numbers(row) for row in z / reach],
            x0=1,
            y0=1,
            zmin=min(0.0, -1.0 if z.min() < 0 else 0.0),
            zmax=1.0,
            colorscale=colours,
            hovertemplate="%{z:.3g}<extra></extra>",
            colorbar={"thickness": 10, "outlinewidth": 0, "tickfont": {"color": "var(--muted)"}},
        )
    )
    cell = _("cell of %(column)s") % {"column": plain(column)} if column else _("cell")
    is_complete = z.shape == matrix.shape
    for axis, name, size in (("xaxis", cell, z.shape[1]), ("yaxis", _("measured sum"), z.shape[0])):
        figure.update_layout(
            {axis: {"title": {"text": name}, "showticklabels": is_complete, "dtick": -(-size // 10)}}
        )
    figure.update_yaxes(autorange="reversed")
    text = _("%(rows)s sums of %(cells)s cells; the darker a mark, the more the cell weighs in the sum.")
    caption = text % {"rows": f"{matrix.shape[0]:,}", "cells": f"{matrix.shape[1]:,}"}
    if not is_complete:
        caption += " " + _("Every mark is the largest weight among those that it stands for.")
    title = _("The strategy for %(column)s") % {"column": column} if column else _("The strategy")
    return finished(figure, title=title, caption=caption, display=Display(height=420))


def picture(matrix: scipy.sparse.coo_array) -> np.ndarray:
    """A matrix small enough to draw, at most MAX_PICTURE each way: of each block, the weight of largest size."""
    steps = [-(-size // MAX_PICTURE) for size in matrix.shape]
    blocks = np.zeros([-(-size // step) for size, step in zip(matrix.shape, steps, strict=True)])
    places = tuple(index // step for index, step in zip(matrix.coords, steps, strict=True))
    high, low = blocks.copy(), blocks.copy()
    np.maximum.at(high, places, matrix.data)
    np.minimum.at(low, places, matrix.data)
    return np.where(high >= -low, high, low)


def _band(x: np.ndarray, middle: np.ndarray, half: np.ndarray) -> list[go.Scatter]:
    edge = {"x": _numbers(x), "mode": "lines", "line": {"width": 0}, "hoverinfo": "skip"}
    lower = go.Scatter(**edge, y=_numbers(middle - half), showlegend=False)
    upper = go.Scatter(
        **edge,
        y=_numbers(middle + half),
        fill="tonexty",
        fillcolor="var(--interval)",
        name=_("Margin (95 %)"),
    )
    return [lower, upper]


def _ends(x: np.ndarray, half: np.ndarray) -> go.Scatter:
    """Where the interval of an error ends, above and below: dashes, since an area would fill what lies between."""
    return go.Scatter(
        name=_("Margin (95 %)"),
        x=_numbers(np.concatenate([x, x])),
        y=_numbers(np.concatenate([half, -half])),
        mode="markers",
        marker={"symbol": "line-ew-open", "size": 5, "color": "var(--synthetic)"},
        hoverinfo="skip",
    )


def _root_mean_square() -> str:
    return _("root mean square error (%(unit)s)") % {"unit": counted_word()}


def _error_bars(half_widths: np.ndarray) -> FigureJson:
    return {
        "type": "data",
        "array": _numbers(half_widths),
        "color": "var(--text)",
        "thickness": 1,
        "width": 3,
    }


def _numbers(values: np.ndarray) -> list[float]:
    """Numbers with the digits that a chart can show."""
    return [float(f"{value:.8g}") for value in np.asarray(values, dtype=float)]


def _thinned(shown: int, queries: int) -> str:
    if shown == queries:
        return ""
    text = _("%(shown)s of %(queries)s answers are drawn, evenly chosen.")
    return text % {"shown": f"{shown:,}", "queries": f"{queries:,}"}
