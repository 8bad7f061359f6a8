"""How a table fits its declarations, in whatever engine: numbers of rows alone."""

from __future__ import annotations

from collections.abc import Sequence

from sqlglot import exp
from sqlglot.expressions import Expr

from dpportal.tables.fit import ABOVE, BELOW, MISSING, UNDECLARED, UNREADABLE
from dpportal.tables.meaning.parse_options import ReadOptions
from dpportal.tables.persons import Persons
from dpportal.tables.pushdown.cells import bound, left_out
from dpportal.tables.pushdown.count_query import (
    CELL,
    LABEL,
    PERSON,
    QuerySource,
    as_numbered,
    numbered,
    valued_rows,
)
from dpportal.tables.pushdown.dialects import SqlDialect
from mechanisms.domain import Attribute, Boolean, Categorical, Date, Domain, Integer, Real

REASONS = (MISSING, UNREADABLE, BELOW, ABOVE, UNDECLARED)


def reasons_statement(source: QuerySource, domain: Domain, options: ReadOptions) -> str:
    """SQL: place and number of rows of each reason why a column's field does not fit; a place counts on by columns."""
    places = [
        reason_of(source.dialect, attribute, place) + exp.convert(place * len(REASONS))
        for place, attribute in enumerate(domain.attributes)
    ]
    rows = exp.select(exp.alias_(source.dialect.each_row(places), "place"))
    rows = rows.from_(valued_rows(source, domain.attributes, options, None), copy=False)
    known = exp.column("place").is_(exp.null()).not_()
    count = exp.alias_(exp.Count(this=exp.Star()), "n")
    counted = exp.select("place", count).from_(rows.subquery("reasons", copy=False), copy=False)
    return source.dialect.sql(counted.where(known, copy=False).group_by("place", copy=False))


def rows_statement(
    source: QuerySource, leaving: Sequence[Attribute], options: ReadOptions, persons: Persons | None
) -> str:
    """SQL: what only whole rows show, a number for each place: persons, rows, rows left out, beyond the limit of each
    person's, without an identifier; the last two of rows that no column leaves out.

    leaving: the attributes that leave rows out.
    """
    rows = valued_rows(source, leaving, options, persons)
    outs = [_left_out(source, attribute, place) for place, attribute in enumerate(leaving)]
    out = exp.or_(exp.false(), *outs)
    one, none = exp.convert(1), exp.convert(0)
    person = exp.column(PERSON) if persons else exp.cast(exp.null(), "int")
    by_person = exp.select(
        exp.alias_(person, "whose"),
        exp.alias_(exp.Count(this=exp.Star()), "n"),
        exp.alias_(exp.Sum(this=exp.case().when(out, one).else_(none)), "gone"),
    ).from_(rows, copy=False)
    by_person = by_person.group_by(exp.Literal.number(1), copy=False)
    n, gone, limit = exp.column("n"), exp.column("gone"), exp.convert(persons.max_rows if persons else 0)
    nobody = exp.column("whose").is_(exp.null())
    beyond = exp.case().when(nobody, none).when(n - gone > limit, n - gone - limit).else_(none)
    without = exp.case().when(nobody, n - gone).else_(none)
    person_each = exp.case().when(nobody, none).else_(one)
    sums = [exp.Sum(this=term) for term in (person_each, n, gone, beyond, without)]
    once = exp.select(*(as_numbered(_number(term), "sum", place) for place, term in enumerate(sums)))
    once = once.from_(by_person.subquery("persons", copy=False), copy=False)
    places = source.dialect.each_row([_number(exp.convert(place)) for place in range(len(sums))])
    each = exp.select("*", exp.alias_(places, "place")).from_(once.subquery("sums", copy=False), copy=False)
    case = exp.case()
    for place in range(len(sums)):
        case = case.when(exp.column("place").eq(exp.convert(place)), numbered("sum", place))
    numbers = exp.select("place", exp.alias_(case, "n")).from_(each.subquery("told", copy=False), copy=False)
    return source.dialect.sql(numbers)


def _left_out(source: QuerySource, attribute: Attribute, place: int) -> Expr:
    if source.known_cell(attribute.column) is not None:
        return numbered(CELL, place).is_(exp.null())
    return left_out(attribute, numbered("value", place), numbered(LABEL, place))


def _number(term: Expr) -> Expr:
    return exp.cast(exp.Coalesce(this=term, expressions=[exp.convert(0)]), "bigint")


def reason_of(dialect: SqlDialect, attribute: Attribute, place: int) -> Expr:
    """Which of the reasons a row's field does not fit for, NULL where it does."""
    field, value = numbered("field", place), numbered("value", place)
    case = exp.case().when(field.is_(exp.null()), _place_of(MISSING))
    if isinstance(attribute, Categorical):
        # A text that reads like the label of the cell for all others is not declared by that.
        return case.when(numbered(LABEL, place).is_(exp.null()), _place_of(UNDECLARED))
    case = case.when(value.is_(exp.null()), _place_of(UNREADABLE))
    if isinstance(attribute, Boolean):
        return case
    assert isinstance(attribute, Integer | Real | Date)
    lower, upper = (bound(dialect, each) for each in (attribute.lower, attribute.upper))
    return case.when(value < lower, _place_of(BELOW)).when(value > upper, _place_of(ABOVE))


def _place_of(reason: str) -> Expr:
    return exp.cast(exp.convert(REASONS.index(reason)), "bigint")
