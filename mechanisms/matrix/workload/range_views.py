"""What people read of all ranges of columns: single cells, and totals up to each of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from mechanisms.arrays import Integers
from mechanisms.matrix.workload.factor import AllRange, Factor, Identity, Prefix
from mechanisms.matrix.workload.union import Term

# Lines of running totals that can be told apart.
MOST_LINES = 6


@dataclass(frozen=True)
class RangeView:
    """A term that asks some of another term's queries. places: which of them, (q,)."""

    term: Term
    places: Integers


def range_place(cells: int, start: int, stop: int) -> int:
    """Which of all ranges of so many cells the one of cells start..stop-1 is."""
    return start * cells - start * (start - 1) // 2 + stop - start - 1


def range_views(term: Term) -> list[RangeView]:
    """The single cells of a term with all ranges of a column, and the running totals of one; empty without ranges.

    Running totals are of a single column, by at most one other of few cells.
    """
    ranges = [axis for axis, factor in term.factors.items() if isinstance(factor, AllRange)]
    others = [f for axis, f in term.factors.items() if axis not in ranges and f.queries > 1]
    if not ranges:
        return []
    views = [_view(term, {axis: Identity(term.factors[axis].size) for axis in ranges})]
    are_lines = all(isinstance(f, Identity) and f.queries <= MOST_LINES for f in others)
    if len(ranges) == 1 and len(others) <= 1 and are_lines:
        views.append(_view(term, {axis: Prefix(term.factors[axis].size) for axis in ranges}))
    return views


def _view(term: Term, simpler: Mapping[int, Factor]) -> RangeView:
    """simpler: in place of a column's ranges some of them, by its axis."""
    axes = sorted(term.factors)
    own = [
        _places(simpler[axis]) if axis in simpler else np.arange(term.factors[axis].queries) for axis in axes
    ]
    shape = [term.factors[axis].queries for axis in axes]
    places = np.ravel_multi_index(tuple(np.ix_(*own)), tuple(shape)).ravel()
    return RangeView(Term(term.weight, {**term.factors, **simpler}), places)


def _places(simpler: Factor) -> Integers:
    spans = simpler.spans()
    assert spans is not None
    return np.array([range_place(simpler.size, start, stop) for start, stop in spans.tolist()])
