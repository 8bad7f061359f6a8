"""SQL expressions that put a column's values into the cells of its declared attribute.

They keep what `mechanisms.domain` documents: outside the bounds goes to the nearest bound or to "Other";
missing, unreadable and NaN go to `attribute.missing`; infinities go to the bounds. A text column that holds
numbers or ISO dates is read as such. A real value in an integer attribute is rounded down, so that 17.9
years is in the bin of 17 as it is in own edges (17 <= x < 18). The time of day of a date is ignored.
"""

from __future__ import annotations

from dpportal.datasets.rawdata.engine import literal
from dpportal.datasets.rawdata.fingerprint import canonical_text
from dpportal.datasets.rawdata.kinds import CLOCK, DAY, NOT_A_NUMBER
from mechanisms.domain import Attribute, Boolean, Categorical, Date, Integer, Real

NUMBER = f"[-+]?(?:[0-9]+(?:[.][0-9]*)?|[.][0-9]+)(?:[eE][-+]?[0-9]+)?|{NOT_A_NUMBER}"
TRUE_WORDS = ("true", "t", "yes", "y", "1")
FALSE_WORDS = ("false", "f", "no", "n", "0")
FURTHEST = 2.0**62


def value_expression(attribute: Attribute, place: int, column: str, sql_type: str) -> str:
    """SQL: a column's value as the attribute reads it, NULL if missing, unreadable or NaN.

    For a categorical attribute already its cell. column: a quoted identifier; place: of the attribute, see
    `category_type`.
    """
    if isinstance(attribute, Categorical):
        return _category(attribute, place, column, sql_type)
    if isinstance(attribute, Boolean):
        return _truth(column, sql_type)
    if isinstance(attribute, Integer):
        return _whole(column, sql_type)
    if isinstance(attribute, Real):
        return _number(column, sql_type)
    if isinstance(attribute, Date):
        return _day(column, sql_type)
    raise TypeError(f"there is no way to count attributes of kind {attribute.kind!r}")


def position_layers(attribute: Attribute, place: int) -> list[str]:
    """SQL: expressions that in turn define and then refine position_i, the bin of a value_i that is not NULL.

    Each is computed once for a row, so the next may name the one before as often as it needs.
    """
    value, position = f"value_{place}", f"position_{place}"
    if isinstance(attribute, Integer | Real) and attribute.edges:
        return _search(attribute, place)
    if isinstance(attribute, Real):
        return _equal_width(attribute, value, position)
    if isinstance(attribute, Integer):
        clamped = _clamped(value, literal(attribute.lower), literal(attribute.upper))
        return [f"(({clamped} - {literal(attribute.lower)}) // {attribute.width})::BIGINT"]
    if isinstance(attribute, Date):
        clamped = _clamped(value, literal(attribute.lower), literal(attribute.upper))
        return [clamped, f"{_period(attribute, position)} - {attribute.period(attribute.lower)}"]
    return []


def cell_expression(attribute: Attribute, place: int) -> str:
    """SQL: the cell, 0..size-1, from value_i and position_i."""
    value = f"value_{place}"
    if isinstance(attribute, Categorical):
        return value
    if isinstance(attribute, Boolean):
        return f"coalesce({value}, {attribute.missing})"
    return f"CASE WHEN {value} IS NULL THEN {attribute.missing} ELSE position_{place} END"


def category_type(place: int) -> str:
    """Name of the SQL enumeration that holds the declared values of the attribute at a place."""
    return f"category_{place}"


def edges_table(place: int) -> str:
    """Name of the table of one row whose column `edges` lists the edges between the first and the last bin."""
    return f"edges_{place}"


def _category(attribute: Categorical, place: int, column: str, sql_type: str) -> str:
    text = canonical_text(column, sql_type)
    known = f"enum_code(TRY_CAST({text} AS {category_type(place)}))::BIGINT"
    missing = f"{column} IS NULL" + (f" OR isnan({column})" if sql_type == "DOUBLE" else "")
    return f"CASE WHEN {missing} THEN {attribute.missing} ELSE coalesce({known}, {attribute.other}) END"


def _truth(column: str, sql_type: str) -> str:
    if sql_type == "BOOLEAN":
        return f"{column}::BIGINT"
    if sql_type in ("BIGINT", "DOUBLE"):
        return f"CASE WHEN {column} = 1 THEN 1 WHEN {column} = 0 THEN 0 END"
    if sql_type == "VARCHAR":
        word = f"lower(trim({column}))"
        return f"CASE WHEN {word} IN {TRUE_WORDS} THEN 1 WHEN {word} IN {FALSE_WORDS} THEN 0 END"
    return "NULL"


def _number(column: str, sql_type: str) -> str:
    if sql_type == "DOUBLE":
        return f"CASE WHEN NOT isnan({column}) THEN {column} END"
    if sql_type in ("BIGINT", "BOOLEAN"):
        return f"{column}::DOUBLE"
    if sql_type == "VARCHAR":
        text = f"trim({column})"
        read = f"CASE WHEN regexp_full_match({text}, {literal(NUMBER)}) THEN TRY_CAST({text} AS DOUBLE) END"
        return f"CASE WHEN NOT isnan({read}) THEN {read} END"
    return "NULL::DOUBLE"


def _whole(column: str, sql_type: str) -> str:
    if sql_type in ("BIGINT", "BOOLEAN"):
        return f"{column}::BIGINT"
    number = _number(column, sql_type)
    # Clamped to what 64 bits hold; the bounds of a domain lie well within.
    rounded = f"{_clamped(f'floor({number})', literal(-FURTHEST), literal(FURTHEST))}::BIGINT"
    if sql_type != "VARCHAR":
        return rounded
    exact = f"regexp_full_match(trim({column}), '[-+]?[0-9]{{1,18}}')"
    return f"CASE WHEN {exact} THEN TRY_CAST(trim({column}) AS BIGINT) ELSE {rounded} END"


def _day(column: str, sql_type: str) -> str:
    if sql_type == "DATE":
        return column
    if sql_type == "VARCHAR":
        text = f"trim({column})"
        pattern = literal(f"{DAY}(?:{CLOCK})?")
        return f"CASE WHEN regexp_full_match({text}, {pattern}) THEN TRY_CAST(left({text}, 10) AS DATE) END"
    return "NULL::DATE"


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


def _equal_width(attribute: Real, value: str, position: str) -> list[str]:
    """Divide, then correct by the edges that `Real.bounds` has in floats: division may be one bin off."""
    lower, last = literal(attribute.lower), attribute.bins - 1
    step = literal((attribute.upper - attribute.lower) / attribute.bins)
    near = f"least(floor(({value} - {lower}) / {step})::BIGINT, {last})"
    inside = f"{value} < {literal(attribute.upper)} THEN {near}"
    too_high = f"{position} > 0 AND {value} < {lower} + {position} * {step} THEN -1"
    too_low = f"{position} < {last} AND {value} >= {lower} + ({position} + 1) * {step} THEN 1"
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
