"""SQL expressions that put a field's text into the cells of its declared attribute.

They keep what `mechanisms.domain` documents: numbers and days outside the bounds go to the nearest bound,
categories to `attribute.other`; missing, unreadable and NaN go to `attribute.missing`; where that is None the cell is
NULL and the row is left out. A real value in an integer attribute is rounded down, so that 17.9 years is in the bin of
17 as it is in own edges (17 <= x < 18). The time of day of a date is ignored.
"""

from __future__ import annotations

from dataclasses import dataclass

from dpportal.datasets.rawdata.engine import literal
from dpportal.datasets.rawdata.options import ReadOptions
from dpportal.datasets.rawdata.reading import Reading, prepared
from mechanisms.domain import Attribute, Boolean, Categorical, Date, Integer, Real

# Not in composed form, so no prepared text is equal to it.
NOBODYS_TEXT = "e\u0301"


@dataclass(frozen=True)
class Field:
    """SQL of one field: its text as it counts, and its plain number where one is stored and means the same."""

    text: str
    plain: str | None = None
    all_plain: bool = False


def value_expression(attribute: Attribute, place: int, reading: Reading, field: Field) -> str:
    """SQL: a field's value as the attribute reads it, NULL if missing or unreadable.

    For a categorical attribute already its cell. place: of the attribute, see `category_type`.
    """
    if isinstance(attribute, Categorical):
        return _category(attribute, place, field.text)
    if isinstance(attribute, Boolean):
        return _or_plain(
            f"CASE {field.plain} WHEN 1 THEN 1 WHEN 0 THEN 0 END", reading.truth(field.text), field
        )
    if isinstance(attribute, Integer):
        return _or_plain(f"floor({field.plain})::BIGINT", reading.whole(field.text), field)
    if isinstance(attribute, Real):
        return _or_plain(f"{field.plain}", reading.number(field.text), field)
    if isinstance(attribute, Date):
        return reading.day(field.text)
    raise TypeError(f"there is no way to count attributes of kind {attribute.kind!r}")


def position_layers(attribute: Attribute, place: int) -> list[str]:
    """SQL: expressions that in turn define and then refine position_i, the bin of a value_i that is not NULL.

    Each is computed once for a row, so the next may name the one before as often as it needs.
    """
    value, position = f"value_{place}", f"position_{place}"
    if isinstance(attribute, Integer | Real) and attribute.edges:
        return _search(attribute, place)
    if isinstance(attribute, Real):
        return _equal_width(attribute, place)
    if isinstance(attribute, Integer):
        clamped = _clamped(value, literal(attribute.lower), literal(attribute.upper))
        return [f"(({clamped} - {literal(attribute.lower)}) // {attribute.width})::BIGINT"]
    if isinstance(attribute, Date):
        clamped = _clamped(value, literal(attribute.lower), literal(attribute.upper))
        return [clamped, f"{_period(attribute, position)} - {attribute.period(attribute.lower)}"]
    return []


def cell_expression(attribute: Attribute, place: int) -> str:
    """SQL: the cell, 0..size-1, from value_i and position_i; NULL if the row is left out."""
    value = f"value_{place}"
    if isinstance(attribute, Categorical):
        return value
    missing = or_null(attribute.missing)
    if isinstance(attribute, Boolean):
        return f"coalesce({value}, {missing})"
    return f"CASE WHEN {value} IS NULL THEN {missing} ELSE position_{place} END"


def category_type(place: int) -> str:
    """Name of the SQL enumeration, or table of texts with their cells, that holds an attribute's declared values."""
    return f"category_{place}"


def category_labels(attribute: Categorical, options: ReadOptions) -> list[str]:
    """The enumeration's labels, one for each cell: a declared value as a field's text is prepared.

    Of two values that are then the same text, the first takes it and the second can never occur.
    """
    labels: dict[str, None] = {}
    for value in attribute.cells:
        text = prepared(value, options)
        labels[f"{NOBODYS_TEXT}{len(labels)}" if text in labels else text] = None
    return list(labels)


def edges_table(place: int) -> str:
    """Name of the table of one row whose column `edges` lists the edges between the first and the last bin."""
    return f"edges_{place}"


def or_null(cell: int | None) -> str:
    return "NULL" if cell is None else str(cell)


def known_category(attribute: Categorical, place: int, text: str) -> str:
    """SQL: the cell of the declared value that a text is, NULL if it is none."""
    if attribute.as_numbers:
        known = category_type(place)
        return f"(SELECT cell FROM {known} AS known WHERE known.text = {text})"  # noqa: S608 a fixed name
    return f"enum_code(TRY_CAST({text} AS {category_type(place)}))::BIGINT"


def _category(attribute: Categorical, place: int, text: str) -> str:
    known = known_category(attribute, place, text)
    other, missing = or_null(attribute.other), or_null(attribute.missing)
    return f"CASE WHEN {text} IS NULL THEN {missing} ELSE coalesce({known}, {other}) END"


def _or_plain(plain: str, read: str, field: Field) -> str:
    """The value from the stored plain number where there is one, else from the text."""
    if field.plain is None:
        return read
    return plain if field.all_plain else f"CASE WHEN {field.plain} IS NOT NULL THEN {plain} ELSE {read} END"


def _clamped(value: str, lower: str, upper: str) -> str:
    # least() and greatest() pass over NULL, so NULL would become a bound.
    return f"CASE WHEN {value} < {lower} THEN {lower} WHEN {value} > {upper} THEN {upper} ELSE {value} END"


def _search(attribute: Integer | Real, place: int) -> list[str]:
    """Binary search: how many edges between the first and the last bin are at or below the value.

    A step past the list's end compares with NULL, and stays.
    """
    position = f"position_{place}"
    edges = f"(SELECT edges FROM {edges_table(place)})"  # noqa: S608 a fixed name
    steps = reversed([1 << bit for bit in range((attribute.regular_size - 1).bit_length())])
    passed = (
        f"CASE WHEN value_{place} >= {edges}[{position} + {step}] THEN {step} ELSE 0 END" for step in steps
    )
    return ["0::BIGINT", *(f"{position} + {further}" for further in passed)]


def _equal_width(attribute: Real, place: int) -> list[str]:
    """Divide, then correct by the declared edges: division may be one bin off. The list holds edges 1..bins-1."""
    value, position = f"value_{place}", f"position_{place}"
    lower, last = literal(attribute.lower), attribute.bins - 1
    edges = f"(SELECT edges FROM {edges_table(place)})"  # noqa: S608 a fixed name
    step = literal((attribute.upper - attribute.lower) / attribute.bins)
    near = f"least(floor(({value} - {lower}) / {step})::BIGINT, {last})"
    inside = f"{value} < {literal(attribute.upper)} THEN {near}"
    too_high = f"{position} > 0 AND {value} < {edges}[{position}] THEN -1"
    too_low = f"{position} < {last} AND {value} >= {edges}[{position} + 1] THEN 1"
    return [
        f"CASE WHEN {value} < {lower} THEN 0 WHEN {inside} ELSE {last} END",
        f"{position} + CASE WHEN {too_high} WHEN {too_low} ELSE 0 END",
    ]


def _period(attribute: Date, day: str) -> str:
    """SQL of `Date.period`."""
    days = f"date_diff('day', DATE '0001-01-01', {day})"
    by_step = {
        "day": f"({days} + 1)",
        "week": f"({days} // 7)",
        "month": f"(year({day}) * 12 + month({day}) - 1)",
        "quarter": f"(year({day}) * 4 + quarter({day}) - 1)",
        "year": f"year({day})",
    }
    return by_step[attribute.step]
