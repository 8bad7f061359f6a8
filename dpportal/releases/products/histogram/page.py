"""What the public page of a histogram shows, drawn once so that no page waits for it."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace

import numpy as np

from dpportal.charts.cell_names import cell_names
from dpportal.charts.own_cells import own_cells
from dpportal.charts.reader_counts import reader_figure
from dpportal.platform.json_types import Json
from dpportal.platform.listed_names import in_sentence, listed
from dpportal.publications.extremes import apart_from_all, is_certainly_largest
from dpportal.releases.products.shared import bin_error
from dpportal.releases.products.shared.figures import as_integers, figure_json
from dpportal.releases.titles import spoken
from mechanisms import registry
from mechanisms.arrays import let_go, runs, summed
from mechanisms.box_queries import CellSum, Picks
from mechanisms.domain import Domain
from mechanisms.histogram.box_sums import half_width_apart
from mechanisms.protocol import Plan, Result
from mechanisms.synthesis.table import people_in_cells

# A page with so many lines takes less than 300 kB.
MAX_TABLE_CELLS = 1500
# Values of a column of which the largest sum is looked for, and cells of a table that are added up for it.
MAX_SUMS, MAX_SUMMED = 400, 2**20


def interval(plan: Plan, result: Result) -> int | None:
    """The half width, in whole rows, of an interval that holds for every cell; None where there is none."""
    if result.half_width is not None:
        return math.ceil(float(result.half_width.max()))
    return plan.half_width


def page(
    plan: Plan,
    result: Result,
    people: CellSum | None,
    summed_box: Callable[[Picks], CellSum | None] = lambda _picks: None,
) -> Json:
    """Finding, chart, first cells, interval, and the method where it was chosen privately, as JSON.

    people: all cells added up, where the measurement tells that with a margin. summed_box: sums of boxes, where all
    boxes of a size have the same margin.
    """
    plan = replace(plan, domain=spoken(plan.domain))
    half_width = interval(plan, result)
    figure = reader_figure(
        plan.domain,
        raw=as_integers(result.raw),
        counts=result.counts,
        half_width=half_width,
        partition=result.partition,
        margins=_margins(plan.domain, half_width, summed_box) if result.partition is None else None,
    )
    return {
        "finding": _finding(plan, result, people, summed_box),
        "figure": figure_json(figure),
        "table": first_cells(plan, result),
        "cells": plan.domain.size,
        "interval": half_width,
        "bin_errors": bin_error.in_words(plan.domain, people_in_cells(plan.domain, result.counts)),
        "method": result.method,
    }


def _margins(
    domain: Domain, half_width: int | None, summed_box: Callable[[Picks], CellSum | None]
) -> list[int | None] | None:
    """For each column that of the sum of one of its cells; None where the first chart is no chart of single cells."""
    if len(domain.shape) > 2 or domain.size > MAX_SUMMED:
        return None
    if len(domain.shape) == 1:
        return [half_width]
    return [
        _margin_of_one(domain, axis, summed_box) if own_cells(attribute) else None
        for axis, attribute in enumerate(domain.attributes)
    ]


def _margin_of_one(domain: Domain, axis: int, summed_box: Callable[[Picks], CellSum | None]) -> int | None:
    """Of a cell of one column, of the people of all others."""
    one = summed_box([np.arange(1 if place == axis else size) for place, size in enumerate(domain.shape)])
    return None if one is None or one.half_width is None else math.ceil(one.half_width)


def _finding(
    plan: Plan, result: Result, people: CellSum | None, summed_box: Callable[[Picks], CellSum | None]
) -> Json:
    """How many people there are, with a margin where there is one (0: exactly), and the largest cell if certain.

    alike: whether noise can explain which of the cells is the largest; then of a single column, where that is certain.
    """
    total = {"people": max(0, round(people.estimate if people else summed(result.counts)))}
    if "total" in plan.details:
        total = {"people": int(plan.details["total"]), "margin": 0}
    elif people and people.half_width is not None:
        total["margin"] = math.ceil(people.half_width)
    names, half_width = plan.domain.shown_names, interval(plan, result)
    shown = {**total, "columns": in_sentence(names)}
    places = _three_largest(result.raw)
    numbers: list[float] = [*result.raw[places].tolist(), -math.inf, -math.inf]
    called, counts = _groups(plan.domain, places[:2]), as_integers(result.raw[places]).tolist()

    apart = most_apart(plan)

    def is_above(first: float, other: float) -> bool:
        if apart is not None:
            return first - other > apart
        return is_certainly_largest(first, other, half_width, result.raw.size, plan.noise)

    if is_above(numbers[0], numbers[1]):
        return {**shown, "largest": called[0], "count": counts[0], "count_margin": half_width}
    alike: Json = {"alike": places.size > 1}
    if places.size > 2 and is_above(numbers[1], numbers[2]):
        alike |= {"leading": called, "leading_counts": counts[:2], "count_margin": half_width}
    return {**shown, **alike, **_largest_sum(plan.domain, result.raw, summed_box)}


def most_apart(plan: Plan) -> int | None:
    """By more than how much the largest noisy count is above the next if it is certain; None where formulas do not say.

    Of several columns half of the 5 % is left for sums of single ones.
    """
    if not registry.mechanism(plan.mechanism).is_plain or plan.noise is None or plan.domain.size < 2:
        return None
    groups = plan.domain.size
    rivals = groups / 2 if len(plan.domain.shape) == 1 else groups
    return apart_from_all(half_width_apart(plan), rivals, plan.noise)


def _groups(domain: Domain, places: np.ndarray) -> list[str]:
    """Cells as a sentence names them: age 30 and sex Female."""
    lines = zip(*labels_of(domain, places), strict=True)
    return [
        listed(f"{n} {label}" for n, label in zip(domain.shown_names, line, strict=True)) for line in lines
    ]


def _largest_sum(domain: Domain, raw: np.ndarray, summed_box: Callable[[Picks], CellSum | None]) -> Json:
    """The value of a single column that certainly has most people, of the first such column.

    What is said holds together with all that could have been said of cells and columns in 95 % of releases.
    """
    few = [axis for axis, size in enumerate(domain.shape) if size <= MAX_SUMS]
    if len(domain.shape) < 2 or domain.size > MAX_SUMMED:
        return {}
    table, statements = raw.reshape(domain.shape), raw.size + sum(domain.shape[axis] for axis in few)
    for axis in few:
        sums = table.sum(axis=tuple(other for other in range(table.ndim) if other != axis))
        half_width = _margin_of_one(domain, axis, summed_box)
        *_others, second, largest = np.sort(sums).tolist() if sums.size > 1 else (0, 0)
        if is_certainly_largest(largest, second, half_width, statements):
            label = cell_names(domain.attributes[axis])[int(sums.argmax())]
            column = {"column": domain.shown_names[axis], "largest_value": label}
            return {**column, "count": round(largest), "count_margin": half_width}
    return {}


def _three_largest(raw: np.ndarray) -> np.ndarray:
    """Their places, of equal ones the first; of an array in a file a run at a time is in memory."""
    tops: list[int] = []
    for run in runs(raw.size):
        most = raw[run]
        few = np.argpartition(most, -3)[-3:] if most.size > 3 else np.arange(most.size)
        tops += (run.start + few).tolist()
        let_go(raw)
    return np.array(sorted(map(int, tops), key=lambda place: (-float(raw[place]), place))[:3])


def labels_of(domain: Domain, cells: np.ndarray) -> list[list[str]]:
    """What some cells are called: for each column, its label of each of them."""
    places = np.unravel_index(cells, domain.shape)
    # One column's labels at a time: there may be many of them.
    columns = zip((cell_names(a) for a in domain.attributes), places, strict=True)
    return [[names[i] for i in place] for names, place in columns]


def first_cells(plan: Plan, result: Result) -> list[list[object]]:
    """Rows of the table for the first cells: labels, noisy count, count, and the interval if there is one."""
    size = min(plan.domain.size, MAX_TABLE_CELLS)
    labels = labels_of(plan.domain, np.arange(size))
    raw, half_width = as_integers(result.raw[:size]), interval(plan, result)
    numbers = [raw.tolist(), result.counts[:size].tolist()]
    if half_width is not None:
        numbers += [(raw - half_width).tolist(), (raw + half_width).tolist()]
    return [list(row) for row in zip(*labels, *numbers, strict=True)]


def adjusted_counts(plan: Plan, shown: Json) -> np.ndarray | None:
    """Those of all cells, in their order, where the stored page has them: nobody waits for post-processing."""
    rows = shown.get("table", ())
    if len(rows) != plan.domain.size:
        return None
    after_noisy = len(plan.domain.names) + 1
    return np.array([row[after_noisy] for row in rows], dtype=np.int64)
