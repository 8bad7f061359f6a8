"""One cell of Table 1, read by its form: which of its numbers is an estimate, which a margin or an end, and of what.

A cell has the estimates of its statistics as a pattern, each with its margin: “50 [48 to 52] (25 [22 to 28], 75 ± 4)”.
So each number stands for one thing, and is compared with that alone.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import cache
from typing import NamedTuple

import numpy as np

from mechanisms.verify.shown_numbers import DATE, Rounding, days_of, is_shown, value_of

NUMBER = f"(?:{DATE.pattern}|[-\u2212+]?[0-9][0-9,\u202f]*(?:\\.[0-9]+)?)"
# How several numbers stand in one cell, by how many there are; a range has two as a number with a share has.
PATTERNS = {1: ("{}",), 2: ("{} ({})", "{}, {}"), 3: ("{} ({}, {})",)}
_BEYOND = " or less| or more| or earlier| or later"
_UNIT = "(?: %| days?)?"
_VALUE = f"(?:–|(?P<value#>{NUMBER})(?P<limitvalue#>{_BEYOND})?{_UNIT})"
_MARGIN = (
    f"(?:–|± (?P<margin#>{NUMBER}){_UNIT}|± less than (?P<step#>{NUMBER}){_UNIT}"
    f"|\\[(?P<low#>{NUMBER})(?P<limitlow#>{_BEYOND})? to (?P<high#>{NUMBER})(?P<limithigh#>{_BEYOND})?{_UNIT}\\])"
)
_SHARE = f"(?P<low0>{NUMBER}) to (?P<high0>{NUMBER}) %"
# By a name in the form: which of estimate, lower and upper end it is, and how it is rounded.
_ROUNDED = {"value": Rounding.NEAREST, "low": Rounding.DOWN, "high": Rounding.UP, "margin": Rounding.UP}
# Of an estimate and the ends of its interval, which one stands beside a limit.
_PLACES = {"value": 0, "low": 1, "high": 2}


class CellEnds(NamedTuple):
    """Of a column's cells, from its declaration: the first one's largest value, the last one's least, a value's step.

    Of a quantile beyond one of the first two no more is known, and of one between them it is known to its step.
    """

    first: float
    last: float
    step: float

    def is_stated(self, number: str, beyond: str, value: float) -> bool:
        """Whether the number is the end that the value lies at or beyond; beyond: the words after it."""
        is_low = beyond.strip() in ("or less", "or earlier")
        end = self.first if is_low else self.last
        return _read(number) == end and (value <= end if is_low else value >= end)


def _read(number: str) -> float:
    """Of a date its days since 1970."""
    day = days_of(number)
    return value_of(number) if day is None else day


def strange(
    cell: str, lines: np.ndarray, scales: Sequence[float], ends: CellEnds | None = None
) -> list[str] | None:
    """The numbers that are not those of their place; None where the cell has no form that is known.

    lines: (parts, 3) estimate and ends of the interval of each part, in the order of the cell; scales: 100 of a share;
    ends: of quantiles, else None.
    """
    if len(lines) == 1 and (share := re.fullmatch(_SHARE, cell)):
        return [text for name, text in _named(share) if not _is_of(text, name, 100 * lines[0])]
    for form in _forms(len(lines)):
        if match := form.fullmatch(cell):
            return [
                text
                for name, text in _named(match)
                if not _is_own(text, name, match, scales[int(name[-1])] * lines[int(name[-1])], ends)
            ]
    return None


def _named(match: re.Match[str]) -> Iterator[tuple[str, str]]:
    return ((name, text) for name, text in match.groupdict().items() if text and not name.startswith("limit"))


def _is_own(text: str, name: str, match: re.Match[str], line: np.ndarray, ends: CellEnds | None) -> bool:
    """Whether a number is what its place in the form says."""
    kind, place = name[:-1], name[-1]
    if kind == "step":
        return ends is not None and value_of(text) == ends.step and bool(line[1] == line[2])
    if beyond := match.groupdict().get(f"limit{kind}{place}"):
        return ends is not None and ends.is_stated(text, beyond, float(line[_PLACES[kind]]))
    return _is_of(text, name, line)


def _is_of(text: str, name: str, line: np.ndarray) -> bool:
    estimate, low, high = line
    kind = name[:-1]
    values = {"value": estimate, "low": low, "high": high, "margin": max(estimate - low, high - estimate)}
    return is_shown(text.removeprefix("+"), float(values[kind]), _ROUNDED[kind])


@cache
def _forms(parts: int) -> tuple[re.Pattern[str], ...]:
    return tuple(re.compile(_filled(pattern, parts)) for pattern in PATTERNS.get(parts, ()))


def _filled(pattern: str, parts: int) -> str:
    texts = [re.escape(text) for text in pattern.split("{}")]
    own = [f"{_VALUE}(?: {_MARGIN})?".replace("#", str(place)) for place in range(parts)]
    return "".join(text + each for text, each in zip(texts, [*own, ""], strict=True))
