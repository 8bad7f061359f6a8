"""The meaning of one field in plain Python: what `pushdown.fields` says in SQL, for proposals and for the tests."""

from __future__ import annotations

import datetime as dt
import math
import re
import unicodedata
from dataclasses import replace

from dpportal.tables.meaning.dates import FIRST_OF_1900S, MONTHS, date_pattern
from dpportal.tables.meaning.number_syntax import (
    EXACT_INTEGER,
    FALSE_WORDS,
    FURTHEST,
    INFINITE,
    LONGEST_NUMBER,
    NOBODY,
    TRUE_WORDS,
    before_unit,
    number_pattern,
    prepared,
)
from dpportal.tables.meaning.parse_options import ReadOptions

PLAINEST = ReadOptions()


def text_of(field: str | None, options: ReadOptions) -> str | None:
    """The text that counts, None if it means that there is no value."""
    text = prepared(field or "", options)
    return None if text == "" or text in [prepared(word, options) for word in options.missing] else text


def number_of(text: str, options: ReadOptions) -> float | None:
    """The number that a field's text says; None if it is none."""
    if re.fullmatch(number_pattern(options), text) and len(text) <= LONGEST_NUMBER:
        return float(_plain(text, options))
    return float(text) if re.fullmatch(INFINITE, text) else None


def integer_of(text: str, options: ReadOptions) -> int | None:
    """The whole number that it says, rounded down; None if it is no number."""
    plain = _plain(text, options)
    if re.fullmatch(number_pattern(options), text) and re.fullmatch(EXACT_INTEGER, plain):
        return int(plain)
    number = number_of(text, options)
    return None if number is None else math.floor(max(-FURTHEST, min(FURTHEST, number)))


def truth_of(text: str, options: ReadOptions) -> bool | None:
    """What it says as yes or no; None if neither."""
    if text.lower() in TRUE_WORDS or text.lower() in FALSE_WORDS:
        return text.lower() in TRUE_WORDS
    number = number_of(text, options)
    return bool(number) if number in (0, 1) else None


def day_of(text: str, options: ReadOptions) -> dt.date | None:
    """The day that it says in the declared format; None if it is none."""
    form = date_pattern(str(options.date_format))
    match = re.fullmatch(form.pattern, text)
    if match is None:
        return None
    year, month = match[form.year], match[form.month]
    if "y" in form.letters:
        year = ("19" if int(year) >= FIRST_OF_1900S else "20") + year
    number = int(month) if "m" in form.letters else MONTHS.index(month[:3].lower()) + 1
    try:
        return dt.date(int(year), number, int(match[form.day]))
    except ValueError:
        return None


def person_of(field: str | None, *, ignore_case: bool, options: ReadOptions = PLAINEST) -> str | None:
    """The identifier, None if there is none: an empty field, a word that is declared to mean that, or of NOBODY."""
    text = text_of(field, replace(options, strip=True, missing=(*options.missing, *NOBODY)))
    return None if text is None else _without_capitals(text) if ignore_case else text


def _without_capitals(text: str) -> str:
    """As the engine does it: letter by letter, where a letter's other form is a single one."""
    capitals = unicodedata.normalize("NFC", "".join(map(capital, text)))
    return unicodedata.normalize("NFC", "".join(map(small, capitals)))


def capital(letter: str) -> str:
    """The capital of a letter, if that is one letter."""
    other = letter.upper()
    return other if len(other) == 1 else letter


def small(letter: str) -> str:
    """The small form of a letter, as one letter."""
    return letter.lower()[0]


def without_unit(text: str, options: ReadOptions) -> str:
    """What stands before a declared unit; a text that is no number stays as it is."""
    match = re.fullmatch(before_unit(options), text) if options.units else None
    return match[1] if match else text


def without_thousands(text: str, options: ReadOptions) -> str:
    """A number's text without the marks between thousands."""
    for mark in options.thousands_marks:
        text = text.replace(mark, "")
    return text


def _plain(text: str, options: ReadOptions) -> str:
    plain = without_unit(text, options)
    plain = without_thousands(plain, options)
    return plain.replace(",", ".") if options.decimal == "," else plain
