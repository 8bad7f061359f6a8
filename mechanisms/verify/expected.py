"""What a page says of rows of many columns beside their tables: errors to expect, means of columns, measured pairs."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
import pandas as pd

from mechanisms import registry
from mechanisms.arrays import Floats
from mechanisms.domain import Date
from mechanisms.microdata.column_means import ColumnMean, column_means
from mechanisms.microdata.components import UNIT
from mechanisms.microdata.constraints import Wishes
from mechanisms.microdata.cost_estimate import foresee
from mechanisms.microdata.features import ColumnChoice
from mechanisms.microdata.limits import RowCount
from mechanisms.microdata.pair_levels import PairLevels, pair_error
from mechanisms.microdata.plan import MeasuredTable, MicrodataPlan, MicrodataResult
from mechanisms.microdata.principal_components import ordered_columns
from mechanisms.protocol import PlanError

COLUMN, _MEANS = "column", ("rows", "counted", "counted estimate", "summed", "summed estimate")
# Files count days from it.
_FIRST = dt.date(1970, 1, 1).toordinal()


def numbers(plan: MicrodataPlan, result: MicrodataResult) -> Iterator[float]:
    """For the noisy number of people: of each method that could have made them, and of each column's mean."""
    people = max(1, round(result.total))
    yield from _errors(plan, people)
    pair = pair_error(result.tables, people)
    yield from [] if pair is None else [pair]
    for mean in column_means(plan, result):
        yield from _of_mean(mean)


def bins(plan: MicrodataPlan, result: MicrodataResult) -> list[float]:
    """How far bins alone move the mean of each column of numbers or dates, at most."""
    return [mean.bins for mean in column_means(plan, result)]


def means(plan: MicrodataPlan, result: MicrodataResult) -> pd.DataFrame:
    """A line of texts for each column that has a mean: its name, and what a page says of it."""
    return pd.DataFrame(
        {name: str(value) for name, value in _line(mean).items()} for mean in column_means(plan, result)
    )


def pairs(plan: MicrodataPlan, result: MicrodataResult) -> pd.DataFrame:
    """A line of texts for each pair: what a page calls it, and where it was measured cells and margin of its exactest
    table."""
    names = plan.of_columns(result.columns).domain.shown_names
    exactest: dict[tuple[int, int], MeasuredTable] = {}
    for table in sorted(result.tables, key=lambda own: own.half_width):
        exactest.setdefault(table.pair, table)
    lines = []
    for a, b in combinations(range(len(names)), 2):
        own = exactest.get((a, b)) or exactest.get((b, a))
        measured = {"cells": str(own.values.size), "margin": str(own.half_width)} if own else {}
        lines.append({"pair": f"{names[a]} × {names[b]}", "cells": "", "margin": "", **measured})
    return pd.DataFrame(lines)


@dataclass(frozen=True)
class DerivedComponents:
    """Principal components. variances: in percent of the columns'. cells: of the grid over them."""

    variances: list[float]
    cells: int
    loadings: pd.DataFrame


def components(plan: MicrodataPlan, result: MicrodataResult) -> DerivedComponents | None:
    """What a page says of them; None of a method without any."""
    if result.components is None:
        return None
    domain = plan.of_columns(result.columns).domain
    names = [domain.shown_names[place] for place in ordered_columns(domain)]
    shares = 100 * result.components.variances / UNIT / len(names)
    loadings = pd.DataFrame({"column": names})
    for number, own in enumerate(result.components.loadings / UNIT, start=1):
        loadings[str(number)] = own.astype(str)
    return DerivedComponents([float(share) for share in shares], result.components.cells, loadings)


def pair_levels(result: MicrodataResult) -> PairLevels:
    """How many of the measured pairs are good, rough, and mostly noise."""
    return PairLevels.of(result.tables, max(1, round(result.total)))


def times_measured(plan: MicrodataPlan, result: MicrodataResult) -> Floats:
    """How often each pair of columns was, row by row without the diagonal."""
    size = len(plan.of_columns(result.columns).domain.shape)
    times = np.zeros((size, size))
    for a, b in (table.pair for table in result.tables):
        times[a, b] += 1
        times[b, a] += 1
    return times[~np.eye(size, dtype=bool)]


def _errors(plan: MicrodataPlan, people: int) -> Iterator[float]:
    wishes = Wishes() if plan.keep is None else Wishes(target=plan.wishes.target)
    choice, rows = ColumnChoice(plan.keep, plan.criterion), RowCount(public=plan.total)
    for method in registry.MICRODATA:
        try:
            other = method.plan(plan.domain, wishes, plan.loss, rows=rows, choice=choice, sums=plan.sums)
        except PlanError:
            continue
        yield foresee(other, people).column
    yield foresee(plan, people).column


def _of_mean(mean: ColumnMean) -> Iterator[float]:
    """What a page says of it, and of dates also their days."""
    line = _line(mean)
    yield from (value for name, value in line.items() if name != COLUMN)
    if isinstance(mean.attribute, Date):
        yield from (line[name] + _FIRST for name in _MEANS if name in line)


def _line(mean: ColumnMean) -> dict[str, Any]:
    """In the rows, by the counts and by the sum with their margins, and how far bins move it; dates in days."""
    first = _FIRST if isinstance(mean.attribute, Date) else 0
    line = {COLUMN: mean.attribute.shown_name, "rows": mean.rows - first, "bins": mean.bins}
    for name, own in (("counted", mean.counted), ("summed", mean.summed)):
        if own is not None:
            lower, upper = float(own.lower[0]), float(own.upper[0])
            line |= {name: (lower + upper) / 2 - first, f"{name} margin": (upper - lower) / 2}
            line[f"{name} estimate"] = float(own.estimate[0]) - first
    return line
