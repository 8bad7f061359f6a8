"""The table in the form of journals: a block of rows for each column, a column for everybody and for each group."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

from django.utils.translation import gettext as _

from dpportal.charts.cell_names import cell_names
from dpportal.charts.inline_marks import density_mark, share_mark
from dpportal.platform.json_types import Json
from dpportal.releases.products.shared.bounds import may_be_large
from dpportal.releases.products.shared.cells import (
    COUNT_AND_SHARE,
    MEAN_AND_DEVIATION,
    MEDIAN_AND_QUARTILES,
    RANGE,
    SINGLE,
    CellNumber,
    ClippingLimits,
    Pattern,
    cell_number,
    ends_text,
)
from mechanisms.domain import MISSING_LABEL, Attribute, Categorical, Date, Integer, Real
from mechanisms.moments.estimates import Interval
from mechanisms.summary.column_estimates import CategoryEstimates, NumberEstimates, Summary
from mechanisms.summary.counts import readings
from mechanisms.summary.differences import difference
from mechanisms.summary.line import LineColumn
from mechanisms.summary.plan import SummaryPlan
from mechanisms.summary.statistics import SummarisedColumn

# Places of quantiles: 5 %, quartiles and median, 95 %.
MEDIAN, QUARTILES, ENDS = 2, (1, 3), (0, 4)


@dataclass(frozen=True)
class TableOne:
    """A summary as blocks of rows. truth: the same without noise, for the curator's comparison."""

    plan: SummaryPlan
    summary: Summary
    truth: Summary | None = None

    @cached_property
    def everybody(self) -> int:
        """The row of the estimates that is of all people."""
        return self.plan.rows - 1

    @cached_property
    def columns(self) -> list[Attribute]:
        """The columns as they were counted: a closed one has cells for other and missing values."""
        return [reading.cells for reading in readings(self.plan)]

    @cached_property
    def labels(self) -> list[str]:
        """What each group is called; none without groups."""
        groups = self.plan.groups.attributes
        return cell_names(groups[0]) if groups else []

    @cached_property
    def groups(self) -> list[int]:
        """The groups that the table shows: those that have somebody, as far as the noise lets it be told."""
        return [group for group in range(len(self.labels)) if self.summary.number.lower[group] > 0]

    @property
    def hidden(self) -> list[Json]:
        """The groups that may be empty, with how many people they may have."""
        left_out = [group for group in range(len(self.labels)) if group not in self.groups]
        return [{"name": self.labels[group], "people": ends_text(self._people(group))} for group in left_out]

    @cached_property
    def compared(self) -> tuple[int, int] | None:
        """The two groups whose difference the table shows; None where there are more or fewer."""
        return (self.groups[1], self.groups[0]) if len(self.groups) == 2 else None

    @property
    def heads(self) -> list[Json]:
        """The columns of numbers: everybody and the groups, each with how many people it has."""
        named = [(_("Overall"), self.everybody), *((self.labels[g], g) for g in self.groups)]
        return [{"name": name, **self._number(row)} for name, row in named]

    @property
    def difference_name(self) -> str:
        """What the column of differences is called; empty where there is none."""
        if self.compared is None:
            return ""
        first, second = (self.labels[group] for group in self.compared)
        return f"{first} − {second}"

    def blocks(self) -> Iterator[Json]:
        """Each column's name, its rows, and whether it is told as categories."""
        for place, attribute in enumerate(self.columns):
            own, true = self.summary.columns[place], self.truth.columns[place] if self.truth else None
            block = _ColumnBlock(self, attribute, own, true)
            yield {
                "name": attribute.shown_name,
                "column": attribute.name,
                "place": f"column-{place}",
                "is_number": isinstance(own, NumberEstimates),
                "rows": list(block.rows()),
                "mark": block.mark(),
                "leaves_out": bool(block.unseen),
            }

    def _number(self, row: int) -> Json:
        return SINGLE.cell([self._people(row)])

    def _people(self, row: int) -> CellNumber:
        return cell_number(self.summary.number, (row,), "people", self.truth.number if self.truth else None)

    @property
    def shown(self) -> list[int]:
        """The rows of the estimates that are columns of the table."""
        return [self.everybody, *self.groups]


