"""Which types of column have a rule for what their values mean, and how a value of each is written as text.

The text is that of `parquet_text`, so that a value means the same here as in an uploaded file. A type without a rule is
refused: an array or an interval has many texts, and guessing one would count something else than a file holds.
"""

from __future__ import annotations

import datetime as dt
import math
import re
from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction

import numpy as np

from dpportal.tables.facts import ColumnKind
from mechanisms.domain import Attribute, Date
from mechanisms.number_text import number_written

INTEGRAL_DOUBLES = 2.0**53
LONGEST_INTEGER = 19
Value = str | int | float | bool | Decimal | dt.date | dt.datetime


@dataclass(frozen=True)
class ColumnType:
    """A type with a rule.

    name: as PostgreSQL calls it. kind: what a column of it is proposed as. value_of: the value whose text is the given
    one, None if no value has that text; None for a type that is text.
    """

    name: str
    kind: ColumnKind
    value_of: Callable[[str], Value | None] | None = None

    @property
    def is_text(self) -> bool:
        return self.value_of is None


# A field of an upload: text whose line ends are newlines already.
STORED = ColumnType("stored", "text")


def _integer(text: str) -> int | None:
    plain = re.fullmatch(f"0|-?[1-9][0-9]{{0,{LONGEST_INTEGER - 1}}}", text)
    return int(text) if plain and _fits(int(text)) else None


def _fits(number: int) -> bool:
    return -(2**63) <= number < 2**63


def _decimal(text: str) -> Decimal | float | None:
    if text in NOT_FINITE:
        return float(text)
    plain = re.fullmatch(r"0|-?[1-9][0-9]*|-?(?:0|[1-9][0-9]*)[.][0-9]*[1-9]", text)
    return Decimal(text) if plain else None


def _double(text: str) -> float | None:
    return _float(text, lambda number: np.format_float_scientific(number, trim="-"), float)


def _single(text: str) -> float | None:
    return _float(
        text,
        lambda number: np.format_float_scientific(np.float32(number), trim="-"),
        lambda digits: float(np.float32(digits)),
    )


def _float(text: str, digits: Callable[[float], str], narrowed: Callable[[str], float]) -> float | None:
    """The float of which this is the text: whole ones below 2^53 without a point, others by their shortest digits."""
    if text in NOT_FINITE:
        return float(text)
    if not re.fullmatch(r"-?[0-9]+(?:[.][0-9]+)?(?:e[-+]?[0-9]+)?", text):
        return None
    with np.errstate(over="ignore"):
        number = narrowed(text)
    if not math.isfinite(number):
        return None
    if number.is_integer() and abs(number) < INTEGRAL_DOUBLES:
        return number if text == str(int(number)) else None
    return number if text == _shortest(digits(number)) else None


def _shortest(scientific: str) -> str:
    """Shortest digits as Arrow writes them: a point up to 10^15 and down to 10^-5, else an exponent."""
    mantissa, _e, exponent = scientific.partition("e")
    power = int(exponent)
    if -5 <= power < 15:
        return f"{Decimal(mantissa).scaleb(power):f}"
    return f"{mantissa}e{power:+d}"


def _day(text: str) -> dt.date | str | None:
    """Years before 1 and beyond 9999 have no text that could be declared."""
    if text in ENDLESS:
        return text
    try:
        return dt.date.fromisoformat(text) if re.fullmatch(DAY, text) else None
    except ValueError:
        return None


def _moment(text: str) -> dt.datetime | str | None:
    """A day alone is its midnight, which has no other text."""
    if text in ENDLESS:
        return text
    if not re.fullmatch(rf"{DAY}(?: (?!00:00:00$){CLOCK})?", text):
        return None
    try:
        return dt.datetime.fromisoformat(text).replace(tzinfo=None)
    except ValueError:
        return None


ENDLESS = ("infinity", "-infinity")
NOT_FINITE = ("nan", "inf", "-inf")
DAY = "[0-9]{4}-[0-9]{2}-[0-9]{2}"
CLOCK = "[0-9]{2}:[0-9]{2}:[0-9]{2}(?:[.][0-9]{0,5}[1-9])?"
TYPES = {
    declared.name: declared
    for declared in (
        *(ColumnType(name, "text") for name in ("text", "varchar", "bpchar", "enum", "uuid")),
        *(ColumnType(name, "integer", _integer) for name in ("int2", "int4", "int8")),
        ColumnType("numeric", "real", _decimal),
        ColumnType("float4", "real", _single),
        ColumnType("float8", "real", _double),
        ColumnType("bool", "boolean", {"true": True, "false": False}.get),
        ColumnType("date", "date", _day),
        *(ColumnType(name, "date", _moment) for name in ("timestamp", "timestamptz")),
    )
}


def not_exact(type_name: str, attribute: Attribute) -> str:
    """Why no engine says exactly what a column of a type means to an attribute; empty where it does."""
    if isinstance(attribute, Date) and type_name in ("numeric", "float4", "float8"):
        return (
            "A number with a fraction or a point has no one text, so it is not read as a date. "
            "Ask an administrator to offer the column as a whole number, a text or a date."
        )
    return ""


def number_of(declared: ColumnType, number: Fraction) -> Value | None:
    """The value of a type of numbers that is written as exactly this number, None if there is none.

    A float is the number that its text writes, not the one that its bits hold.
    """
    if declared.name in ("int2", "int4", "int8"):
        return int(number) if number.denominator == 1 and _fits(int(number)) else None
    if declared.name == "numeric":
        value = _exact_decimal(number)
        # Its text is plain, and a plain text of many digits is compared with no number.
        return value if value is not None and number_written(f"{value:f}") is not None else None
    if declared.name not in ("float4", "float8"):
        return None
    try:
        nearest = float(np.float32(float(number))) if declared.name == "float4" else float(number)
    except OverflowError:
        return None
    return nearest if math.isfinite(nearest) and written_by(declared, nearest) == number else None


def written_by(declared: ColumnType, number: float) -> Fraction:
    """The number that a float's text writes."""
    if number.is_integer() and abs(number) < INTEGRAL_DOUBLES:
        return Fraction(number)
    stored = np.float32(number) if declared.name == "float4" else np.float64(number)
    return Fraction(np.format_float_scientific(stored, trim="-"))


def _exact_decimal(number: Fraction) -> Decimal | None:
    """A number with finitely many digits; every declared one has."""
    tens = 0
    rest = number.denominator
    while rest % 10 == 0:
        rest, tens = rest // 10, tens + 1
    for factor in (2, 5):
        while rest % factor == 0:
            rest, tens = rest // factor, tens + 1
    return Decimal(f"{int(number * 10**tens)}e-{tens}") if rest == 1 else None
