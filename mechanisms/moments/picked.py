"""What readers add up of a measurement, which costs nothing: some groups together."""

from __future__ import annotations

from mechanisms.arrays import Integers
from mechanisms.moments.estimates import Interval, Sums, adding_up, totals
from mechanisms.moments.plan import MomentsPlan

Totals = tuple[Interval, Interval | None, Interval]


def picked(plan: MomentsPlan, sums: Integers, groups: Integers) -> list[Totals]:
    """Of each column number, total and mean of some groups added up, (1,) each; dates have no total.

    sums: (columns, groups, plan.sums), measured. groups: their places, each once. Where the number of rows is public,
    groups add up to it, and so their people are those that are told of each. Of a single group it is what is told of
    it among all, which counts how many are told.
    """
    intervals = []
    for planned, own in zip(plan.columns, adding_up(plan, sums), strict=True):
        of = Sums.of(plan, planned, len(groups))
        if len(groups) == 1:
            intervals.append(_one_of(totals(of, own, of.integer_people(own)[0]), groups))
            continue
        added = own[groups].sum(axis=0, keepdims=True)
        people = of.integer_people(own)[0][groups] if of.public else of.integer_people(added)[0]
        intervals.append(totals(of, added, people.sum(keepdims=True)))
    return intervals


def _one_of(reported: Totals, group: Integers) -> Totals:
    """group: (1,) its place."""
    number, total, mean = (
        part and Interval(part.estimate[group], part.lower[group], part.upper[group]) for part in reported
    )
    assert number and mean
    return number, total, mean
