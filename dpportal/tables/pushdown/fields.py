"""What a field means, in an upload or in a connected table: as a number, a whole number, yes or no, a day, a person.

By its own text and the declared options alone: no other row can change what a text means. `python_semantics` says the
same in Python, and the tests compare the two text by text. A typed value means what its text in a file would mean; the
value itself is compared where that is the same, since marks of numbers and the format of dates are declared of texts.
"""

from __future__ import annotations

import datetime as dt
import math
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from sqlglot import exp
from sqlglot.expressions import Expr

from dpportal.tables.meaning.dates import FIRST_OF_1900S, MONTHS, DatePattern, date_pattern
from dpportal.tables.meaning.number_syntax import (
    EXACT_INTEGER,
    FALSE_WORDS,
    FURTHEST,
    INFINITE,
    LONGEST_NUMBER,
    PLAIN_NUMBER,
    SPACES,
    TRUE_WORDS,
    before_unit,
    number_pattern,
    prepared,
)
from dpportal.tables.meaning.parse_options import ReadOptions
from dpportal.tables.pushdown.dialects import SqlDialect, call, starts_with
from dpportal.tables.pushdown.types import ENDLESS, INTEGRAL_DOUBLES, STORED, ColumnType, Value

FIRST_DAY, LAST_DAY = dt.date(1000, 1, 1), dt.date(9999, 12, 31)
NUMBERS = ("int2", "int4", "int8", "numeric", "float4", "float8")


