"""The cell of a row, written once for every engine: what `mechanisms.domain` documents.

Numbers and days outside the bounds go to the nearest bound, categories to `attribute.other`; missing, unreadable and
NaN go to `attribute.missing`; where that is None the cell is NULL and the row is left out. A real value in an integer
attribute is rounded down, so that 17.9 years is in the bin of 17 as it is in own edges (17 <= x < 18).
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable

from sqlglot import exp
from sqlglot.expressions import Expr

from dpportal.tables.pushdown.dialects import SqlDialect
from dpportal.tables.pushdown.fields import Field, literal
from dpportal.tables.pushdown.types import number_of
from mechanisms.domain import Attribute, Boolean, Categorical, Date, Integer, Real
from mechanisms.number_text import number_written

FIRST_DAY = dt.date(1, 1, 1)


def needs_number(attribute: Attribute) -> bool:
    """Whether a declared column is counted by the numbers that its texts say."""
    return isinstance(attribute, Boolean | Integer | Real)


def value_of(attribute: Attribute, field: Field) -> Expr:
    """A field's value as the attribute reads it, NULL if missing or unreadable; of a category, its field."""
    if isinstance(attribute, Boolean):
        return field.as_truth()
    if isinstance(attribute, Integer):
        return field.as_integer()
    if isinstance(attribute, Real):
        return field.number
    if isinstance(attribute, Date):
        return field.as_day()
    if isinstance(attribute, Categorical):
        return field.value
    raise TypeError(f"there is no way to count attributes of kind {attribute.kind!r}")


def known_categories(attribute: Categorical, field: Field) -> tuple[Expr, list[tuple[Expr, int]]]:
    """What is looked up of a field, and the declared values to look it up among, each with its cell; none twice."""
    if not attribute.as_numbers:
        texts = field.values_of(attribute.values)
        return field.value, [(text, attribute.places[place]) for text, place in texts]
    numbers = {
        number_written(value): cell for value, cell in zip(attribute.values, attribute.places, strict=True)
    }
    if field.type.is_text:
        written = [
            (field.dialect.exactly(number), cell) for number, cell in numbers.items() if number is not None
        ]
        return field.exact_number(), written
    values = {number_of(field.type, number): cell for number, cell in numbers.items() if number is not None}
    return field.value, [
        (literal(field.dialect, field.type, value), cell)
        for value, cell in values.items()
        if value is not None
    ]


def search(
    attribute: Attribute, dialect: SqlDialect, value: Expr, earlier: Callable[[int], Expr]
) -> list[Expr]:
    """Expressions that in turn lead to a value's bin (see `SqlDialect.search`); none where nothing is to search."""
    if isinstance(attribute, Real):
        return dialect.search(value, attribute.all_edges, "double", earlier, even=attribute.is_even)
    if isinstance(attribute, Integer) and not attribute.is_even:
        edges = (*attribute.starts, attribute.upper)
        return dialect.search(value, edges, "bigint", earlier, even=False)
    return []


def left_out(attribute: Attribute, value: Expr, known: Expr) -> Expr:
    """Whether a row is left out for what it says in a column. known: as of `cell_of`."""
    reasons: list[Expr] = [exp.false()]
    if attribute.missing is None:
        reasons.append(value.is_(exp.null()))
    if isinstance(attribute, Categorical) and attribute.other is None:
        reasons.append(exp.and_(value.is_(exp.null()).not_(), known.is_(exp.null())))
    return exp.or_(*reasons)


def cell_of(attribute: Attribute, dialect: SqlDialect, value: Expr, label: Expr) -> Expr:
    """The cell, 0..size-1; NULL if the row is left out.

    label: of a category, the cell that was looked up; where there was something to search, what the last gave.
    """
    missing = _cell(attribute.missing)
    if isinstance(attribute, Categorical):
        label = exp.Coalesce(this=label, expressions=[_cell(attribute.other)])
    elif isinstance(attribute, Boolean):
        label = value
    elif isinstance(attribute, Date) or (isinstance(attribute, Integer) and attribute.is_even):
        label = _bin(attribute, dialect, value)
    return exp.case().when(value.is_(exp.null()), missing).else_(exp.cast(label, "bigint"))


def _bin(attribute: Integer | Date, dialect: SqlDialect, value: Expr) -> Expr:
    """The bin of a value that is not NULL, where all are as wide."""
    lower, upper = (bound(dialect, each) for each in (attribute.lower, attribute.upper))
    clamped = exp.case().when(value < lower, lower).when(value > upper, upper).else_(value)
    if isinstance(attribute, Date):
        return _period(attribute, dialect, exp.paren(clamped)) - exp.convert(
            attribute.period(attribute.lower)
        )
    return dialect.integer_quotient(exp.paren(clamped) - lower, attribute.width)


def bound(dialect: SqlDialect, declared: float | dt.date) -> Expr:
    """A declared lower or upper bound."""
    return dialect.day(declared) if isinstance(declared, dt.date) else exp.convert(declared)


def _period(attribute: Date, dialect: SqlDialect, day: Expr) -> Expr:
    """`Date.period`."""
    days = dialect.days_since(FIRST_DAY, day)
    if attribute.step == "day":
        return days + exp.convert(1)
    if attribute.step == "week":
        return dialect.integer_quotient(days, 7)
    year, month = dialect.part("YEAR", day), dialect.part("MONTH", day)
    if attribute.step == "year":
        return year
    before = month - exp.convert(1)
    if attribute.step == "month":
        return year * exp.convert(12) + before
    return year * exp.convert(4) + dialect.integer_quotient(before, 3)


def _cell(cell: int | None) -> Expr:
    return exp.cast(exp.null(), "bigint") if cell is None else exp.convert(cell)
