"""What readers add up of a measurement, which costs nothing: some groups together."""

from __future__ import annotations

from mechanisms.arrays import Integers
from mechanisms.moments.estimates import Interval, Sums, adding_up, totals
from mechanisms.moments.plan import MomentsPlan


def picked(
    plan: MomentsPlan, sums: Integers, groups: Integers
) -> list[tuple[Interval, Interval | None, Interval]]:
    """Of each column number, total and mean of some groups added up, (1,) each; dates have no total.

    sums: (columns, groups, plan.sums), measured. groups: their places, each once. Where the number of rows is public,
    groups add up to it, and so their people are those that are told of each.
    """
    told = []
    for planned, own in zip(plan.columns, adding_up(plan, sums), strict=True):
        of, added = Sums.of(plan, planned, len(groups)), own[groups].sum(axis=0, keepdims=True)
        whole = of.whole_people(own)[0][groups] if of.public else of.whole_people(added)[0]
        told.append(totals(of, added, whole.sum(keepdims=True)))
    return told
