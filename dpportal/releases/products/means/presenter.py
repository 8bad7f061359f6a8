"""What bundle, pages and comparison of totals and means show."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from django.http import QueryDict
from django.utils.translation import gettext as _

from dpportal.platform.json_types import Json
from dpportal.publications.table import Table
from dpportal.publications.verdict import Verdict, VerdictLevel, level_of
from dpportal.releases.models import Release
from dpportal.releases.products.means import comparison, page, tables
from dpportal.releases.products.means.planner import RANGES
from dpportal.releases.products.means.runner import GroupMeans
from dpportal.releases.products.shared import explorer, stored_estimates
from dpportal.releases.products.shared.cells import SINGLE, added_up, cell_number, no_total
from dpportal.releases.products.shared.presenter import Presenter
from dpportal.releases.products.shared.values import ReconstructedRelease
from mechanisms.arrays import Integers
from mechanisms.box_queries import CellSum, Picks
from mechanisms.moments.estimates import Interval
from mechanisms.moments.picked import picked
from mechanisms.moments.plan import ColumnPlan, MomentsPlan
from mechanisms.moments.reading import reading

# Half a 95 % interval over the middle one of the errors' sizes, of a normal law.
MIDDLE = 2.906


class MeansPresenter(Presenter[MomentsPlan, GroupMeans]):
    """Numbers, totals, means and deviations by groups, with intervals."""

    main_table = "totals.csv"

    # The catalogue's picture is that of the first column, which stands on the page by itself.
    not_still = frozenset({"figure"})

    def tables(
        self, reconstructed: ReconstructedRelease[MomentsPlan, GroupMeans], folder: Path
    ) -> list[Table]:
        return tables.write(reconstructed.plan, reconstructed.result, folder)

    def page(self, reconstructed: ReconstructedRelease[MomentsPlan, GroupMeans]) -> Json:
        return page.page(reconstructed.plan, reconstructed.result)

    def compare(self, reconstructed: ReconstructedRelease[MomentsPlan, GroupMeans], true: np.ndarray) -> Json:
        return comparison.build(reconstructed.plan, reconstructed.result, true)

    def verdict(self, comparison: Json) -> Verdict | None:
        error = comparison["error"]
        if error is None:
            return Verdict(VerdictLevel.USELESS, _("No group is large enough for its mean to be told."))
        text = _("Half of the means are off by less than %(share)s %% of the range between the limits.")
        return Verdict(level_of(MIDDLE * error, RANGES), text % {"share": f"{100 * error:.2g}"})

    def facts(self, reconstructed: ReconstructedRelease[MomentsPlan, GroupMeans]) -> Json:
        """How numbers and totals are read from the measured sums, by which readers work out their margins."""
        return {"readings": [reading(reconstructed.plan, planned) for planned in reconstructed.plan.columns]}

    def explore(self, release: Release, plan: MomentsPlan, question: QueryDict) -> Json:
        """Groups that a reader picks, added up: their number by the first column, and each column's total and mean."""
        if plan.groups.size == 1:
            return {}
        columns: list[tuple[Interval, Interval | None, Interval]] = []

        def answer(picks: Picks) -> CellSum:
            with stored_estimates.measured(release) as values:
                columns.extend(picked(plan, np.asarray(values), _places(plan, picks)))
            return added_up(cell_number(columns[0][0], (0,), "people"), math.prod(map(len, picks)))

        shown = explorer.explored(plan.groups, question, answer)
        rows = [
            {"name": planned.column.attribute.shown_name, "cells": _cells(planned, parts)}
            for planned, parts in zip(plan.columns, columns, strict=False)
        ]
        return {**shown, "explored_means": rows}


def _places(plan: MomentsPlan, picks: Picks) -> Integers:
    """Of all picked groups."""
    groups: Integers = np.ravel(np.arange(plan.groups.size).reshape(plan.groups.shape)[np.ix_(*picks)])
    return groups


def _cells(planned: ColumnPlan, parts: Sequence[Interval | None]) -> list[Json]:
    """What a page shows of number, total and mean; dates have no total."""
    mean = page.styles_of(planned, 1)["mean"]
    return [
        SINGLE.cell([cell_number(part, (0,), style)]) if part else no_total()
        for part, style in zip(parts, ("people", "", mean), strict=True)
    ]
