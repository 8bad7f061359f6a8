"""Spark's SQL, from version 4.0: ANSI rules, texts by their bytes, two static methods of libraries that Spark brings.

Its session is in UTC and reads texts between quotes with escapes (`session` beside this file). Decimals are held as
texts here, since comparing two of different scales can round them.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence

from sqlglot import exp
from sqlglot.expressions import Expr, Select

from dpportal.tables.meaning.python_semantics import capital, small
from dpportal.tables.pushdown.decimals import DecimalTexts, text_literal
from dpportal.tables.pushdown.dialects import FEW_EDGES, call, letters
from dpportal.tables.pushdown.types import TYPES, written_by

# Static methods, which every Spark 4 has: texts composed, and floats of 32 bits by their shortest digits.
COMPOSE = "com.ibm.icu.text.Normalizer", "compose"
DIGITS = "com.fasterxml.jackson.core.io.schubfach.FloatToDecimal", "toString"
# Of the smallest of these floats the second writes two digits where one is enough.
SMALLEST_SINGLE, FEW_DIGITS = 2.0**-149, 80
# Java's $ also matches before a line's end.
FULL_MATCH = r"\A(?:{})\z"


class Spark(DecimalTexts):
    """lot: a text that the cluster drew for one query; it decides by lot which rows of a person count."""

    name = "spark"

    def __init__(self, lot: str = "") -> None:
        self.lot = lot

    def sql(self, expression: Expr) -> str:
        # A plain cast ends the query at the first text that is no number.
        for cast in [node for node in expression.find_all(exp.Cast) if type(node) is exp.Cast]:
            tried = exp.TryCast(this=cast.this, to=cast.args["to"], safe=True)
            expression = tried if cast is expression else expression
            cast.replace(tried)
        return super().sql(expression)

    def typed(self, text: str, type_name: str, sql_type: str) -> Expr:
        if type_name == "numeric":
            return exp.Literal.string(text)
        kind = "timestampntz" if type_name in ("timestamp", "timestamptz") else sql_type
        return exp.cast(exp.Literal.string(text), kind)

    def held(self, column: Expr, type_name: str) -> Expr:
        if type_name == "numeric":
            return self.plain_digits(exp.cast(column, "text"))
        if type_name in ("float4", "float8"):
            # Sets and joins do not all know that -0 is 0.
            zero = exp.cast(exp.convert(0), "float" if type_name == "float4" else "double")
            return exp.case().when(column.eq(zero), zero).else_(column)
        return super().held(column, type_name)

    def widened(self, single: Expr, integral_below: float) -> Expr:
        double = exp.cast(single, "double")
        # A floor of 64 bits is all that Spark has, and one beyond them ends the query.
        rest = exp.Mod(this=double, expression=self.double(1.0))
        integral = exp.and_(rest.eq(self.double(0.0)), exp.Abs(this=double) < self.double(integral_below))
        digits = exp.cast(call("reflect", *map(text_literal, DIGITS), single), "double")
        large = exp.Abs(this=double) > self.double(FEW_DIGITS * SMALLEST_SINGLE)
        # The method takes no NULL.
        case = exp.case().when(single.is_(exp.null()), exp.null()).when(integral, double).when(large, digits)
        for value in (steps * SMALLEST_SINGLE for steps in range(1, FEW_DIGITS)):
            number = float(written_by(TYPES["float4"], value))
            if repr(number)[1] == "e":
                case = case.when(double.eq(self.double(value)), self.double(number))
                case = case.when(double.eq(self.double(-value)), self.double(-number))
        return case.else_(digits)

    def group(self, text: Expr, pattern: str, group: int) -> Expr:
        return call("regexp_extract", text, text_literal(FULL_MATCH.format(pattern)), exp.convert(group))

    def days_since(self, first: dt.date, day: Expr) -> Expr:
        return call("datediff", day, exp.cast(text_literal(str(first)), "date"))

    def turns(self, rows: Select, person: str, cells: Sequence[str]) -> Select:
        """By a digest of the lot, the person, the row's cells and which of the rows with these cells it is.

        A task that is run again meets the rows in another order, and a random number would be another one then: rows
        of the first run would count beside those of the second. This turn is the same whenever it is computed.
        """
        whose = [exp.column(name) for name in (person, *cells)]
        copy = _numbered(whose, [exp.column(person)])
        copies = exp.select("*", exp.alias_(copy, "copy")).from_(
            rows.subquery("known", copy=False), copy=False
        )
        parts = [exp.cast(column, "text") for column in (*whose, exp.column("copy"))]
        digest = call(
            "sha2", call("concat_ws", text_literal("|"), text_literal(self.lot), *parts), exp.convert(256)
        )
        shuffled = exp.select("*", exp.alias_(digest, "digest"))
        shuffled = shuffled.from_(copies.subquery("copies", copy=False), copy=False)
        order = [exp.column(name) for name in ("digest", *cells, "copy")]
        turn = exp.alias_(_numbered([exp.column(person)], order), "turn")
        return exp.select("*", turn).from_(shuffled.subquery("drawn", copy=False), copy=False)

    def without(self, text: Expr, pattern: str) -> Expr:
        return call("regexp_replace", text, text_literal(pattern), text_literal(""))

    def text(self, field: Expr, type_name: str) -> Expr:
        return call("collate", field, text_literal("UTF8_BINARY"))

    def written(self, field: Expr, type_name: str) -> Expr:
        # Bytes that are no text become U+FFFD, as in a file.
        return call("make_valid_utf8", self.text(field, type_name))

    def stripped(self, text: Expr, characters: str) -> Expr:
        return call("btrim", text, text_literal(characters))

    def composed(self, text: Expr) -> Expr:
        simple = exp.or_(text.is_(exp.null()), call("octet_length", text).eq(call("length", text)))
        return exp.case().when(simple, text).else_(_composed(text))

    def matches(self, text: Expr, pattern: str) -> Expr:
        return exp.RegexpLike(this=text, expression=text_literal(FULL_MATCH.format(pattern)))

    def without_capitals(self, text: Expr) -> Expr:
        simple = exp.or_(text.is_(exp.null()), call("octet_length", text).eq(call("length", text)))
        large = _composed(call("translate", text, *map(text_literal, letters(capital))))
        other = _composed(call("translate", large, *map(text_literal, letters(small))))
        return exp.case().when(simple, call("lower", text)).else_(other)

    def double_read(self, text: Expr) -> Expr:
        return exp.cast(text, "double")

    def double_of(self, number: Expr) -> Expr:
        return exp.cast(number, "double")

    def in_utc(self, moment: Expr) -> Expr:
        return exp.cast(moment, "timestampntz")

    def integer_quotient(self, number: Expr, divisor: int) -> Expr:
        return exp.IntDiv(this=exp.paren(number), expression=exp.convert(divisor))

    def edges_passed(self, value: Expr, edges: Sequence[float], kind: str) -> Expr:
        few = len(edges) <= FEW_EDGES
        return self.edges_compared(value, edges, kind) if few else self._searched(value, edges, kind)

    def each_row(self, cells: Sequence[Expr]) -> Expr:
        return call("explode", exp.array(*cells))

    def _searched(self, value: Expr, edges: Sequence[float], kind: str) -> Expr:
        """How many edges are passed, sought in steps each half as long as the one before."""
        texts = call("split", text_literal(",".join(map(repr, edges))), text_literal(","))
        known = exp.cast(texts, f"array<{kind}>")
        steps = exp.array(*(exp.convert(2**power) for power in reversed(range(len(edges).bit_length()))))
        passed, further = exp.column("passed"), exp.column("passed") + exp.column("step")
        beyond = further > exp.convert(len(edges))
        at_or_below = call("element_at", known, further) <= value
        step = exp.case().when(beyond, passed).when(at_or_below, further).else_(passed)
        names = [exp.to_identifier("passed"), exp.to_identifier("step")]
        return call("aggregate", steps, exp.convert(0), exp.Lambda(this=step, expressions=names))


def _composed(text: Expr) -> Expr:
    return call("reflect", *map(text_literal, COMPOSE), text, exp.false())


def _numbered(partition: Sequence[Expr], order: Sequence[Expr]) -> Expr:
    ordered = exp.Order(expressions=[exp.Ordered(this=column) for column in order])
    return exp.Window(this=exp.RowNumber(), partition_by=list(partition), order=ordered)
