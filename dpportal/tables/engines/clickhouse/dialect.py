"""ClickHouse's SQL, from version 26.9: functions that give NULL where there is nothing to read, texts by their bytes.

Its session has the settings of `session` beside this file. Doubles are held by their bits, since NaN is equal to
nothing there; days as their number since the year 1 and moments as microseconds, since its dates end in 1900 and 2299.
"""

from __future__ import annotations

import datetime as dt
import struct
from collections.abc import Sequence

from sqlglot import exp
from sqlglot.expressions import Expr

from dpportal.tables.meaning.python_semantics import capital, small
from dpportal.tables.pushdown.decimals import DecimalTexts, text_literal
from dpportal.tables.pushdown.dialects import FEW_EDGES, call, letters

FULL_MATCH = r"\A(?:{})\z"
PARSERS = {"int": "toInt32OrNull", "bigint": "toInt64OrNull", "double": "toFloat64OrNull"}
FLOATS = {"float4": ("<f", "<I", "UInt32"), "float8": ("<d", "<Q", "UInt64")}
# A whole number from here on is one without a sign there, which does not go together with one that has a sign.
UNSIGNED = 2**31
FIRST_DAY, EPOCH = dt.date(1, 1, 1), dt.date(1970, 1, 1)
# All calendars of 400 years are alike, and this one it has.
CALENDAR, CALENDAR_YEARS, CALENDAR_DAYS = dt.date(1900, 1, 1), 400, 146_097
DAY_MICROSECONDS = 86_400_000_000
# Of a text in hexadecimal digits: one that is no UTF-8 by its characters, and what of it is the beginning of one, or
# no part of any; as Python decodes it with "replace".
NEXT = "[89AB][0-9A-F]"
CHARACTERS = (
    "[0-7][0-9A-F]",
    f"(?:C[2-9A-F]|D[0-9A-F]){NEXT}",
    f"(?:E0[AB][0-9A-F]|E[1-9ABCEF]{NEXT}|ED[89][0-9A-F])(?:{NEXT})?",
    f"(?:F0[9AB][0-9A-F]|F[1-3]{NEXT}|F48[0-9A-F])(?:{NEXT}){{0,2}}",
    "[0-9A-F]{2}",
)


