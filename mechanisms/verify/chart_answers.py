"""Answers in the orders in which charts of them may show them: those of each part of a workload by its shape.

Of more answers than a chart has room for it shows every so many. Numbers of people are shown as whole ones, and all of
a table with its widest margin.
"""

from __future__ import annotations

import io
from collections.abc import Iterator
from itertools import islice, permutations, product

import numpy as np
import pandas as pd

from mechanisms.domain import Categorical
from mechanisms.matrix.mechanism import QueryPlan
from mechanisms.matrix.workload.factor import Factor, Identity, Total
from mechanisms.matrix.workload.range_views import range_views
from mechanisms.matrix.workload.union import Term
from mechanisms.verify.bundle import Bundle
from mechanisms.verify.chart_maps import MOST
from mechanisms.verify.chart_panels import lines, without_own

ANSWERS, MOST_POINTS, MOST_PARTS, MOST_TABLE = "answers.csv", 2000, 12, 2**17
_NUMBERS = ["answer", "interval_lower", "interval_upper"]
# Of a column that is not there.
_ALONE = Categorical("", values=("",), closed=True)


def shown_numbers(bundle: Bundle, plan: QueryPlan) -> Iterator[np.ndarray]:
    """Answers and the ends of their intervals."""
    for term, numbers in _parts(bundle, plan):
        yield from numbers
        answers, lower, _upper = numbers
        if answers.size == term.queries:
            yield from _by_shape(plan, term, np.rint(answers), np.ceil(np.round(answers - lower, 6)))


def widest(bundle: Bundle, plan: QueryPlan) -> Iterator[float]:
    """The widest margin of each part, as charts of a table say it for all of its answers."""
    for _term, (answers, lower, _upper) in _parts(bundle, plan):
        yield float(np.ceil(np.round(answers - lower, 6).max()))


def maps(bundle: Bundle, plan: QueryPlan) -> Iterator[np.ndarray]:
    """Tables of two columns, with and without the cells that the portal added: (cells, cells)."""
    for term, (answers, *_ends) in _parts(bundle, plan):
        factors = _factors(term)
        if len(factors) == 2 and _is_table(plan, factors) and answers.size == term.queries <= MOST:
            table = np.rint(answers).reshape([factor.queries for factor in factors.values()])
            for cells in product(*(without_own(plan.domain.attributes[axis]) for axis in factors)):
                yield table[np.ix_(*cells)]


def _parts(bundle: Bundle, plan: QueryPlan) -> Iterator[tuple[Term, np.ndarray]]:
    """Terms that a report shows, with answers and ends, (3, answers): all of them, or every so many."""
    terms = islice(plan.workload.offsets(), MOST_PARTS)
    own = [(term, shown) for every, place in terms for term, shown in _read(every, place)]
    places = {int(place) for _term, shown in own for place in shown}
    with bundle.opened(ANSWERS) as content:
        text = io.TextIOWrapper(content, "utf-8", newline="")
        last = max(places, default=0) + 1
        table = pd.read_csv(
            text,
            usecols=_NUMBERS,
            nrows=len(places),
            skiprows=lambda line: 0 < line <= last and line - 1 not in places,
        )
    rows = dict(zip(sorted(places), range(len(table)), strict=False))
    numbers = table[_NUMBERS].to_numpy(float).T
    for term, shown in own:
        if shown[-1] in rows:
            yield term, numbers[:, [rows[place] for place in shown.tolist()]]


def _read(term: Term, place: slice) -> Iterator[tuple[Term, np.ndarray]]:
    """Of all ranges single cells and running totals; of another term its own answers, by their place among all."""
    views = range_views(term)
    yield from ((view.term, place.start + view.places[_evenly_shown(view.term)]) for view in views)
    if not views:
        yield term, place.start + _evenly_shown(term)


def _evenly_shown(term: Term) -> np.ndarray:
    """Which of its answers are drawn."""
    most = MOST_TABLE if len(_factors(term)) == 2 else MOST_POINTS
    if term.queries <= most:
        return np.arange(term.queries)
    return np.unique(np.linspace(0, term.queries - 1, MOST_POINTS).round().astype(np.int64))


def _factors(term: Term) -> dict[int, Factor]:
    return {axis: f for axis, f in sorted(term.factors.items()) if not isinstance(f, Total)}


def _is_table(plan: QueryPlan, factors: dict[int, Factor]) -> bool:
    return plan.workload.shape == plan.domain.shape and all(isinstance(f, Identity) for f in factors.values())


def _by_shape(plan: QueryPlan, term: Term, answers: np.ndarray, margins: np.ndarray) -> Iterator[np.ndarray]:
    """Of one or two columns along either of them. answers, margins: whole numbers."""
    factors = _factors(term)
    if not 1 <= len(factors) <= 2:
        return
    shape = [*(factor.queries for factor in factors.values()), *[1] * (3 - len(factors))]
    for order in permutations(range(len(factors))):
        along, reach = (
            each.reshape(shape).transpose([*order, *range(len(factors), 3)]) for each in (answers, margins)
        )
        if _is_table(plan, factors):
            columns = [plan.domain.attributes[list(factors)[place]] for place in order]
            widest = reach.max()
            for own in lines([*columns, *[_ALONE] * (3 - len(columns))], along):
                yield from (own, own - widest, own + widest)
        else:
            for group in range(min(along.shape[1], MOST_PARTS)):
                own, half = along[:, group, 0], reach[:, group, 0]
                yield from (own, own - half, own + half)
