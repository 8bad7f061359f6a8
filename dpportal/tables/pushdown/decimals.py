"""Engines that hold exact numbers as texts: their own decimals end at some digits, or are rounded when compared."""

from __future__ import annotations

from abc import abstractmethod

from sqlglot import exp
from sqlglot.expressions import Expr

from dpportal.tables.pushdown.dialects import SqlDialect, call, starts_with

# A number in plain or scientific notation by its parts: digits before and after the point, exponent.
WRITTEN = "[-+]?([0-9]*)[.]?([0-9]*)(?:[eE]([-+]?[0-9]+))?"


class DecimalTexts(SqlDialect):
    """A number that a text writes is a text with one form for each number, a decimal of a column its plain digits."""

    @abstractmethod
    def without(self, text: Expr, pattern: str) -> Expr:
        """A text without the first part of it that is of a pattern."""

    def exact_read(self, text: Expr) -> Expr:
        """Digits without zeros at either end, and a power of 10."""
        integer_part, fraction, power = (self.group(text, WRITTEN, group) for group in (1, 2, 3))
        significant = self.without(call("concat", integer_part, fraction), r"\A0+")
        short = self.without(significant, r"0+\z")
        given = exp.Coalesce(this=self.parsed(power, "int"), expressions=[exp.convert(0)])
        zeros = call("length", significant) - call("length", short)
        shift = given + exp.paren(zeros) - call("length", fraction)
        sign = exp.case().when(starts_with(text, "-"), text_literal("-")).else_(text_literal(""))
        written = call("concat", sign, short, text_literal("e"), exp.cast(shift, "text"))
        return exp.case().when(short.eq(text_literal("")), text_literal("0")).else_(written)

    def is_short_integer(self, number: Expr) -> Expr:
        return self.matches(number, "-?[0-9]{1,18}")

    def plain_digits(self, text: Expr) -> Expr:
        """A decimal's text without the zeros at its end that say nothing."""
        fraction = self.matches(text, ".*[.].*")
        return exp.case().when(fraction, self.without(text, r"[.]?0*\z")).else_(text)


def text_literal(text: str) -> Expr:
    """A text as a constant of a query."""
    return exp.Literal.string(text)
