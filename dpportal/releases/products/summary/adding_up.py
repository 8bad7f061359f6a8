"""What readers add up of a summary: people of some groups with values of one column, and totals and means of groups."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

import numpy as np
from django.http import QueryDict
from django.utils.translation import gettext as _

from dpportal.platform.json_types import Json
from dpportal.releases.models import Release
from dpportal.releases.products.shared import explorer, stored_estimates
from dpportal.releases.products.shared.cells import SINGLE, added_up, cell_number, no_total
from mechanisms.arrays import Integers
from mechanisms.box_queries import CellSum, Picks
from mechanisms.domain import Attribute, Date, Domain
from mechanisms.moments.estimates import Interval
from mechanisms.summary.column_estimates import NumberEstimates
from mechanisms.summary.counts import readings
from mechanisms.summary.estimates import of_rows
from mechanisms.summary.picked import PickedGroups
from mechanisms.summary.plan import SummaryPlan


def explored(release: Release, plan: SummaryPlan, question: QueryDict) -> Json:
    """What the explorer shows: the form, and the people, totals and means of a pick."""
    if explorer.asks_for_columns(plan.domain, question):
        return explorer.explored(plan.domain, question, lambda _picks: None)
    columns = [reading.cells for reading in readings(plan)]
    domain = Domain((*plan.groups.attributes, *columns))
    picked: list[tuple[PickedGroups, bool]] = []

    def answer(picks: Picks) -> CellSum | None:
        """None where values of two columns are picked: nothing tells who has both."""
        narrowed = _narrowed(plan, columns, picks)
        if len(narrowed) > 1:
            return None
        groups = _groups(release, plan, picks)
        picked.append((groups, bool(narrowed)))
        return _people(groups, math.prod(map(len, picks[: len(plan.groups.attributes)])), *narrowed[:1])

    shown = explorer.explored(domain, question, answer)
    if shown.get("unexplored"):
        shown["explorer_reason"] = _(
            "A summary tells each column by itself: pick values of one column only, besides groups."
        )
    if not picked or picked[0][1]:
        return shown
    places = shown["explorer_places"]
    names = {domain.names[place] for place in range(len(domain.names)) if places is None or place in places}
    return {**shown, "explored_means": list(_totals(picked[0][0].of_columns(names & plan.lines.keys())))}


def _groups(release: Release, plan: SummaryPlan, picks: Picks) -> PickedGroups:
    groups = picks[0] if plan.groups.attributes else np.zeros(1, dtype=np.int64)
    with stored_estimates.measured(release) as values:
        return PickedGroups.of(plan, np.asarray(values), groups)


def _narrowed(plan: SummaryPlan, columns: Sequence[Attribute], picks: Picks) -> list[tuple[str, Integers]]:
    """The columns of which some cells are left out, with those that are picked."""
    own = zip(columns, picks[len(plan.groups.attributes) :], strict=True)
    return [(column.name, cells) for column, cells in own if len(cells) < column.size]


def _people(picked: PickedGroups, groups: int, narrowed: tuple[str, Integers] | None = None) -> CellSum:
    """narrowed: a column and those of its cells that are picked."""
    number = cell_number(picked.people(*narrowed) if narrowed else picked.people(), (0,), "people")
    return added_up(number, groups * (len(narrowed[1]) if narrowed else 1)).rounded


def _totals(picked: PickedGroups) -> Iterator[Json]:
    """Number, total and mean of each column, of all picked groups together."""
    for attribute, own in zip(picked.rows.plan.columns, of_rows(picked.rows).columns, strict=True):
        if isinstance(own, NumberEstimates):
            style = "day" if isinstance(attribute, Date) else ""
            parts = [(own.number, "people"), (own.total, ""), (own.mean, style)]
            yield {
                "name": attribute.shown_name,
                "cells": [_cell(part, how, picked.row) for part, how in parts],
            }


def _cell(part: Interval | None, style: str, row: int) -> Json:
    """A cell as the explorer's table has it; dates have no total."""
    return no_total() if part is None else SINGLE.cell([cell_number(part, (row,), style)])
