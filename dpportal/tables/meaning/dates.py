"""Declared date formats as regular expressions, in the common part of Python's, RE2's, Java's and POSIX's syntax."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

CLOCK = "[T ][0-9]{2}:[0-9]{2}(?::[0-9]{2}(?:[.][0-9]{1,9})?)?(?:Z|[-+][0-9]{2}:?[0-9]{2})?"
MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
FULL_MONTHS = (
    *("january", "february", "march", "april", "may", "june"),
    *("july", "august", "september", "october", "november", "december"),
)
DAY_NUMBER, MONTH_NUMBER = "(0?[1-9]|[12][0-9]|3[01])", "(0?[1-9]|1[0-2])"
LETTERS = {
    "d": DAY_NUMBER,
    "m": MONTH_NUMBER,
    "Y": "([1-9][0-9]{3})",
    "y": "([0-9]{2})",
    "b": f"({'|'.join(''.join(f'[{c}{c.upper()}]' for c in name) for name in MONTHS)})",
    "B": f"({'|'.join(''.join(f'[{c}{c.upper()}]' for c in name) for name in FULL_MONTHS)})",
    "H": "[0-9]{1,2}",
    "M": "[0-9]{1,2}",
    "S": "[0-9]{1,2}",
    "f": "[0-9]{1,9}",
    "%": "%",
}
PARTS = {"d": "day", "m": "month", "b": "month", "B": "month", "Y": "year", "y": "year"}
# Two digits of a year: 69 to 99 are of the 1900s, 00 to 68 of the 2000s, as POSIX has it.
FIRST_OF_1900S = 69
MAX_FORMAT = 60


class DateFormatError(ValueError):
    """A format that does not say day, month and year once each; the message says what to write."""


@dataclass(frozen=True)
class DatePattern:
    """A whole text's pattern, and which of its groups holds day, month and year.

    letters: of month and year, which decide how their group is read.
    """

    pattern: str
    day: int
    month: int
    year: int
    letters: frozenset[str]


@lru_cache
def date_pattern(date_format: str) -> DatePattern:
    """The pattern of a declared format. Raises DateFormatError."""
    named = {
        "iso": DatePattern(
            f"([1-9][0-9]{{3}})-(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|3[01])(?:{CLOCK})?",
            3,
            2,
            1,
            frozenset("mY"),
        ),
        "day-first": DatePattern(_numbers(DAY_NUMBER, MONTH_NUMBER), 1, 2, 3, frozenset("mY")),
        "month-first": DatePattern(_numbers(MONTH_NUMBER, DAY_NUMBER), 2, 1, 3, frozenset("mY")),
    }
    return named.get(date_format) or _own_pattern(date_format)


def _numbers(first: str, second: str) -> str:
    return f"{first}[./-]{second}[./-]([1-9][0-9]{{3}})(?:{CLOCK})?"


def _own_pattern(date_format: str) -> DatePattern:
    pattern, letters = "", set()
    groups: dict[str, int] = {}
    place = 0
    while place < len(date_format):
        character = date_format[place]
        place += 1
        if character != "%":
            pattern += _quoted(character)
            continue
        letter = date_format[place : place + 1]
        place += 1
        if letter not in LETTERS or PARTS.get(letter) in groups:
            raise _wrong_format()
        pattern += LETTERS[letter]
        if letter in PARTS:
            groups[PARTS[letter]] = len(groups) + 1
            letters.add(letter)
    if len(groups) != 3 or len(date_format) > MAX_FORMAT:
        raise _wrong_format()
    return DatePattern(pattern, groups["day"], groups["month"], groups["year"], frozenset(letters))


def _quoted(character: str) -> str:
    """A character as itself in every dialect of regular expressions."""
    if character.isalnum() or character == " " or ord(character) > 127:
        return character
    if not character.isprintable():
        raise _wrong_format()
    return f"\\{character}" if character in "\\^[]" else f"[{character}]"


def _wrong_format() -> DateFormatError:
    return DateFormatError(
        "Write the format with %d, %m (or %b, %B for English names) and %Y (or %y) once each, and if there is a time "
        "%H, %M and %S; for example %d.%m.%Y."
    )
