"""Charts of released counts: arrays and a domain in, Plotly figures out. No file, no database, no model.

A figure without `true` holds nothing about true counts. No figure carries more than MAX_NUMBERS numbers:
beyond that, neighbouring cells are merged or columns summed over, and the caption says so. An interval is
drawn only where a mark is one released count, since sums of counts have wider ones.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

import numpy as np
import plotly.graph_objects as go
from django.utils.translation import gettext as _

from dpportal.charts.cell_names import cell_names
from dpportal.charts.cells import CountSeries, marginal, merged, merged_labels, shaped, widths_within
from dpportal.charts.counted_word import counted_by, counted_word
from dpportal.charts.own_cells import own_cells, own_cells_sentence
from dpportal.charts.panels import heat_maps, height_of, layout_of, panels_caption
from dpportal.charts.partition import mark_blocks
from dpportal.charts.style import (
    TRANSPARENT,
    Display,
    Figure,
    bar,
    category_axis,
    finished,
    first_spread,
    hover,
    interval_band,
    people_axis,
    plain_all,
    series_names,
    step_line,
)
from dpportal.platform.listed_names import in_a_row
from mechanisms.arrays import runs_of
from mechanisms.domain import Attribute, Domain
from mechanisms.noise import NoiseLaw

RELEASED = ("noisy", "synthetic")
MAX_NUMBERS = 20_000
MAX_BARS = 150
MAX_LABELS = 40
MAX_STEPS = 4_000
EXAMPLE_CELLS = 24
RESIDUAL_BINS = 120
TICKS = 20
# One count is so many times the next one: the others cannot be told apart beside it.
DOMINATES = 8


def counts_figure(
    domain: Domain,
    *,
    raw: np.ndarray,
    counts: np.ndarray,
    half_width: int | None,
    true: np.ndarray | None = None,
    partition: np.ndarray | None = None,
) -> Figure:
    """Released counts, and true counts beside them if given.

    raw, counts, true: (domain.size,) in cell order. half_width: of one raw count's 95 % interval.
    partition: (domain.size,) labels of the blocks of cells that were measured together, drawn as lines.
    One column: bars, or steps with a band above MAX_BARS cells. Two: heat maps side by side on one scale.
    More: small multiples of such heat maps. Raises ValueError if an array has not the domain's size.
    """
    series = shaped(domain, {"true": true, "noisy": raw, "synthetic": counts})
    return _figure(domain, series, half_width, partition, is_switched=False)


def switched_figure(
    domain: Domain,
    *,
    raw: np.ndarray,
    counts: np.ndarray | None,
    half_width: int | None,
    partition: np.ndarray | None = None,
) -> Figure:
    """The same of released counts, where heat maps of noisy and of adjusted ones take each other's place.

    counts: None where noisy ones are all there is.
    """
    series = shaped(domain, {"noisy": raw, "synthetic": counts})
    return _figure(domain, series, half_width, partition, is_switched=True)


def _figure(
    domain: Domain,
    series: CountSeries,
    half_width: int | None,
    partition: np.ndarray | None,
    *,
    is_switched: bool,
) -> Figure:
    if len(domain.attributes) > 1:
        return _panels(domain, series, half_width, partition, is_switched)
    attribute = domain.attributes[0]
    draw = _bars if attribute.size <= MAX_BARS else _steps
    return draw(attribute, series, half_width, partition)


def _bars(
    attribute: Attribute, series: CountSeries, half_width: int | None, partition: np.ndarray | None
) -> Figure:
    labels = plain_all(cell_names(attribute))
    bars = [bar(kind, labels, y, unit=counted_word(), half_width=half_width) for kind, y in series.items()]
    figure = go.Figure(bars, layout={"barmode": "group"})
    ticks = TICKS if attribute.size > MAX_LABELS else 0
    axis = category_axis(attribute.shown_name, ticks, attribute.size)
    figure.update_layout(xaxis=axis, yaxis=people_axis(counted_word()))
    if partition is not None:
        mark_blocks(figure, partition, 1)
    caption = interval_caption(half_width, counted_word()) + _dominated_caption(series)
    display = Display(is_counts=True, is_ordered=attribute.ordered)
    return finished(figure, title=counted_by(attribute.shown_name), caption=caption, display=display)


def _steps(
    attribute: Attribute, series: CountSeries, half_width: int | None, partition: np.ndarray | None
) -> Figure:
    (width,) = widths_within([attribute.size], MAX_STEPS)
    labels = plain_all(merged_labels(attribute, width, attribute.size))
    single, cells = width == 1, np.arange(len(labels))
    if single and attribute.ordered:
        cells = np.setdiff1d(cells, own_cells(attribute))
        labels = [labels[place] for place in cells]
    figure = go.Figure()
    for kind, values in series.items():
        shown = merged(values, [width])
        if kind == "noisy" and single and half_width is not None:
            figure.add_traces(interval_band(labels, shown[cells], half_width))
        text = hover(counted_word(), half_width if kind == "noisy" and single else None)
        figure.add_trace(step_line(kind, labels, shown[cells], hovertemplate=text))
    axis = category_axis(attribute.shown_name, TICKS, len(labels))
    figure.update_layout(xaxis=axis, yaxis=people_axis(counted_word()))
    if partition is not None:
        mark_blocks(figure, partition, width)
    caption = (
        interval_caption(half_width, counted_word())
        if single
        else _merged_caption(attribute.shown_name, width)
    )
    if single and attribute.ordered:
        own_cells_text = own_cells_sentence(attribute, [""], series["noisy"][:, None], half_width)
        caption = in_a_row([caption, own_cells_text])
    caption += _dominated_caption(series)
    display = Display(is_counts=True, is_ordered=attribute.ordered)
    return finished(figure, title=counted_by(attribute.shown_name), caption=caption, display=display)


def _panels(
    domain: Domain,
    series: CountSeries,
    half_width: int | None,
    partition: np.ndarray | None,
    is_switched: bool,
) -> Figure:
    panels = layout_of(domain, len(series), MAX_NUMBERS)
    rows, begins = len(panels.cells()), first_spread(_possible(series))
    columns = 1 if is_switched else len(series)
    caption = panels_caption(panels, half_width=half_width, unit=counted_word(), shown=rows * columns)
    if begins:
        caption += " " + _(
            "Colours go by square roots at first, since most cells are small beside the largest."
        )
    return finished(
        heat_maps(
            panels,
            series,
            half_width=half_width,
            unit=counted_word(),
            partition=partition,
            is_switched=is_switched,
        ),
        title=counted_by(" × ".join(domain.shown_names)),
        caption=caption,
        display=Display(begins=begins, height=height_of(rows), min_width=280 * columns, is_map=True),
    )


def residuals_figure(
    domain: Domain,
    *,
    raw: np.ndarray,
    counts: np.ndarray,
    true: np.ndarray,
    half_width: int | None,
    unit: str = "",
) -> Figure:
    """Released minus true counts, against the band ± half_width where there is one; for the curator only.

    One column of at most MAX_STEPS cells: by cell, on the axis of `counts_figure`. Otherwise: how many cells
    have which residual, in bins that end at ± 3 half-widths, or at the largest residual without a band.
    """
    series = shaped(domain, {"noisy": raw, "synthetic": counts, "true": true})
    unit = unit or counted_word()
    caption = _residuals_caption(half_width, unit)
    if len(domain.attributes) == 1 and domain.size <= MAX_STEPS:
        residuals = {kind: series[kind] - series["true"] for kind in RELEASED}
        figure = _residuals_by_cell(domain.attributes[0], residuals, half_width, unit)
    else:
        figure = _residual_histogram(series, half_width, unit)
        if half_width is not None:
            caption += " " + _("Differences beyond three margins are in the outermost bins.")
    return finished(figure, title=_("Released minus true"), caption=caption)


def _residuals_caption(half_width: int | None, unit: str) -> str:
    if half_width is None:
        return _("This method's error depends on the data, so there is no margin to compare with.")
    text = _("Shaded: ± %(half_width)s %(unit)s, where at least 95 %% of the noisy counts are expected.")
    return text % {"half_width": f"{half_width:,}", "unit": unit}


def _residuals_by_cell(
    attribute: Attribute, residuals: CountSeries, half_width: int | None, unit: str
) -> go.Figure:
    labels = plain_all(cell_names(attribute))
    looks = {"noisy": ("circle", "var(--noisy)"), "synthetic": ("diamond-open", "var(--synthetic)")}
    figure = go.Figure()
    for kind, (symbol, colour) in looks.items():
        figure.add_scatter(
            name=series_names()[kind],
            x=labels,
            y=residuals[kind].tolist(),
            mode="markers",
            marker={"symbol": symbol, "color": colour, "size": 7 if attribute.size <= MAX_BARS else 4},
            hovertemplate=hover(unit, None, "%{y:+,}") + "<extra>%{fullData.name}</extra>",
        )
    if half_width is not None:
        figure.add_hrect(
            y0=-half_width, y1=half_width, fillcolor="var(--interval)", line_width=0, layer="below"
        )
    title = _("released − true (%(unit)s)") % {"unit": unit}
    reach = 1.15 * max(half_width or 1, *(int(np.abs(r).max()) for r in residuals.values()))
    ticks = TICKS if attribute.size > MAX_LABELS else 0
    figure.update_layout(
        xaxis=category_axis(attribute.shown_name, ticks, attribute.size),
        yaxis={"title": {"text": title}, "range": [-reach, reach]},
    )
    return figure


def _residuals(series: CountSeries, kind: str) -> Iterator[np.ndarray]:
    """Released minus true counts, a run of cells at a time."""
    for released, true in runs_of(series[kind].reshape(-1), series["true"].reshape(-1)):
        yield released - true


def _residual_histogram(series: CountSeries, half_width: int | None, unit: str) -> go.Figure:
    if half_width is None:
        reach = max(1, *(int(np.abs(run).max()) for kind in RELEASED for run in _residuals(series, kind)))
    else:
        reach = 3 * max(half_width, 1)
    width = max(1, -(-2 * reach // RESIDUAL_BINS))
    bins = -(-(2 * reach + 1) // width)
    centres = -reach + width * np.arange(bins) + (width - 1) / 2
    looks = {"noisy": ("var(--noisy)", ""), "synthetic": ("var(--synthetic)", "/")}
    figure = go.Figure(layout={"barmode": "group", "bargap": 0.1})
    for kind, (colour, hatch) in looks.items():
        cells = np.zeros(bins, dtype=np.int64)
        for run in _residuals(series, kind):
            cells += np.bincount((np.clip(run, -reach, reach) + reach) // width, minlength=bins)
        figure.add_bar(
            name=series_names()[kind],
            x=centres.tolist(),
            y=cells.tolist(),
            marker={"color": colour, "pattern": {"shape": hatch, "bgcolor": TRANSPARENT, "fgcolor": colour}},
            hovertemplate="%{x:+,} "
            + unit
            + "<br><b>%{y:,}</b> "
            + _("cells")
            + "<extra>%{fullData.name}</extra>",
        )
    if half_width is not None:
        figure.add_vrect(
            x0=-half_width, x1=half_width, fillcolor="var(--interval)", line_width=0, layer="below"
        )
    title = _("released − true (%(unit)s)") % {"unit": unit}
    figure.update_layout(
        xaxis={"title": {"text": title}, "tickformat": ","}, yaxis={"title": {"text": _("cells")}}
    )
    return figure


def cumulative_figure(
    domain: Domain,
    column: str,
    *,
    raw: np.ndarray,
    counts: np.ndarray,
    true: np.ndarray | None = None,
    unit: str = "",
) -> Figure:
    """How many people are at or below each cell of an ordered column, by each series.

    Raises ValueError if the column is not ordered.
    """
    unit = unit or counted_word()
    axis = domain.names.index(column)
    attribute = domain.attributes[axis]
    if not attribute.ordered:
        raise ValueError(f"column {column} has no order, so nothing is below anything")
    series = marginal(shaped(domain, {"true": true, "noisy": raw, "synthetic": counts}), [axis])
    (width,) = widths_within([attribute.regular_size], MAX_STEPS)
    ends = [*range(width - 1, attribute.regular_size - 1, width), attribute.regular_size - 1]
    labels = plain_all(merged_labels(attribute, width, attribute.regular_size))
    figure = go.Figure()
    for kind, values in series.items():
        below = np.cumsum(values[: attribute.regular_size])[ends]
        figure.add_trace(step_line(kind, labels, below, hovertemplate=hover(unit, None)))
    title = _("%(unit)s at or below") % {"unit": unit}
    figure.update_layout(xaxis=category_axis(attribute.shown_name, TICKS), yaxis=people_axis(title))
    caption = _("Counts of %(column)s added up from the lowest cell.") % {"column": attribute.shown_name}
    if attribute.missing_cell:
        caption += " " + _("Missing values are left out.")
    return finished(
        figure, title=_("Cumulative %(column)s") % {"column": attribute.shown_name}, caption=caption
    )


def noise_figure(law: NoiseLaw, shape: Sequence[int], *, people: int | None = None, unit: str = "") -> Figure:
    """What the noise of a release would look like, on made-up counts; no data.

    shape: cells of each column. people: how many the curator expects, shared evenly and shaped like a hill;
    100 for each cell if not given. At most EXAMPLE_CELLS cells are drawn.
    """
    cells = math.prod(shape)
    shown = min(cells, EXAMPLE_CELLS)
    mean = 100.0 if people is None else people / cells
    counts = np.rint(mean * _hill(shown)).astype(int)
    half_width = law.half_width()
    labels, unit = [str(cell + 1) for cell in range(shown)], unit or counted_word()
    example = bar("noisy", labels, counts, unit=unit, half_width=half_width)
    example.update(name=_("Made-up count and margin"), showlegend=False)
    figure = go.Figure(example)
    figure.update_layout(
        xaxis=category_axis(_("made-up cell")), yaxis={"title": {"text": unit}}, margin={"t": 36}
    )
    text = _(
        "Made-up counts, not your data: about %(mean)s %(unit)s a cell, each released with ± %(half_width)s."
    )
    caption = text % {"mean": f"{mean:,.3g}", "unit": unit, "half_width": f"{half_width:,}"}
    if shown < cells:
        caption += " " + _("%(drawn)s of %(cells)s cells are drawn.") % {
            "drawn": shown,
            "cells": f"{cells:,}",
        }
    return finished(figure, title=_("What this noise looks like"), caption=caption)


def _hill(cells: int) -> np.ndarray:
    """A fixed shape with mean 1: two thirds even, one third bell."""
    position = (np.arange(cells) + 0.5) / cells
    bell = np.exp(-(((position - 0.4) / 0.2) ** 2))
    return (1 + 2 * bell) / float(np.mean(1 + 2 * bell))


def interval_caption(half_width: int | None, unit: str) -> str:
    """What the margin of a noisy count means, or that there is none."""
    if half_width is None:
        return _("This method's error depends on the data, so no margin is drawn.")
    text = _(
        "Margin: ± %(half_width)s %(unit)s. The true count lies within it with probability 95 %% or more."
    )
    return text % {"half_width": f"{half_width:,}", "unit": unit}


def _dominated_caption(series: CountSeries) -> str:
    """What to do where one released count leaves the others flat on the axis; told by what is released alone."""
    released = _possible(series)
    smaller, largest = np.sort(released)[-2:] if released.size > 1 else (0, 0)
    if largest < DOMINATES * max(1, smaller):
        return ""
    return " " + _("One cell stands far above the others: choose a square-root axis to see those.")


def _possible(series: CountSeries) -> np.ndarray:
    """The adjusted counts; the noisy ones where there are no others."""
    return series.get("synthetic", series["noisy"])


def _merged_caption(column: str, width: int) -> str:
    text = _(
        "Each step sums %(width)s neighbouring cells of %(column)s. "
        "Margins belong to single cells and are in the table."
    )
    return text % {"width": f"{width:,}", "column": column}
