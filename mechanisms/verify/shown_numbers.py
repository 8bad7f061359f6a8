"""Numbers as texts show them, and whether one is a quantity that was rounded for it."""

from __future__ import annotations

import datetime as dt
import re
from enum import Enum

import numpy as np

_RAISED = "⁰¹²³⁴⁵⁶⁷⁸⁹"
# A thousands' separator stands before three digits alone; a power of ten is raised.
NUMBER = re.compile(
    r"(?<![\w.])[0-9]{1,3}(?:[,\u202f][0-9]{3})+(?:\.[0-9]+)?"
    rf"|(?<![\w.])[0-9]+(?:\.[0-9]+)?(?:e[+-]?[0-9]+| × 10[{_RAISED}]+)?"
)
_FLAT = str.maketrans(_RAISED, "0123456789")
DATE = re.compile(r"\b[0-9]{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12][0-9]|30|31)(?![0-9])")
# What a text shows: a date is one of them, and not three.
SHOWN = re.compile(f"{DATE.pattern}|{NUMBER.pattern}")
_FIRST = dt.date(1970, 1, 1)
# Of the last digit's step: files have fewer digits than what a text rounds, and errors are rounded twice.
_APART, _ROUNDED = 0.55, 1e-4
# What is above a whole step by however little is rounded up to the next one; a whole one is not.
_NEXT = 1 - 1e-9


class Rounding(Enum):
    """How a text comes to the digits that it shows."""

    NEAREST = "nearest"
    UP = "up"
    DOWN = "down"


def days_of(text: str) -> float | None:
    """The days since 1 January 1970 of a date, as files have them; None of any other text."""
    try:
        return float((dt.date.fromisoformat(text) - _FIRST).days) if DATE.fullmatch(text) else None
    except ValueError:
        return None


def value_of(number: str) -> float:
    """What it says."""
    return float(re.sub("[,\u202f]", "", _in_digits(number)).replace("\u2212", "-"))


def step_of(number: str) -> float:
    """The step of its last digit."""
    mantissa, _e, power = _in_digits(number).partition("e")
    return float(10.0 ** (int(power or 0) - len(mantissa.partition(".")[2])))


def _in_digits(number: str) -> str:
    """With an e before its power of ten."""
    return number.replace(" × 10", "e").translate(_FLAT)


def is_shown(number: str, value: float, rounding: Rounding) -> bool:
    """Whether a number is this value, rounded so; what is below 0 may be cut to 0.

    A date is the day in which a number of days falls, however it is rounded.
    """
    if DATE.fullmatch(number):
        return days_of(number) == float(np.floor(value))
    apart = (value_of(number) - value) / step_of(number)
    within = {
        Rounding.NEAREST: abs(apart) <= _APART,
        Rounding.UP: -_ROUNDED <= apart < _NEXT,
        Rounding.DOWN: -_ROUNDED <= -apart < _NEXT,
    }
    return within[rounding] or (value < 0 and not value_of(number))


def are_shown(number: str, values: np.ndarray) -> np.ndarray:
    """Which of the values the number shows, without sign: rounded, or, as margins are, rounded up; or its day."""
    if DATE.fullmatch(number):
        return are_days(number, values)
    apart = (value_of(number) - np.abs(values)) / step_of(number)
    return np.asarray((np.abs(apart) <= _APART) | ((apart >= -_ROUNDED) & (apart < _NEXT)))


def significant(values: np.ndarray) -> np.ndarray:
    """The values as a page that shows three significant digits of them rounds those of more than three: 1,230."""
    large = np.isfinite(values) & (np.abs(values) >= 1000)
    step = 10.0 ** (np.floor(np.log10(np.where(large, np.abs(values), 1000.0))) - 2)
    return np.asarray(np.where(large, np.round(values / step) * step, values))


def are_days(date: str, values: np.ndarray) -> np.ndarray:
    """Which of the values, in days since 1 January 1970, fall on a date; none where it is no day of a calendar."""
    day = days_of(date)
    return np.zeros(len(values), bool) if day is None else np.asarray(np.floor(values) == day)