class _ColumnBlock:
    """The rows of one column."""

    def __init__(
        self, table: TableOne, attribute: Attribute, own: SummarisedColumn, true: SummarisedColumn | None
    ) -> None:
        self.table, self.attribute, self.own, self.true = table, attribute, own, true
        self.difference = difference(own, *table.compared) if table.compared else None

    def mark(self) -> str:
        """A density for numbers; categories have a bar in each row."""
        if isinstance(self.own, CategoryEstimates):
            return ""
        return density_mark(self.own.steps.shares.estimate[self.table.everybody])

    def rows(self) -> Iterator[Json]:
        return self._categories() if isinstance(self.own, CategoryEstimates) else self._statistics()

    def _categories(self) -> Iterator[Json]:
        assert isinstance(self.own, CategoryEstimates)
        true = self.true if isinstance(self.true, CategoryEstimates) else None
        labels = cell_names(self.attribute)
        seen = [cell for cell in range(len(labels)) if cell not in self.unseen]
        numbers = [
            [
                cell_number(self.own.counts, (row, cell), "people", true.counts if true else None),
                cell_number(self.own.shares, (row, cell), "share", true.shares if true else None),
            ]
            for cell in seen
            for row in self.table.shown
        ]
        texts = iter([COUNT_AND_SHARE.cell(parts) for parts in numbers])
        compared = self._compared(seen, "points")
        for cell, further in zip(seen, compared, strict=True):
            share = float(self.own.shares.estimate[self.table.everybody, cell])
            cells = [next(texts) for _row in self.table.shown]
            row = {"label": labels[cell], "cells": cells, "is_category": True, "mark": share_mark(share)}
            yield {**row, **further}

    @property
    def unseen(self) -> list[int]:
        """The cells for what was not declared and for missing values, where they may well be nobody's."""
        if not isinstance(self.own, CategoryEstimates):
            return []
        undeclared = [self.attribute.undeclared] if isinstance(self.attribute, Categorical) else []
        if self.attribute.missing_cell:
            undeclared.append(self.attribute.labels().index(MISSING_LABEL))
        counts = self.own.counts.lower[self.table.everybody]
        return [cell for cell in undeclared if cell is not None and counts[cell] <= 0]

    def _statistics(self) -> Iterator[Json]:
        assert isinstance(self.own, NumberEstimates)
        is_date = isinstance(self.attribute, Date)
        value, spread = ("day", "days") if is_date else ("", "")
        [compared] = self._compared([0], "plus-days" if is_date else "plus")
        yield self._row(
            _("Mean (SD)"), MEAN_AND_DEVIATION, [("mean", None, value), ("deviation", None, spread)], compared
        )
        yield from self._at_bounds()
        value = "whole" if isinstance(self.attribute, Integer) else value
        for label, pattern, places in (
            (_("Median (Q1, Q3)"), MEDIAN_AND_QUARTILES, (MEDIAN, *QUARTILES)),
            (_("5 %, 95 %"), RANGE, ENDS),
        ):
            yield self._row(label, pattern, [("quantiles", place, value) for place in places])
        if bool(self.own.missing.upper[self.table.everybody] > 0):
            yield self._row(_("Missing"), SINGLE, [("missing", None, "share")])

    def _at_bounds(self) -> Iterator[Json]:
        """The shares of values at a bound, where they may be large: a mean is not to be read without them."""
        assert isinstance(self.own, NumberEstimates)
        lower, upper = self.table.plan.lines[self.attribute.name].bound_texts
        for name, text, bound in (
            ("at_lower", _("%(bound)s or below (counted as %(bound)s)"), lower),
            ("at_upper", _("%(bound)s or above (counted as %(bound)s)"), upper),
        ):
            share: Interval | None = getattr(self.own, name)
            if share is not None and any(may_be_large(share, row) for row in self.table.shown):
                yield self._row(text % {"bound": bound}, SINGLE, [(name, None, "share")])

    def _row(
        self,
        label: str,
        pattern: Pattern,
        parts: Sequence[tuple[str, int | None, str]],
        compared: Json | None = None,
    ) -> Json:
        """parts: names of estimates, with the place of a quantile, and how each is written."""
        cells = [pattern.cell([self._number(row, *part) for part in parts]) for row in self.table.shown]
        return {"label": label, "cells": cells, "is_category": False, "mark": "", **(compared or {})}

    def _number(self, row: int, name: str, place: int | None, style: str) -> CellNumber:
        index = (row,) if place is None else (row, place)
        interval: Interval = getattr(self.own, name)
        truth: Interval | None = getattr(self.true, name) if self.true else None
        own = cell_number(interval, index, style, truth)
        if name != "quantiles":
            return own
        return own._replace(limits=limits_of(self.table.plan.lines[self.attribute.name]))

    def _compared(self, cells: Sequence[int], style: str) -> list[Json]:
        """For each cell the difference of two groups, and the same standardised, where the table shows it."""
        if self.difference is None:
            return [{} for _cell in cells]
        pair = self.difference
        numbers = [
            [cell_number(pair.plain, (cell,), style), cell_number(pair.standardised, (cell,), "plus")]
            for cell in cells
        ]
        return [
            {"difference": SINGLE.cell([plain]), "standardised": SINGLE.cell([standardised])}
            for plain, standardised in numbers
        ]


def limits_of(line: LineColumn) -> ClippingLimits:
    """Where the first cell ends and the last one begins: values beyond a bound are counted in these."""
    starts, ends = line.edges
    step = float(line.measured.step) if isinstance(line.attribute, Real) else 1.0
    return ClippingLimits(float(ends[0]), float(starts[-1]), step)