@dataclass(frozen=True)
class Field:
    """A column as one row has it. raw, value, number: names of what `content`, `read` and `as_number` give.

    plain: of a stored text, its number where the text is a plain one and one is stored; always: wherever there is a
    text. declared: of a category, texts that are read as what they are; most rows have one of them, which nothing else
    has to be computed of.
    """

    dialect: SqlDialect
    options: ReadOptions
    type: ColumnType
    raw: Expr
    value: Expr
    number: Expr
    plain: Expr | None = None
    always: bool = False
    declared: tuple[str, ...] = ()

    def content(self, column: Expr) -> Expr:
        """What the column holds, a text between its spaces where these do not count."""
        if self.type.is_text:
            text = self.text_content(column, strip=self.options.strip)
            if not self.declared:
                return text
            stored = self.dialect.text(column, self.type.name)
            return exp.case().when(stored.isin(*self.declared), stored).else_(text)
        return self.dialect.held(column, self.type.name)

    def text_content(self, column: Expr, *, strip: bool) -> Expr:
        text: Expr = self.dialect.written(column, self.type.name)
        if self.type is not STORED:
            text = call("replace", text, exp.Literal.string("\r\n"), exp.Literal.string("\n"))
            text = call("replace", text, exp.Literal.string("\r"), exp.Literal.string("\n"))
        return self.dialect.stripped(text, SPACES) if strip else text

    def read(self) -> Expr:
        """The value that counts, NULL if the field means that there is none."""
        value = self.composed() if self.type.is_text else self.raw
        absent = [value for value, _place in self.values_of(self.options.missing)]
        return exp.case().when(value.isin(*absent), exp.null()).else_(value) if absent else value

    @property
    def is_read_as_it_is(self) -> bool:
        """Whether the value is what the column holds: of a type that is no text, none of whose values means none."""
        return not self.type.is_text and not self.values_of(self.options.missing)

    def composed(self) -> Expr:
        """A text that was found, NULL for an empty one; the column's own collation calls it equal to no other."""
        text = exp.Nullif(this=self.dialect.composed(self.raw), expression=exp.Literal.string(""))
        return self.dialect.plain(text)

    def read_plain(self, stored: Expr) -> Expr:
        """The stored plain number, NULL if its text may mean that there is no value."""
        absent = [self.dialect.double(number) for number in plain_words(self.options)]
        return exp.case().when(exp.not_(stored.isin(*absent)), stored) if absent else stored

    def as_number(self) -> Expr:
        """The value as a double, NULL if it is no number. Numbers beyond all doubles are infinite."""
        value = self.value
        if self.type.is_text:
            return self._or_plain(lambda plain: plain, self._number_of_text)
        if self.type.name == "bool":
            return exp.cast(exp.null(), "double")
        if self.type.name not in NUMBERS:
            return self._endless()
        if self.type.name in ("int2", "int4", "int8"):
            return exp.cast(value, "double")
        no_number = value.eq(literal(self.dialect, self.type, math.nan))
        if self.type.name == "numeric":
            double = self.dialect.double_of(value)
        elif self.type.name == "float8":
            double = self.dialect.double_held(value)
        else:
            double = self.dialect.widened(value, INTEGRAL_DOUBLES)
        return exp.case().when(no_number, exp.null()).else_(double)

    def as_integer(self) -> Expr:
        """As a whole number of 64 bits: exact where it is one, else the floor of its double."""
        if self.type.name in ("int2", "int4", "int8"):
            return exp.cast(self.value, "bigint")
        if self.type.is_text:
            return self._or_plain(
                lambda plain: exp.cast(exp.Floor(this=plain), "bigint"), self._integer_of_text
            )
        floor = self._floor_of_number()
        if self.type.name == "numeric":
            short = self.dialect.is_short_integer(self.value)
            return exp.case().when(short, self.dialect.integer_of(self.value)).else_(floor)
        return floor

    def as_truth(self) -> Expr:
        """1 for a word or number of yes, 0 for one of no, NULL otherwise."""
        if self.type.name == "bool":
            return exp.case().when(self.value, exp.convert(1)).when(exp.not_(self.value), exp.convert(0))
        case = exp.case()
        if self.type.is_text:
            word = call("lower", self.dialect.plain(self.value))
            case = case.when(word.isin(*TRUE_WORDS), exp.convert(1))
            case = case.when(word.isin(*FALSE_WORDS), exp.convert(0))
        one, zero = self.dialect.double(1.0), self.dialect.double(0.0)
        return case.when(self.number.eq(one), exp.convert(1)).when(self.number.eq(zero), exp.convert(0))

    def as_day(self) -> Expr:
        """As a date of the years 1000 to 9999, NULL if it is none; a time of day is passed over."""
        if self.type.is_text:
            return self._day_of_text(self.value)
        if self.type.name in ("int2", "int4", "int8"):
            return self._day_of_text(exp.cast(self.value, "text"))
        if self.type.name in ("date", "timestamp", "timestamptz"):
            day = self.dialect.day_of(self.value, self.type.name)
            first, last = self.dialect.day(FIRST_DAY), self.dialect.day(LAST_DAY)
            return exp.case().when(exp.and_(day >= first, day <= last), day)
        if self.type.name == "bool":
            # None, as a day: a yes or no has no text that is one.
            return exp.case().when(exp.false(), self.dialect.day(FIRST_DAY))
        raise TypeError(f"a column of {self.type.name} is not read as a date")

    def values_of(self, texts: Sequence[str]) -> list[tuple[Expr, int]]:
        """The values whose texts are given, each with its text's place; the first of two that are the same."""
        places: dict[Value | None, int] = {}
        for place, text in enumerate(texts):
            prepared_text = prepared(text, self.options)
            places.setdefault(
                self.type.value_of(prepared_text) if self.type.value_of else prepared_text, place
            )
        return [
            (literal(self.dialect, self.type, value), place)
            for value, place in places.items()
            if value is not None
        ]

    def exact_number(self) -> Expr:
        """The number that a text writes, exactly; NULL if it is none. For comparison with declared numbers."""
        plain = self._without_marks()
        written = exp.and_(
            self._matches(number_pattern(self.options)), self.dialect.matches(plain, WRITTEN_NUMBER)
        )
        return exp.case().when(written, self.dialect.exact_read(plain))

    def _or_plain(self, of_plain: Callable[[Expr], Expr], read: Callable[[], Expr]) -> Expr:
        """What is made of the stored plain number where there is one, else what is read of the text."""
        if self.plain is None:
            return read()
        of_stored = of_plain(self.plain)
        if self.always:
            return of_stored
        return exp.case().when(self.plain.is_(exp.null()).not_(), of_stored).else_(read())

    def _integer_of_text(self) -> Expr:
        plain = self._without_marks()
        exact = exp.and_(
            self._matches(number_pattern(self.options)), self.dialect.matches(plain, EXACT_INTEGER)
        )
        return exp.case().when(exact, self.dialect.parsed(plain, "bigint")).else_(self._floor_of_number())

    def _number_of_text(self) -> Expr:
        plain = self._without_marks()
        short = self.dialect.matches(plain, PLAIN_NUMBER)
        long = self.dialect.length(self.value) <= exp.convert(LONGEST_NUMBER)
        negative = starts_with(self.value, "-")
        infinite = exp.case().when(negative, self.dialect.infinity("-")).else_(self.dialect.infinity())
        looks = self._matches(number_pattern(self.options))
        return (
            exp.case()
            .when(exp.and_(looks, short), self.dialect.parsed(plain, "double"))
            .when(exp.and_(looks, long), self.dialect.double_read(plain))
            .when(self._matches(INFINITE), infinite)
        )

    def _endless(self) -> Expr:
        """Of days and moments only those without an end are written like a number."""
        case = exp.case()
        for text, number in zip(ENDLESS, ("", "-"), strict=True):
            end = literal(self.dialect, self.type, text)
            case = case.when(self.value.eq(end), self.dialect.infinity(number))
        return case

    def _without_marks(self) -> Expr:
        """A number's text with a point, without marks between thousands and without its unit."""
        text = self.value
        if self.options.units:
            text = self.dialect.group(text, before_unit(self.options), 1)
        for mark in self.options.thousands_marks:
            text = call("replace", text, exp.Literal.string(mark), exp.Literal.string(""))
        if self.options.decimal == ".":
            return text
        return call("replace", text, exp.Literal.string(","), exp.Literal.string("."))

    def _matches(self, pattern: str) -> Expr:
        return self.dialect.matches(self.value, pattern)

    def _floor_of_number(self) -> Expr:
        low, high = self.dialect.double(-FURTHEST), self.dialect.double(FURTHEST)
        floor = exp.Floor(this=self.number)
        clamped = exp.case().when(self.number < low, low).when(self.number > high, high).else_(floor)
        return self.dialect.integer_of_double(clamped)

    def _day_of_text(self, text: Expr) -> Expr:
        form = date_pattern(str(self.options.date_format))
        year, month = self._year(text, form), self._month(text, form)
        day = self.dialect.date_from_parts(year, month, self._group(text, form, form.day))
        return exp.case().when(self.dialect.matches(text, form.pattern), day)

    def _group(self, text: Expr, form: DatePattern, group: int) -> Expr:
        return self.dialect.parsed(self.dialect.group(text, form.pattern, group), "int")

    def _year(self, text: Expr, form: DatePattern) -> Expr:
        year = self._group(text, form, form.year)
        if "y" not in form.letters:
            return year
        century = (
            exp.case().when(year >= exp.convert(FIRST_OF_1900S), exp.convert(1900)).else_(exp.convert(2000))
        )
        return century + year

    def _month(self, text: Expr, form: DatePattern) -> Expr:
        if "m" in form.letters:
            return self._group(text, form, form.month)
        written = self.dialect.group(text, form.pattern, form.month)
        name = call("lower", call("left", written, exp.convert(3)))
        case = exp.case()
        for number, month in enumerate(MONTHS, 1):
            case = case.when(name.eq(exp.Literal.string(month)), exp.convert(number))
        return case


