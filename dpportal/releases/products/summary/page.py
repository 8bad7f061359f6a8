"""What the public page of a summary shows: the table, and a chart of each column on a click."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from django.utils.translation import gettext as _, ngettext

from dpportal.charts.cell_names import cell_names
from dpportal.charts.column_summaries import density_figure, shares_figure
from dpportal.charts.style import Figure
from dpportal.platform.json_types import Json
from dpportal.platform.listed_names import listed
from dpportal.publications.extremes import is_certainly_largest
from dpportal.releases.products.shared.cells import SINGLE, cell_number, margin_text
from dpportal.releases.products.shared.figures import figure_json
from dpportal.releases.products.summary.table_one import TableOne
from mechanisms.accounting import plainly
from mechanisms.domain import Date
from mechanisms.noise.sum_quantiles import reach
from mechanisms.summary.column_estimates import CategoryEstimates, NumberEstimates, Summary
from mechanisms.summary.expectation import number_half_width
from mechanisms.summary.fusion import Model
from mechanisms.summary.line import LineColumn
from mechanisms.summary.plan import SummaryPlan

# Cells that the report shows, and the public page, which is written for each visitor; columns that have charts. All are
# in the other downloads.
MOST_CELLS, MOST_ON_PAGE, MOST_CHARTS = 10_000, 1_400, 60
# Columns of numbers that stand beside each other on a page of 1280 pixels, and rows that it shows one below the other.
MOST_SIDE_BY_SIDE, MOST_BELOW = 5, 60
# As many as an upright sheet of A4 has room for.
MOST_ON_PAPER = 4


def page(plan: SummaryPlan, summary: Summary) -> Json:
    """The table, and a chart for each of its columns."""
    table = TableOne(plan, summary)
    blocks = shown_blocks(table)
    charts = [_chart(table, place) for place in range(min(len(blocks), MOST_CHARTS))]
    return {
        # What the catalogue's small picture is made of.
        "figure": charts[0]["figure"],
        **_finding(table),
        # The page has a part of that name.
        "table": True,
        "table_one": table_json(table, blocks),
        "charts": charts,
        "charted": [chart["place"] for chart in charts],
        "further": len(plan.columns) - len(blocks),
    }


def shown_blocks(table: TableOne) -> list[Json]:
    """The first columns, as many as a page holds."""
    shown: list[Json] = []
    cells = 0
    for block in table.blocks():
        cells += len(block["rows"]) * len(table.heads)
        if shown and cells > MOST_CELLS:
            break
        shown.append(block)
    return shown


def first_rows(table: Json) -> Json:
    """What the public page has of a table of `table_json`: table_one, and of how many rows if some are left out."""
    most = MOST_ON_PAGE // table["columns"]
    blocks: list[Json] = []
    written = 0
    for block in table["blocks"]:
        # The column's name is a row by itself.
        rows = block["rows"][: max(0, most - written - 1)]
        if rows:
            blocks.append({**block, "rows": rows})
            written += 1 + len(rows)
    shown, stored = (sum(len(block["rows"]) for block in some) for some in (blocks, table["blocks"]))
    return {"table_one": {**table, "blocks": blocks}, **({"first_rows": shown} if shown < stored else {})}


def table_json(table: TableOne, blocks: Sequence[Json]) -> Json:
    """The table as its template has it."""
    return {
        "caption": _caption(table.plan),
        "heads": table.heads,
        # Of more the table is read in a frame, in which names of columns and rows stay.
        "is_wide": len(table.heads) > MOST_SIDE_BY_SIDE
        or sum(len(block["rows"]) for block in blocks) > MOST_BELOW,
        "group_name": listed(table.plan.groups.shown_names),
        "difference_name": table.difference_name,
        "hidden": table.hidden,
        "leaves_out": any(block["leaves_out"] for block in blocks),
        "counts_rows": table.plan.loss.unit.counts_rows,
        "blocks": blocks,
        "columns": 2 + len(table.heads) + 2 * bool(table.difference_name),
    }


def on_paper(shown: Json) -> list[Json]:
    """The table in parts that a sheet of paper has room for: so many columns each, below the same rows.

    shown: of `table_json`. A difference of two groups stands in one part with them.
    """
    if len(shown["heads"]) <= MOST_ON_PAPER:
        return [shown]
    starts = range(0, len(shown["heads"]), MOST_ON_PAPER)
    return [_part(shown, slice(start, start + MOST_ON_PAPER), goes_on=start > 0) for start in starts]


def _part(shown: Json, columns: slice, *, goes_on: bool) -> Json:
    blocks = [
        {**block, "rows": [{**row, "cells": row["cells"][columns]} for row in block["rows"]]}
        for block in shown["blocks"]
    ]
    caption = _("Table 1, continued") if goes_on else shown["caption"]
    heads = shown["heads"][columns]
    return {
        **shown,
        "caption": caption,
        "heads": heads,
        "is_wide": False,
        "goes_on": goes_on,
        "blocks": blocks,
    }


def _finding(table: TableOne) -> Json:
    """The first sentence: how many people there are, and the largest group if certain; nothing without groups."""
    if not table.groups:
        return {}
    plan, number = table.plan, table.summary.number
    everybody = cell_number(number, (table.everybody,), "people")
    finding = {
        "people": round(everybody.value),
        "margin": math.ceil(everybody.half_width),
        **({"ends": margin_text(everybody)} if everybody.is_lopsided else {}),
        "columns": plan.groups.shown_names[0],
    }
    # As measured, before negative ones were made possible: an interval's upper end stays where it was.
    model = Model(plan)
    widened = [reach(model.law, level) / reach(model.law) for level in table.summary.levels]
    halves = number_half_width(plan) * np.array(widened)
    counts = number.upper[: plan.groups.size] - halves
    second, largest = np.argsort(counts)[-2:].tolist() if len(counts) > 1 else (0, 0)
    # Groups that add up to a public number are no closer to each other for it: what one lacks the others have.
    apart = reach(model.law) * math.sqrt(model.number_variance)
    if not is_certainly_largest(counts[largest], counts[second], apart, len(counts), model.law):
        return {"finding": {**finding, "alike": len(counts) > 1}}
    count = round(float(number.estimate[largest]))
    return {
        "finding": {
            **finding,
            "largest": table.labels[largest],
            "count": count,
            "count_margin": math.ceil(halves[largest]),
        }
    }


def _caption(plan: SummaryPlan) -> str:
    """What the table is of, as journals say it."""
    number = len(plan.columns)
    text = ngettext("Table 1. %(number)s characteristic", "Table 1. %(number)s characteristics", number)
    names = {"number": number, "group": listed(plan.groups.shown_names)}
    return (text + _(", overall and by %(group)s") if plan.groups.names else text) % names


def _chart(table: TableOne, place: int) -> Json:
    attribute, own = table.columns[place], table.summary.columns[place]
    names = {table.everybody: _("Overall"), **{group: table.labels[group] for group in table.groups}}
    if isinstance(own, CategoryEstimates):
        figure = _shares(attribute.shown_name, cell_names(attribute), own, names)
        return {"name": attribute.shown_name, "place": f"column-{place}", "figure": figure_json(figure)}
    line = table.plan.lines[attribute.name]
    figure = _density(line, own, names)
    shown = {"name": attribute.shown_name, "place": f"column-{place}", "figure": figure_json(figure)}
    return {**shown, "bounds": _bounds(line, own, table.everybody)}


def _shares(column: str, labels: Sequence[str], own: CategoryEstimates, names: dict[int, str]) -> Figure:
    shares = own.shares
    series = {
        name: (shares.estimate[row], shares.lower[row], shares.upper[row]) for row, name in names.items()
    }
    return shares_figure(column, labels, series)


def _density(line: LineColumn, own: NumberEstimates, names: dict[int, str]) -> Figure:
    shares, edges = own.steps.shares, own.steps.edges.tolist()
    series = {
        name: (shares.estimate[row], shares.lower[row], shares.upper[row]) for row, name in names.items()
    }
    return density_figure(line.attribute.shown_name, edges, series, is_date=isinstance(line.attribute, Date))


def _bounds(line: LineColumn, own: NumberEstimates, row: int) -> str:
    """How many values lie at or beyond a bound, in a sentence; empty of dates, of which that is not told."""
    if own.at_lower is None or own.at_upper is None:
        return ""
    lower, upper = line.bound_texts
    cells = (SINGLE.cell([cell_number(each, (row,), "share")]) for each in (own.at_lower, own.at_upper))
    low, high = (cell["text"] or _("an unknown share") for cell in cells)
    text = _(
        "Values were counted from %(lower)s to %(upper)s: %(low)s are %(lower)s or below, %(high)s are %(upper)s or "
        "above. Those beyond count as the limit."
    )
    text %= {"lower": lower, "upper": upper, "low": low, "high": high}
    if not line.floor_error:
        return text
    rounded = _("They are rounded down to steps of %(step)s, which the margins allow for.")
    return f"{text} {rounded % {'step': plainly(line.measured.step)}}"