class ClickHouse(DecimalTexts):
    """What ClickHouse writes in another way than standard SQL."""

    name = "clickhouse"

    def sql(self, expression: Expr) -> str:
        for number in [node for node in expression.find_all(exp.Literal) if _is_large(node)]:
            signed: Expr = number.parent if isinstance(number.parent, exp.Neg) else number
            sign = "" if signed is number else "-"
            signed.replace(call("toInt64", text_literal(f"{sign}{number.this}")))
        return super().sql(expression)

    def infinity(self, sign: str = "") -> Expr:
        return self.double(float(f"{sign}inf"))

    def typed(self, text: str, type_name: str, sql_type: str) -> Expr:
        if type_name == "numeric":
            return text_literal(text)
        if type_name in FLOATS:
            return _bits(float(text), type_name)
        if type_name in ("date", "timestamp", "timestamptz"):
            return self._moment(text, type_name)
        return exp.convert(int(text))

    def held(self, column: Expr, type_name: str) -> Expr:
        if type_name == "numeric":
            return self.plain_digits(exp.cast(column, "text"))
        if type_name in FLOATS:
            not_a_number, zero = (_bits(number, type_name) for number in (float("nan"), 0.0))
            bits = call(f"reinterpretAs{FLOATS[type_name][2]}", column)
            case = exp.case().when(call("isNaN", column), not_a_number)
            return case.when(column.eq(exp.convert(0)), zero).else_(bits)
        if type_name == "date":
            since = call("toInt64", call("toInt32", call("toDate32", column)))
            return since + exp.convert((EPOCH - FIRST_DAY).days)
        if type_name == "timestamptz":
            return call("toUnixTimestamp64Micro", self.in_utc(column))
        return exp.cast(column, "boolean" if type_name == "bool" else "bigint")

    def double_held(self, held: Expr) -> Expr:
        return call("reinterpretAsFloat64", held)

    def length(self, text: Expr) -> Expr:
        return call("lengthUTF8", text)

    def parsed(self, text: Expr, kind: str) -> Expr:
        return call(PARSERS[kind], text)

    def integer_of(self, number: Expr) -> Expr:
        return self.parsed(number, "bigint")

    def integer_of_double(self, number: Expr) -> Expr:
        # A cast ends the query at what is behind a NULL, which may be no number.
        return call("accurateCastOrNull", number, text_literal("Int64"))

    def widened(self, single: Expr, integral_below: float) -> Expr:
        single = call("reinterpretAsFloat32", single)
        double = exp.cast(single, "double")
        integral = exp.and_(
            double.eq(exp.Floor(this=double)), exp.Abs(this=double) < self.double(integral_below)
        )
        return exp.case().when(integral, double).else_(self.double_read(exp.cast(single, "text")))

    def group(self, text: Expr, pattern: str, group: int) -> Expr:
        return call("regexpExtract", text, text_literal(FULL_MATCH.format(pattern)), exp.convert(group))

    def without(self, text: Expr, pattern: str) -> Expr:
        return call("replaceRegexpOne", text, text_literal(pattern), text_literal(""))

    def day(self, day: dt.date) -> Expr:
        return exp.convert((day - FIRST_DAY).days)

    def day_of(self, held: Expr, type_name: str) -> Expr:
        if type_name == "date":
            return held
        since = exp.paren(held + exp.convert((EPOCH - FIRST_DAY).days * DAY_MICROSECONDS))
        return self.integer_quotient(since, DAY_MICROSECONDS)

    def date_from_parts(self, year: Expr, month: Expr, day: Expr) -> Expr:
        first = CALENDAR.year % CALENDAR_YEARS
        rounds = self.integer_quotient(year - exp.convert(first), CALENDAR_YEARS)
        alike = exp.paren(exp.paren(year) - exp.convert(first)) % exp.convert(CALENDAR_YEARS)
        date = call("makeDate32", alike + exp.convert(CALENDAR.year), month, day)
        # The 30th of February is a day of March.
        real = call("toDayOfMonth", date).eq(day)
        passed = exp.paren(rounds - exp.convert(CALENDAR.year // CALENDAR_YEARS)) * exp.convert(CALENDAR_DAYS)
        return exp.case().when(real, self.held(date, "date") + passed)

    def days_since(self, first: dt.date, day: Expr) -> Expr:
        return day - self.day(first)

    def part(self, part: str, day: Expr) -> Expr:
        rounds = CALENDAR.year // CALENDAR_YEARS
        since = exp.paren(day) - exp.convert((CALENDAR - FIRST_DAY).days - rounds * CALENDAR_DAYS)
        alike = exp.paren(since) % exp.convert(CALENDAR_DAYS)
        date = call("addDays", call("toDate32", text_literal(str(CALENDAR))), alike)
        if part == "MONTH":
            return call("toInt64", call("toMonth", date))
        passed = self.integer_quotient(since, CALENDAR_DAYS) - exp.convert(rounds)
        return call("toInt64", call("toYear", date)) + exp.paren(passed) * exp.convert(CALENDAR_YEARS)

    def lookup(self, pairs: Sequence[tuple[Expr, int]], name: str) -> Expr:
        known = exp.array(*(exp.Tuple(expressions=[value, exp.convert(cell)]) for value, cell in pairs))
        pair = exp.select(exp.alias_(call("arrayJoin", known), "pair"))
        category, cell = (call("tupleElement", exp.column("pair"), exp.convert(place)) for place in (1, 2))
        # What is not found is NULL only where the column can have it.
        columns = [exp.alias_(category, "category"), exp.alias_(exp.cast(cell, "bigint"), "cell")]
        return exp.select(*columns).from_(pair.subquery("pairs"), copy=False).subquery(name)

    def written(self, field: Expr, type_name: str) -> Expr:
        text = self.text(field, type_name)
        valid = exp.or_(text.is_(exp.null()), call("isValidUTF8", text))
        return exp.case().when(valid, text).else_(_repaired(text))

    def stripped(self, text: Expr, characters: str) -> Expr:
        between = f"(?s)^[{characters}]*(.*?)[{characters}]*$"
        return call("regexpExtract", text, text_literal(between), exp.convert(1))

    def composed(self, text: Expr) -> Expr:
        return exp.case().when(_simple(text), text).else_(call("normalizeUTF8NFC", text))

    def matches(self, text: Expr, pattern: str) -> Expr:
        return call("match", text, text_literal(FULL_MATCH.format(pattern)))

    def without_capitals(self, text: Expr) -> Expr:
        large = call("normalizeUTF8NFC", call("translateUTF8", text, *map(text_literal, letters(capital))))
        other = call("normalizeUTF8NFC", call("translateUTF8", large, *map(text_literal, letters(small))))
        return exp.case().when(_simple(text), call("lower", text)).else_(other)

    def double_read(self, text: Expr) -> Expr:
        return self.parsed(text, "double")

    def double_of(self, number: Expr) -> Expr:
        return self.parsed(number, "double")

    def in_utc(self, moment: Expr) -> Expr:
        return call("toDateTime64", moment, exp.convert(6), text_literal("UTC"))

    def integer_quotient(self, number: Expr, divisor: int) -> Expr:
        return call("intDiv", number, exp.convert(divisor))

    def edges_passed(self, value: Expr, edges: Sequence[float], kind: str) -> Expr:
        if len(edges) <= FEW_EDGES:
            return self.edges_compared(value, edges, kind)
        lowest = -(2**63) if kind == "bigint" else float("-inf")
        known = _listed([lowest, *edges], "Int64" if kind == "bigint" else "Float64")
        passed = _listed(range(len(edges) + 1), "Int64")
        return call("transform", call("roundDown", value, known), known, passed, exp.cast("0", "bigint"))

    def each_row(self, cells: Sequence[Expr]) -> Expr:
        return call("arrayJoin", exp.array(*cells))

    def _moment(self, text: str, type_name: str) -> Expr:
        if text.endswith("infinity"):
            # There is no such day.
            return exp.cast(exp.null(), "bigint")
        moment = dt.datetime.fromisoformat(text)
        if type_name == "date":
            return self.day(moment.date())
        return exp.convert((moment - dt.datetime.combine(EPOCH, dt.time())) // dt.timedelta(microseconds=1))


def _is_large(literal: exp.Literal) -> bool:
    return literal.is_int and int(literal.this) >= UNSIGNED


def _bits(number: float, type_name: str) -> Expr:
    """The bits of a float as a number, those of one NaN for all and of 0 for both zeros."""
    form, bits, _name = FLOATS[type_name]
    if number == 0:
        return call(f"to{_name}", text_literal("0"))
    [as_integer] = struct.unpack(bits, struct.pack(form, number))
    return call(f"to{_name}", text_literal(str(as_integer)))


def _simple(text: Expr) -> Expr:
    """Whether a text has one byte a character: composed as it is, and most texts are."""
    return exp.or_(text.is_(exp.null()), call("length", text).eq(call("lengthUTF8", text)))


def _repaired(text: Expr) -> Expr:
    """A text with U+FFFD for what is no UTF-8, as a file that is read."""
    there = call("hex", exp.Coalesce(this=text, expressions=[text_literal("")]))
    characters = call("extractAll", there, text_literal("|".join(CHARACTERS)))
    bytes_of = call("unhex", exp.column("part"))
    valid = call("if", call("isValidUTF8", bytes_of), bytes_of, text_literal("\ufffd"))
    each = exp.Lambda(this=valid, expressions=[exp.to_identifier("part")])
    return call("arrayStringConcat", call("arrayMap", each, characters))


def _listed(numbers: Sequence[float], kind: str) -> Expr:
    return call("CAST", text_literal(f"[{','.join(map(repr, numbers))}]"), text_literal(f"Array({kind})"))