FIRST_COMBINING = "\u0300"
# `mechanisms.number_text.PATTERN`, in repetitions that every engine's expressions allow.
WRITTEN_NUMBER = "[-+]?(?:[0-9]{1,30}(?:[.][0-9]{0,30})?|[.][0-9]{1,30})(?:[eE][-+]?[0-9]{1,3})?"
SQL_TYPES = {
    "int2": "bigint",
    "int4": "bigint",
    "int8": "bigint",
    "numeric": "decimal",
    "float4": "float",
    "float8": "double",
    "bool": "boolean",
    "date": "date",
    "timestamp": "timestamp",
    "timestamptz": "timestamp",
}


def read_as_they_are(texts: Sequence[str], options: ReadOptions) -> tuple[str, ...]:
    """Those texts of which a field with the very text has the text as its value, in every engine.

    Letters from the first combining one on may be composed, by rules that are newer in one engine than in another.
    """
    return tuple(
        dict.fromkeys(
            text
            for text in texts
            if text and max(text) < FIRST_COMBINING and "\r" not in text and prepared(text, options) == text
        )
    )


def plain_words(options: ReadOptions) -> list[float]:
    """The plain numbers among the words for missing."""
    words = [prepared(word, options) for word in options.missing]
    return [float(word) for word in words if re.fullmatch(PLAIN_NUMBER, word)]


def sql_type(declared: ColumnType) -> str:
    """The name of a type in SQL."""
    return SQL_TYPES[declared.name]


def literal(dialect: SqlDialect, declared: ColumnType, value: Value) -> Expr:
    """A value of a type as a literal that reads back as exactly that value."""
    if declared.is_text:
        return dialect.plain(exp.Literal.string(str(value)))
    if isinstance(value, bool):
        return exp.convert(value)
    plain = declared.name == "numeric" and not isinstance(value, float)
    return dialect.typed(f"{value:f}" if plain else str(value), declared.name, SQL_TYPES[declared.name])
