"""What readers add up of a summary: people of some groups with values of one column, and totals and means of groups."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np
from django.http import QueryDict
from django.utils.translation import gettext as _

from dpportal.platform.json_types import Json
from dpportal.releases.models import Release
from dpportal.releases.products.shared import explorer, stored_estimates
from dpportal.releases.products.summary.cells import SINGLE, told
from mechanisms.arrays import Integers
from mechanisms.box_queries import CellSum, Picks
from mechanisms.domain import Attribute, Date, Domain
from mechanisms.moments.estimates import Interval
from mechanisms.summary.counts import readings
from mechanisms.summary.estimates import estimates
from mechanisms.summary.picked import of_groups, people_in
from mechanisms.summary.plan import SummaryPlan
from mechanisms.summary.told import NumberEstimates


def explored(release: Release, plan: SummaryPlan, question: QueryDict) -> Json:
    """What the explorer shows: the form, and the people, totals and means of a pick."""
    columns = [reading.cells for reading in readings(plan)]
    domain = Domain((*plan.groups.attributes, *columns))
    picked: list[Picks] = []

    def answer(picks: Picks) -> CellSum | None:
        picked.append(picks)
        with stored_estimates.measured(release) as values:
            return _people(plan, np.asarray(values), columns, picks)

    shown = explorer.explored(domain, question, answer)
    if shown.get("unexplored"):
        shown["explorer_reason"] = _(
            "A summary tells each column by itself: pick values of one column only, besides groups."
        )
    if shown.get("explored") is None or _narrowed(plan, columns, picked[0]):
        return shown
    places = shown["explorer_places"]
    names = {domain.names[place] for place in range(len(domain.names)) if places is None or place in places}
    with stored_estimates.measured(release) as values:
        return {**shown, "explored_means": list(_totals(plan, np.asarray(values), picked[0], names))}


def _groups(plan: SummaryPlan, picks: Picks) -> Integers:
    return picks[0] if plan.groups.attributes else np.zeros(1, dtype=np.int64)


def _narrowed(plan: SummaryPlan, columns: Sequence[Attribute], picks: Picks) -> list[tuple[str, Integers]]:
    """The columns of which some cells are left out, with those that are picked."""
    own = zip(columns, picks[len(plan.groups.attributes) :], strict=True)
    return [(column.name, cells) for column, cells in own if len(cells) < column.size]


def _people(
    plan: SummaryPlan, values: Integers, columns: Sequence[Attribute], picks: Picks
) -> CellSum | None:
    """None where values of two columns are picked: nothing tells who has both."""
    narrowed = _narrowed(plan, columns, picks)
    if len(narrowed) > 1:
        return None
    groups = _groups(plan, picks)
    found = people_in(*of_groups(plan, values, groups), *(narrowed[0] if narrowed else ()))
    number = told(found, (0,), "people")
    cells = len(groups) * (len(narrowed[0][1]) if narrowed else 1)
    whole = round(number.value)
    return CellSum(whole, math.ceil(number.half_width + abs(number.value - whole)), cells)


def _totals(plan: SummaryPlan, values: Integers, picks: Picks, names: set[str]) -> Iterator[Json]:
    """Number, total and mean of each column of numbers among the names, of all picked groups together."""
    some, kept = of_groups(plan, values, _groups(plan, picks))
    # All tables tell the number of people; these columns alone are told.
    some = replace(some, columns=tuple(a for a in plan.columns if a.name in names and a.name in plan.lines))
    for attribute, own in zip(some.columns, estimates(some, kept).columns, strict=True):
        if isinstance(own, NumberEstimates):
            style = "day" if isinstance(attribute, Date) else ""
            parts = [(own.number, "people"), (own.total, ""), (own.mean, style)]
            yield {"name": attribute.name, "cells": [_cell(part, how, some.rows - 1) for part, how in parts]}


def _cell(part: Interval | None, style: str, row: int) -> Json:
    """A cell as the explorer's table has it; dates have no total."""
    if part is None:
        return {"value": "–", "range": "", "sort": 0}
    shown = SINGLE.cell([told(part, (row,), style)])
    return {**shown, "range": shown["margin"]}
