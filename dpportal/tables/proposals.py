"""Proposals to the curator from a table's first rows: each column's kind, undeclared marks, words for “missing”.

Counting never uses a kind. Options become declarations once the curator has seen them beside the first rows.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace

from dpportal.tables.facts import Column, ColumnKind, Meaning
from dpportal.tables.meaning import python_semantics
from dpportal.tables.meaning.identifiers import looks_like_identifier
from dpportal.tables.meaning.missing_words import missing_words
from dpportal.tables.meaning.number_syntax import FALSE_WORDS, TRUE_WORDS
from dpportal.tables.meaning.parse_options import BLANKS, UNIT, ReadOptions

MOST_TEXTS = 2000
# A slip or a word for missing among them leaves a column what it is.
MOST = 0.95
# The share of a column's texts that look like numbers, whatever their marks, from which on these propose the marks.
MAINLY = 0.6
LIKE_NUMBER = "[-+]?[0-9](?:[0-9.,'’ \u00a0\u202f]*[0-9])?[.,]?"
# A number, spaces, and what stands behind them.
WITH_UNIT = re.compile(rf"({LIKE_NUMBER})\s*({UNIT})")
WORDS = {*TRUE_WORDS, *FALSE_WORDS} - {"0", "1", "t", "f", "y", "n"}
CODE = "0[0-9]+|[-+]?[0-9]{19,}"
COMMA = "-?(?:[0-9]+|[0-9]{1,3}(?:[.'’ \u00a0\u202f][0-9]{3})+),[0-9]+"
APOSTROPHES = ("'", "’")
# A single group of three could as well be three decimals, so it proposes nothing.
GROUPED = {
    ",": "-?[0-9]{1,3}(?:(?:,[0-9]{3})+[.][0-9]+|(?:,[0-9]{3}){2,})",
    ".": "-?[0-9]{1,3}(?:(?:[.][0-9]{3})+,[0-9]+|(?:[.][0-9]{3}){2,})",
    # An apostrophe within a number can be nothing else.
    **{mark: f"-?[0-9]{{1,3}}(?:{mark}[0-9]{{3}})+(?:[.,][0-9]+)?" for mark in APOSTROPHES},
    # Nor a blank, but within a number that is dialled, which begins with 0.
    " ": f"-?[1-9][0-9]{{0,2}}(?:[{''.join(BLANKS)}][0-9]{{3}})+(?:[.,][0-9]+)?",
}
OTHER_MARKS = (
    (",", ".", "a decimal comma"),
    (".", ",", "a comma between thousands"),
    *((decimal, mark, "an apostrophe between thousands") for mark in APOSTROPHES for decimal in ".,"),
)
# With two digits of a year, and one mark throughout.
SHORT_DATE = r"([0-9]{1,2})([./-])([0-9]{1,2})\2[0-9]{2}"
NUMERIC_DATE = "([0-9]{1,2})[./-]([0-9]{1,2})[./-][0-9]{4}"
# As people write days, whichever format is declared.
ANY_DATE = "[0-9]{1,2}[./-][0-9]{1,2}[./-](?:[0-9]{2}|[0-9]{4})|[0-9]{4}-[0-9]{2}-[0-9]{2}"
TextColumns = Sequence[Sequence[str | None]]


def proposed_options(columns: TextColumns, options: ReadOptions) -> ReadOptions:
    """The options with units, decimal, thousands and date format filled in where nobody declared them."""
    seen = [_texts(column, replace(options, decimal=".", thousands="")) for column in columns]
    units = options.units
    if units is None:
        units = tuple(sorted({unit for column in seen if (unit := _unit(column))}))
    seen = [[_without_unit(text, units) for text in column] for column in seen]
    numbers = [_like_numbers(column) for column in seen]
    decimal = options.decimal or _decimal(seen, numbers, options)
    thousands = options.thousands
    if thousands is None:
        other = "." if decimal == "," else ","
        marks = (other, *APOSTROPHES, " ")
        thousands = next(
            (m for m in marks if any(_any_all(column, GROUPED[m], decimal, m) for column in numbers)), ""
        )
    dates = options.date_format or _date_format(seen)
    return replace(options, decimal=decimal, thousands=thousands, date_format=dates, units=units)


def _unit(texts: list[str]) -> str:
    """The one text that stands behind numbers of which a column is nearly all; else nothing."""
    matches = [WITH_UNIT.fullmatch(text) for text in texts]
    behind = {match[2] for match in matches if match}
    fits = _most_hold(
        match or re.fullmatch(LIKE_NUMBER, text) for match, text in zip(matches, texts, strict=True)
    )
    return behind.pop() if fits and len(behind) == 1 else ""


def _without_unit(text: str, units: Sequence[str]) -> str:
    match = WITH_UNIT.fullmatch(text)
    return match[1] if match and match[2] in units else text


def proposed_columns(names: Sequence[str], columns: TextColumns, options: ReadOptions) -> tuple[Column, ...]:
    """Each column with the kind that nearly all its first texts can be read as."""
    return tuple(
        _column(name, _texts(column, options), options) for name, column in zip(names, columns, strict=True)
    )


def _column(name: str, texts: list[str], options: ReadOptions) -> Column:
    kind, remark = _kind(texts, options)
    identifies = kind in ("text", "integer") and looks_like_identifier(name, texts)
    repeats = len(set(texts)) < len(texts) if texts else None
    missing = missing_words(texts)
    truths = written_truths(text for text in texts if text not in missing)
    return Column(
        name, kind, remark, identifies, missing, repeats, truths, len(texts), _unread(texts, options)
    )


def _unread(texts: list[str], options: ReadOptions) -> dict[Meaning, int]:
    """How many texts mean nothing as a number, a date, and yes or no."""
    meanings: dict[Meaning, Callable[[str, ReadOptions], object]] = {
        "number": python_semantics.number_of,
        "date": python_semantics.day_of,
        "truth": python_semantics.truth_of,
    }
    counted = Counter(texts)
    return {
        meaning: sum(times for text, times in counted.items() if meaning_of(text, options) is None)
        for meaning, meaning_of in meanings.items()
    }


def written_truths(texts: Iterable[str]) -> tuple[str, ...]:
    """How texts write no and yes, where they hold both and nothing else; else nothing."""
    seen = sorted({text.strip() for text in texts}, key=lambda text: text.casefold() in TRUE_WORDS)
    if len(seen) != 2 or seen[0].casefold() not in FALSE_WORDS or seen[1].casefold() not in TRUE_WORDS:
        return ()
    return tuple(seen)


def _most_hold(tests: Iterable[object]) -> bool:
    fitting = list(map(bool, tests))
    return sum(fitting) >= MOST * len(fitting)


def _texts(column: Sequence[str | None], options: ReadOptions) -> list[str]:
    read = (python_semantics.text_of(field, options) for field in column[:MOST_TEXTS])
    return [text for text in read if text is not None]


def _kind(texts: list[str], options: ReadOptions) -> tuple[ColumnKind, str]:
    if not texts:
        return "text", ""
    if _most_hold(text.lower() in WORDS for text in texts):
        return "boolean", ""
    if (kind := _number_kind(texts, options)) is not None:
        return kind, _remark_on_unit(texts, options)
    if _most_hold(python_semantics.day_of(text, options) for text in texts):
        return "date", _remark_on_dates(texts, options)
    return "text", _remark(texts, options)


def _number_kind(texts: list[str], options: ReadOptions) -> ColumnKind | None:
    """Whole or real numbers; none if a text is no number or looks like a code. NaN alone makes no number."""
    numbers = [text for text in texts if text.lower().lstrip("+-") != "nan"]
    if not numbers or any(
        re.fullmatch(CODE, python_semantics.without_thousands(text, options)) for text in numbers
    ):
        return None
    if not _most_hold(python_semantics.number_of(text, options) is not None for text in numbers):
        return None
    digits, bare = (
        f"[-+]?[0-9{''.join(options.thousands_marks)}]+",
        (python_semantics.without_unit(text, options) for text in numbers),
    )
    all_integers = len(numbers) == len(texts) and _most_hold(re.fullmatch(digits, text) for text in bare)
    return "integer" if all_integers else "real"


def _remark_on_unit(texts: list[str], options: ReadOptions) -> str:
    """That a unit is left out, where the first rows have one."""
    unit = next((unit for unit in options.units or () if any(text.endswith(unit) for text in texts)), "")
    if not unit:
        return ""
    return f"Numbers with “{unit}” behind them are read without it. Change it on the page “How the file is read”."


def _remark(texts: list[str], options: ReadOptions) -> str:
    """A hint for a text column whose first rows would be numbers or dates if they were read otherwise."""
    numbers = _like_numbers(texts)
    is_read = _most_hold(python_semantics.number_of(text, options) is not None for text in numbers)
    for decimal, thousands, words in OTHER_MARKS if numbers and not is_read else ():
        other = replace(options, decimal=decimal, thousands=thousands)
        if _most_hold(python_semantics.number_of(text, other) is not None for text in numbers):
            return f"Looks like numbers with {words}. Say so on the page “How the file is read” if they are."
    for form in ("iso", "day-first", "month-first"):
        if all(python_semantics.day_of(text, replace(options, date_format=form)) for text in texts):
            return "Looks like dates in another format. Choose it on the page “How the file is read” if they are."
    if _are_days(texts):
        return "Looks like dates in several formats. One is read; dates in the others count as unreadable."
    return ""


def _remark_on_dates(texts: list[str], options: ReadOptions) -> str:
    """A hint for a column of dates of which a few are written otherwise."""
    unread = [text for text in texts if python_semantics.day_of(text, options) is None]
    if not any(re.fullmatch(ANY_DATE, text) for text in unread):
        return ""
    return (
        "Some dates are in another format than the rest and count as unreadable. To count them, write all of them "
        "alike in the file."
    )


def _are_days(texts: Sequence[str]) -> bool:
    return bool(texts) and _most_hold(re.fullmatch(ANY_DATE, text) for text in texts)


def _like_numbers(texts: list[str]) -> list[str]:
    """Those that look like numbers, where most do: what else stands among them says nothing of their marks."""
    numbers = [text for text in texts if re.fullmatch(LIKE_NUMBER, text)]
    return numbers if len(numbers) >= MAINLY * len(texts) else []


def _decimal(columns: list[list[str]], numbers: list[list[str]], options: ReadOptions) -> str:
    """A comma, if the first rows of a column have nothing but numbers with one.

    numbers: of each column the texts that look like numbers. Among others they do where no column has points.
    """
    if options.thousands == ",":
        return "."
    commas = any(map(_have_commas, columns)) or (
        any(map(_have_commas, numbers)) and not any(map(_have_points, numbers))
    )
    return "," if commas or options.thousands == "." else "."


def _have_commas(texts: list[str]) -> bool:
    """Whether texts are numbers, of which some can only have a decimal comma."""
    return _most_hold(re.fullmatch(f"{COMMA}|-?[0-9]+", text) for text in texts) and any(
        re.fullmatch("-?[0-9]+,(?:[0-9]{1,2}|[0-9]{4,})", text)
        or any(re.fullmatch(GROUPED[mark], text) and "," in text for mark in (".", *APOSTROPHES))
        for text in texts
    )


def _have_points(texts: list[str]) -> bool:
    """Whether texts are numbers, of which some can only have a decimal point."""
    return _most_hold(re.fullmatch("-?[0-9]+(?:[.][0-9]+)?", text) for text in texts) and any(
        re.fullmatch("-?[0-9]+[.](?:[0-9]{1,2}|[0-9]{4,})", text) for text in texts
    )


def _any_all(column: list[str], grouped: str, decimal: str, thousands: str) -> bool:
    options = ReadOptions(decimal=decimal, thousands=thousands)
    clear = any(re.fullmatch(grouped, text) for text in column)
    return clear and _most_hold(python_semantics.number_of(text, options) is not None for text in column)


def _date_format(columns: list[list[str]]) -> str:
    """Day or month first, if the first rows of a column are such dates and one of them can only be so.

    Of dates in several formats, if most are such.
    """
    for column in filter(_are_days, columns):
        matches = [match for text in column if (match := re.fullmatch(NUMERIC_DATE, text))]
        if 2 * len(matches) > len(column):
            pairs = [(int(match[1]), int(match[2])) for match in matches]
            if any("." in match[0] for match in matches) or any(first > 12 for first, _ in pairs):
                return "day-first"
            if any(second > 12 for _, second in pairs):
                return "month-first"
        elif form := _short_format(column):
            return form
    return "iso"


def _short_format(column: list[str]) -> str:
    """The format of dates with two digits of a year, if most are such and one of them says which number is the day."""
    matches = [match for text in column if (match := re.fullmatch(SHORT_DATE, text))]
    marks = {match[2] for match in matches}
    if 2 * len(matches) <= len(column) or len(marks) > 1:
        return ""
    mark = marks.pop()
    if mark == "." or any(int(match[1]) > 12 for match in matches):
        return f"%d{mark}%m{mark}%y"
    return f"%m{mark}%d{mark}%y" if any(int(match[3]) > 12 for match in matches) else ""
