"""Numbers that texts of a bundle show and none of its tables has, worked out from the measurement.

How many people there are in all, with a margin; the same of one cell of a single column; how far bins move a mean.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from itertools import combinations, permutations
from typing import Any

import numpy as np
import pandas as pd

from mechanisms import registry
from mechanisms.arrays import Integers
from mechanisms.box_queries import CellSum
from mechanisms.domain import Domain, Ordered
from mechanisms.matrix.mechanism import QueryPlan
from mechanisms.matrix.strategy.product import Kronecker
from mechanisms.microdata.box_sums import cell_sum
from mechanisms.microdata.pair_levels import PairLevels
from mechanisms.microdata.plan import MicrodataPlan
from mechanisms.protocol import Plan
from mechanisms.summary.differences import difference
from mechanisms.summary.estimates import estimates
from mechanisms.summary.plan import SummaryPlan
from mechanisms.synthesis.bin_error import most_mean_error
from mechanisms.synthesis.table import people_in_cells
from mechanisms.verify import csv_tables, expected, microdata, planned, series, strategy
from mechanisms.verify.bundle import MEASUREMENT, STREAM, Bundle
from mechanisms.verify.factors import StrategyFactors, factors

# Cells that are added up, and of the tables whose single columns are.
MOST_CELLS, MOST_SUMMED = 2**24, 2**20


@dataclass
class Derived:
    """By what they are. column_sums: the most people of a value of each column, with their margins.

    reaches: the margins of one cell of three columns, of the people of all others.
    differences: of two groups of a summary, with the ends of their intervals and their margins.
    limits: where the first cell of its columns ends and the last one begins; quantiles beyond are told by these.
    expected: errors and means of rows of many columns. levels: of measured pairs. times_measured: how often each pair
    of their columns was.
    bins: the most that the bins of each column move its mean, whoever is in them, and as people are said to be.
    components: the principal ones of rows; means and pairs: of their columns. factors: of a strategy. queries: the plan
    of answers. newest: of running counts, all together.
    """

    people: list[float] = field(default_factory=list)
    margins: list[float] = field(default_factory=list)
    column_sums: list[float] = field(default_factory=list)
    column_margins: list[float] = field(default_factory=list)
    reaches: set[int] = field(default_factory=set)
    bins: list[float] = field(default_factory=list)
    components: expected.DerivedComponents | None = None
    means: pd.DataFrame | None = None
    pairs: pd.DataFrame | None = None
    differences: list[float] = field(default_factory=list)
    limits: list[float] = field(default_factory=list)
    expected: list[float] = field(default_factory=list)
    levels: PairLevels | None = None
    times_measured: np.ndarray | None = None
    factors: StrategyFactors = field(default_factory=StrategyFactors)
    queries: QueryPlan | None = None
    newest: list[float] = field(default_factory=list)

    def everyone(self, total: CellSum | None) -> None:
        """total: all people, where the measurement tells them."""
        if total is not None:
            self.people.append(max(0.0, total.estimate))
            self.margins += [] if total.half_width is None else [total.half_width]


def derived(bundle: Bundle, counts: Integers) -> Derived:
    """counts: those of histogram.csv; empty where there are none."""
    worker = _WORKERS.get(bundle.release["product"])
    own = Derived()
    if bundle.release["product"] == STREAM and (plan := planned.read(bundle)) is not None:
        own.newest = [number for table in _series(bundle) for number in series.newest(plan.stated, table)]
    if MEASUREMENT in bundle.entries and (plan := planned.read(bundle)) is not None:
        if worker is not None:
            worker(own, plan.stated, bundle.measurement, counts)
        if isinstance(plan.stated, MicrodataPlan):
            _rows(own, bundle, plan.stated)
        if isinstance(plan.stated, QueryPlan):
            own.queries = plan.stated
            own.factors = factors(plan.stated, _searched(bundle, plan))
    return own


def _series(bundle: Bundle) -> Iterator[pd.DataFrame]:
    return (table for stem, table in csv_tables.tables(bundle) if f"{stem}.csv" == series.NAME)


def _searched(bundle: Bundle, of_bundle: planned.Planned) -> Kronecker | None:
    """A strategy that no plan makes, where it is a product."""
    if of_bundle.again is not None or strategy.STRATEGY not in bundle.entries:
        return None
    return strategy.product_in(bundle, of_bundle.stated, strategy.matrix_of(bundle))


def _histogram(own: Derived, plan: Plan, values: np.ndarray, counts: Integers) -> None:
    own.people += [float(plan.details["total"])] if "total" in plan.details else []
    own.bins += _bins(plan.domain, counts)
    own.reaches |= set() if plan.half_width is None else {math.ceil(plan.half_width)}
    if plan.domain.size > MOST_CELLS:
        return
    method, inner, measured = registry.mechanism(plan.mechanism).measured_by(plan, values)
    shape = plan.domain.shape
    if method.is_linear:
        own.everyone(method.cell_sum(inner, measured, [np.arange(size) for size in shape]))
    if method.is_plain and len(shape) > 2:
        for axes in combinations(range(len(shape)), 3):
            one = [np.arange(1 if axis in axes else size) for axis, size in enumerate(shape)]
            half_width = method.cell_sum(inner, measured, one).half_width
            own.reaches |= set() if half_width is None else {math.ceil(half_width)}
    if method.is_plain and len(shape) > 1 and plan.domain.size <= MOST_SUMMED:
        for axis, people in enumerate(people_in_cells(plan.domain, measured)):
            one = [np.arange(1 if place == axis else size) for place, size in enumerate(shape)]
            half_width = method.cell_sum(inner, measured, one).half_width
            own.column_sums.append(float(people.max()))
            own.column_margins += [] if half_width is None else [half_width]


def _microdata(own: Derived, plan: MicrodataPlan, values: np.ndarray, _counts: Integers) -> None:
    every = [np.arange(size) for size in plan.domain.shape]
    own.everyone(cell_sum(registry.microdata(plan.mechanism), plan, values, None, every))


def _rows(own: Derived, bundle: Bundle, plan: MicrodataPlan) -> None:
    """What is told of rows that are fitted again here."""
    if not microdata.is_fitted_again(bundle, plan):
        return
    try:
        result = microdata.fitted(bundle, plan)
    except ImportError:  # which the rows' own check says
        return
    own.expected += expected.numbers(plan, result)
    own.bins += expected.bins(plan, result)
    own.means, own.pairs = expected.means(plan, result), expected.pairs(plan, result)
    own.components = expected.components(plan, result)
    if own.components is not None:
        own.expected += own.components.loadings.iloc[:, 1:].to_numpy(float).ravel().tolist()
    own.levels = expected.pair_levels(result)
    own.times_measured = expected.times_measured(plan, result)


def _summary(own: Derived, plan: SummaryPlan, values: np.ndarray, _counts: Integers) -> None:
    """A table compares the two groups that it shows, which need not be the first one and another."""
    own.limits += [end for line in plan.lines.values() for end in (line.edges[1][0], line.edges[0][-1])]
    reported = estimates(plan, values) if plan.groups.size > 1 else None
    for column in reported.columns if reported else ():
        for pair in permutations(range(plan.groups.size), 2):
            between = difference(column, *pair)
            for each in (between.plain, between.standardised):
                margins = np.maximum(each.upper - each.estimate, each.estimate - each.lower)
                own.differences += np.concatenate([each.estimate, each.lower, each.upper, margins]).tolist()


def _bins(domain: Domain, counts: Integers) -> Iterator[float]:
    people = people_in_cells(domain, counts) if counts.size == domain.size else [None] * len(domain.shape)
    for attribute, own in zip(domain.attributes, people, strict=True):
        if isinstance(attribute, Ordered):
            yield most_mean_error(attribute)
            if own is not None:
                yield most_mean_error(attribute, own[: attribute.regular_size])


_WORKERS: dict[str, Callable[[Derived, Any, np.ndarray, Integers], None]] = {
    "histogram": _histogram,
    "microdata": _microdata,
    "summary": _summary,
}
