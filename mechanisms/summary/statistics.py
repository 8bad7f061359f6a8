"""Every number of a summary by name, one after the other: the long form of its files."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import NamedTuple

from mechanisms.domain import Attribute, Date
from mechanisms.moments.column import DAYS_SINCE
from mechanisms.moments.estimates import Interval
from mechanisms.summary.column_estimates import QUANTILES, CategoryEstimates, NumberEstimates, Summary
from mechanisms.summary.counts import readings
from mechanisms.summary.differences import difference
from mechanisms.summary.plan import SummaryPlan
from mechanisms.tabular.label_columns import written
from mechanisms.tabular.sdmx_codes import NOT_APPLICABLE, TOTAL as ALL, UNKNOWN, EmptyFields

GROUP, EVERYBODY, TOTAL = "group", "everybody", "total"
PEOPLE, ROWS, SHARE = "people", "rows", "share"
DAYS, RATIO = "days", "ratio"
MISSING_COUNT = "missing_count"
# What the empty fields of totals.csv stand for: no column where people are counted, no value but of categories.
EMPTY_FIELDS = {
    "column": EmptyFields(NOT_APPLICABLE),
    "value": EmptyFields(NOT_APPLICABLE, UNKNOWN, "statistic", frozenset({MISSING_COUNT})),
    "group": EmptyFields(UNKNOWN, ALL, "whose", frozenset({EVERYBODY})),
}
DIFFERENCES = ("difference", "standardised_difference")
SummarisedColumn = CategoryEstimates | NumberEstimates
CellPlace = tuple[int, ...]


class Statistic(NamedTuple):
    """A number with the ends of its 95 % interval; NaN where it is not determined.

    column: empty of numbers of people. statistic, unit: as files call them. value: of a column of categories. whose:
    `GROUP` or `EVERYBODY`. group: empty of everybody, and of those without a value. reference: of a difference, the
    group that is subtracted.
    """

    column: str
    statistic: str
    value: str
    whose: str
    group: str
    reference: str
    unit: str
    estimate: float
    lower: float
    upper: float


class _Row(NamedTuple):
    """A row of the estimates: a group or everybody."""

    place: int
    whose: str
    group: str


def statistics(plan: SummaryPlan, summary: Summary) -> Iterator[Statistic]:
    """Numbers of people, or of rows, first, then each column; differences are those from the first group."""
    for number in _statistics(plan, summary):
        is_of_rows = number.unit == PEOPLE and plan.loss.unit.counts_rows
        yield number._replace(unit=ROWS) if is_of_rows else number


def in_files(plan: SummaryPlan, summary: Summary) -> Iterator[Statistic]:
    """The same as files have them: of a group that may have nobody only what is determined."""
    empty = {row.group for row in _rows(plan) if may_be_empty(summary, row.whose, row.place)}
    for number in statistics(plan, summary):
        groups = {number.group} if number.whose == GROUP else set()
        if number.statistic in DIFFERENCES:
            groups.add(number.reference)
        if not (math.isnan(number.estimate) and groups & empty):
            yield number


def may_be_empty(summary: Summary, whose: str, row: int) -> bool:
    """Whether a row of the estimates is that of a group that may have nobody."""
    return whose == GROUP and bool(summary.number.lower[row] <= 0)


def is_counted(number: Statistic) -> bool:
    """Whether it is a number of people, or of rows where a person may have several."""
    return number.unit in (PEOPLE, ROWS)


def _statistics(plan: SummaryPlan, summary: Summary) -> Iterator[Statistic]:
    rows = _rows(plan)
    for row in rows:
        yield _statistic(row, "number", PEOPLE, summary.number, (row.place,))
        yield _statistic(row, "group_share", SHARE, summary.share, (row.place,))
    columns = [reading.cells for reading in readings(plan)]
    for attribute, own in zip(columns, summary.columns, strict=True):
        for row in rows:
            numbers = _categories if isinstance(own, CategoryEstimates) else _numbers
            yield from (number._replace(column=attribute.name) for number in numbers(attribute, own, row))
        for row in rows[1 : plan.groups.size]:
            for number in _differences(attribute, own, row):
                yield number._replace(column=attribute.name, reference=rows[0].group)


def _rows(plan: SummaryPlan) -> list[_Row]:
    """Each row of the estimates; the last is everybody."""
    everybody = _Row(plan.rows - 1, EVERYBODY, "")
    if plan.rows == 1:
        return [everybody]
    [attribute] = plan.groups.attributes
    groups = [_Row(i, GROUP, label) for i, label in enumerate(written(attribute, attribute.labels()))]
    return [*groups, everybody]


def _categories(attribute: Attribute, own: SummarisedColumn, row: _Row) -> Iterator[Statistic]:
    assert isinstance(own, CategoryEstimates)
    for cell, value in enumerate(written(attribute, attribute.labels())):
        names = ("count", "share") if value else (MISSING_COUNT, "missing")
        for name, unit, interval in zip(names, (PEOPLE, SHARE), (own.counts, own.shares), strict=True):
            yield _statistic(row, name, unit, interval, (row.place, cell))._replace(value=value)


def _numbers(attribute: Attribute, own: SummarisedColumn, row: _Row) -> Iterator[Statistic]:
    assert isinstance(own, NumberEstimates)
    at, spread = _units(attribute)
    here = (row.place,)
    yield _statistic(row, "number", PEOPLE, own.number, here)
    yield _statistic(row, "missing", SHARE, own.missing, here)
    if own.total is not None:
        yield _statistic(row, TOTAL, "", own.total, here)
    yield _statistic(row, "mean", at, own.mean, here)
    yield _statistic(row, "deviation", spread, own.deviation, here)
    for place, level in enumerate(QUANTILES):
        yield _statistic(row, f"quantile_{round(100 * level):02}", at, own.quantiles, (row.place, place))
    for name, interval in (("share_at_low", own.at_lower), ("share_at_high", own.at_upper)):
        if interval is not None:
            yield _statistic(row, name, SHARE, interval, here)


def _differences(attribute: Attribute, own: SummarisedColumn, row: _Row) -> Iterator[Statistic]:
    """Of a group from the first one: of shares or means, and standardised."""
    pair = difference(own, row.place, 0)
    is_category = isinstance(own, CategoryEstimates)
    values = written(attribute, attribute.labels()) if is_category else [""]
    unit = SHARE if is_category else _units(attribute)[1]
    for cell, value in enumerate(values):
        yield _statistic(row, DIFFERENCES[0], unit, pair.plain, (cell,))._replace(value=value)
        yield _statistic(row, DIFFERENCES[1], RATIO, pair.standardised, (cell,))._replace(value=value)


def _units(attribute: Attribute) -> tuple[str, str]:
    """Of a value, and of how far values are apart."""
    return (DAYS_SINCE, DAYS) if isinstance(attribute, Date) else ("", "")


def _statistic(row: _Row, statistic: str, unit: str, interval: Interval, place: CellPlace) -> Statistic:
    numbers = (float(x[place]) for x in (interval.estimate, interval.lower, interval.upper))
    return Statistic("", statistic, "", row.whose, row.group, "", unit, *numbers)
