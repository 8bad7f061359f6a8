"""What engines spell differently: the primitives from which fields and cells are written once.

A primitive that an engine lacks is refused with the reason, never approximated.
"""

from __future__ import annotations

import datetime as dt
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Sequence
from fractions import Fraction
from functools import cache
from typing import ClassVar

from sqlglot import exp
from sqlglot.expressions import Expr, Select

from dpportal.tables.meaning.python_semantics import capital, small

# From here on a number rounds to no finite double, and down to here to no double but zero.
TOO_LARGE = 2**1024 - 2**970
TOO_SMALL = f"0.{5**1075:01075d}"
LAST_CHARACTER = 0x10FFFF
# More edges than these are not compared with one after the other.
FEW_EDGES = 16


class NotExactError(Exception):
    """Something that this engine cannot say exactly; the message says what and what to do."""


class SqlDialect(ABC):
    """One engine's SQL. name: as SQLGlot calls it."""

    name: ClassVar[str]

    def sql(self, expression: Expr) -> str:
        return expression.sql(self.name, identify=True)

    def plain(self, text: Expr) -> Expr:
        """A text that is equal to another only if all its characters are the same."""
        return text

    def infinity(self, sign: str = "") -> Expr:
        return exp.cast(exp.Literal.string(f"{sign}infinity"), "double")

    def double(self, number: float) -> Expr:
        """A double as a literal that reads back as exactly that double."""
        return exp.cast(exp.Literal.string(repr(number)), "double")

    def array(self, numbers: Iterable[float], kind: str) -> Expr:
        """A list of numbers as one literal: thousands of expressions would take an engine long to read."""
        return exp.cast(exp.Literal.string(f"{{{','.join(map(repr, numbers))}}}"), f"{kind}[]")

    def typed(self, text: str, type_name: str, sql_type: str) -> Expr:
        """The value of a type that is no text, whose text this is."""
        return exp.cast(exp.Literal.string(text), sql_type)

    def held(self, column: Expr, type_name: str) -> Expr:
        """What a column of a type that is no text holds, in a form in which equal values are equal."""
        return self.in_utc(column) if type_name == "timestamptz" else column

    def length(self, text: Expr) -> Expr:
        """How many characters a text has."""
        return call("length", text)

    def parsed(self, text: Expr, kind: str) -> Expr:
        """The number of a type that a text writes; asked only where it writes one. kind: int, bigint or double."""
        return exp.cast(text, kind)

    def double_held(self, held: Expr) -> Expr:
        """A double of a column of doubles, as `held` has it."""
        return held

    def integer_of(self, number: Expr) -> Expr:
        """A whole exact number below 10^18 as one of 64 bits."""
        return exp.cast(number, "bigint")

    def integer_of_double(self, number: Expr) -> Expr:
        """A whole double below 2^63 as a number of 64 bits."""
        return exp.cast(number, "bigint")

    def is_short_integer(self, number: Expr) -> Expr:
        """Whether an exact number is a whole one below 10^18."""
        short = exp.Abs(this=number) < exp.Literal.number(10**18)
        return exp.and_(short, number.eq(exp.Floor(this=number)))

    def widened(self, single: Expr, integral_below: float) -> Expr:
        """The double that the shortest digits of a float of 32 bits write; a whole one below a bound is itself."""
        double = exp.cast(single, "double")
        integral = exp.and_(
            double.eq(exp.Floor(this=double)), exp.Abs(this=double) < self.double(integral_below)
        )
        return exp.case().when(integral, double).else_(exp.cast(exp.cast(single, "text"), "double"))

    def group(self, text: Expr, pattern: str, group: int) -> Expr:
        """What a group of a pattern holds, of a text that is wholly of it."""
        return call(
            "regexp_replace", text, exp.Literal.string(f"^{pattern}$"), exp.Literal.string(f"\\{group}")
        )

    def day(self, day: dt.date) -> Expr:
        """A declared day."""
        return exp.convert(day)

    def day_of(self, held: Expr, type_name: str) -> Expr:
        """The day of a day or moment, as `held` has it."""
        return exp.cast(held, "date")

    def date_from_parts(self, year: Expr, month: Expr, day: Expr) -> Expr:
        """A day from its numbers, NULL for one that there is not; a year is one of 1000 to 9999."""
        first = call("make_date", year, month, exp.convert(1))
        date = exp.paren(first) + exp.paren(day - exp.convert(1))
        # The 30th of February is a day of March.
        return exp.case().when(self.part("MONTH", exp.paren(date)).eq(month), date)

    def days_since(self, first: dt.date, day: Expr) -> Expr:
        """How many days after the first one a day is."""
        return exp.paren(day - exp.cast(exp.Literal.string(str(first)), "date"))

    def part(self, part: str, day: Expr) -> Expr:
        """The YEAR or MONTH of a day."""
        return exp.cast(exp.Extract(this=exp.var(part), expression=day), "int")

    def lookup(self, pairs: Sequence[tuple[Expr, int]], name: str) -> Expr:
        """The declared values as `category`, each with its `cell`: what a table is joined with."""
        rows = [exp.Tuple(expressions=[value, exp.convert(cell)]) for value, cell in pairs]
        columns = [exp.to_identifier("category"), exp.to_identifier("cell")]
        return exp.Values(
            expressions=rows, alias=exp.TableAlias(this=exp.to_identifier(name), columns=columns)
        )

    def turns(self, rows: Select, person: str, cells: Sequence[str]) -> Select:
        """The rows with the turn of each among its person's, in random order. cells: of a row, which decide nothing."""
        at_random = exp.Order(expressions=[exp.Ordered(this=exp.Rand())])
        turn = exp.Window(this=exp.RowNumber(), partition_by=[exp.column(person)], order=at_random)
        known = rows.subquery("known", copy=False)
        return exp.select("*", exp.alias_(turn, "turn")).from_(known, copy=False)

    def text(self, field: Expr, type_name: str) -> Expr:
        """A field of a type of texts as the engine's own text."""
        return exp.cast(field, "text")

    def written(self, field: Expr, type_name: str) -> Expr:
        """A field of a type of texts as the text that a file holds."""
        return self.text(field, type_name)

    @abstractmethod
    def stripped(self, text: Expr, characters: str) -> Expr:
        """A text without these characters around it."""

    @abstractmethod
    def composed(self, text: Expr) -> Expr:
        """A text in Unicode's composed form (NFC)."""

    @abstractmethod
    def matches(self, text: Expr, pattern: str) -> Expr:
        """Whether a whole text is of a pattern."""

    @abstractmethod
    def without_capitals(self, text: Expr) -> Expr:
        """A composed text in small letters, by way of capitals, composed again: `python_semantics.person_of`."""

    @abstractmethod
    def double_read(self, text: Expr) -> Expr:
        """The nearest double to the number that a text writes in plain or scientific notation."""

    @abstractmethod
    def exact_read(self, text: Expr) -> Expr:
        """The number that such a text writes, exactly: equal to another if and only if the numbers are."""

    @abstractmethod
    def double_of(self, number: Expr) -> Expr:
        """The nearest double to an exact number, infinite beyond all."""

    def in_utc(self, moment: Expr) -> Expr:
        """A moment with a zone as that of UTC."""
        return call("timezone", exp.Literal.string("UTC"), moment)

    @abstractmethod
    def integer_quotient(self, number: Expr, divisor: int) -> Expr:
        """A whole number of at least 0 divided by one above it, rounded down."""

    @abstractmethod
    def edges_passed(self, value: Expr, edges: Sequence[float], kind: str) -> Expr:
        """How many of the rising edges are at or below a value. kind: bigint or double."""

    def edges_compared(self, value: Expr, edges: Sequence[float], kind: str) -> Expr:
        """The same, of few edges."""
        case = exp.case()
        for passed, edge in enumerate(edges):
            case = case.when(value < self.edge(edge, kind), exp.convert(passed))
        return case.else_(exp.convert(len(edges))) if edges else exp.convert(0)

    def edge(self, edge: float, kind: str) -> Expr:
        """A declared edge. kind: bigint or double."""
        return self.double(edge) if kind == "double" else exp.convert(edge)

    def search(
        self, value: Expr, edges: Sequence[float], kind: str, earlier: Callable[[int], Expr], *, even: bool
    ) -> list[Expr]:
        """Expressions that in turn lead to the bin of a value among rising edges, from the first bin's lower one on.

        earlier: names what one of them gave, by its place. even: whether all bins are of one width.
        """
        return [self.edges_passed(value, edges[1:-1], kind)]

    def exactly(self, number: Fraction) -> Expr:
        """A declared number as what `exact_read` gives for it: a text, where no type has digits enough."""
        return exp.Literal.string(scientific(number))

    def once(self, rows: Select, name: str) -> Expr:
        """A nested query whose columns are each computed once for a row, however often they are named outside.

        Engines do so by themselves; ClickHouse, while nested queries are kept apart (SETTINGS of its session).
        """
        return rows.subquery(name, copy=False)

    def each_row(self, cells: Sequence[Expr]) -> Expr:
        """A row for each of the cells."""
        return exp.func("unnest", exp.array(*cells), dialect=self.name)


class Postgres(SqlDialect):
    """What PostgreSQL writes in another way than standard SQL."""

    name = "postgres"

    def sql(self, expression: Expr) -> str:
        # The server's own functions: one that somebody made for these very types would be preferred.
        for called in list(expression.find_all(exp.Anonymous, exp.Explode)):
            if not isinstance(called.parent, exp.Dot):
                named = exp.Dot(this=exp.to_identifier("pg_catalog"), expression=exp.null())
                called.replace(named)
                named.set("expression", called)
        return super().sql(expression)

    def plain(self, text: Expr) -> Expr:
        return exp.Collate(this=exp.paren(text), expression=exp.to_identifier("C", quoted=True))

    def text(self, field: Expr, type_name: str) -> Expr:
        # A cast would cut the spaces that fill a char(n) up, which a file has.
        text = call("concat", field) if type_name == "bpchar" else exp.cast(field, "text")
        return self.plain(text)

    def stripped(self, text: Expr, characters: str) -> Expr:
        return call("btrim", text, exp.Literal.string(characters))

    def composed(self, text: Expr) -> Expr:
        # One byte a character: composed as it is, and most texts are.
        simple = call("octet_length", text).eq(call("char_length", text))
        return exp.case().when(simple, text).else_(_normalised(text))

    def matches(self, text: Expr, pattern: str) -> Expr:
        return exp.RegexpLike(this=text, expression=exp.Literal.string(f"^(?:{pattern})$"))

    def without_capitals(self, text: Expr) -> Expr:
        # The server's own letters depend on its locale.
        simple = call("octet_length", text).eq(call("char_length", text))
        large = _normalised(call("translate", text, *map(exp.Literal.string, letters(capital))))
        other = _normalised(call("translate", large, *map(exp.Literal.string, letters(small))))
        return exp.case().when(simple, call("lower", self.plain(text))).else_(other)

    def double_read(self, text: Expr) -> Expr:
        return self.double_of(exp.cast(text, "decimal"))

    def exact_read(self, text: Expr) -> Expr:
        return exp.cast(text, "decimal")

    def double_of(self, number: Expr) -> Expr:
        # A cast beyond the doubles would end the query.
        large, tiny = exp.Literal.number(TOO_LARGE), exp.Literal.number(TOO_SMALL)
        return (
            exp.case()
            .when(exp.Abs(this=number) <= tiny, self.double(0.0))
            .when(number >= large, self.infinity())
            .when(number <= exp.Neg(this=large), self.infinity("-"))
            .else_(exp.cast(number, "double"))
        )

    def exactly(self, number: Fraction) -> Expr:
        return exp.cast(super().exactly(number), "decimal")

    def once(self, rows: Select, name: str) -> Expr:
        if not all(map(_is_a_name, rows.expressions)):
            # A text, which the server knows to be no number but 0 early enough to share rows out among its processes.
            rows = rows.offset(exp.Literal.string("0"), copy=False)
        return super().once(rows, name)

    def integer_quotient(self, number: Expr, divisor: int) -> Expr:
        return exp.Div(this=exp.paren(number), expression=exp.convert(divisor), typed=True, safe=False)

    def edges_passed(self, value: Expr, edges: Sequence[float], kind: str) -> Expr:
        return call("width_bucket", value, self.array(edges, kind)) if edges else exp.convert(0)


def _is_a_name(selected: Expr) -> bool:
    """Whether a selected column is one of those below, at most in another type: nothing to compute once."""
    inner = selected.unalias()
    while isinstance(inner, exp.Cast | exp.Collate | exp.Paren):
        inner = inner.this
    return isinstance(inner, exp.Column | exp.Star)


def call(function: str, *arguments: Expr) -> Expr:
    """A function that is called by this name in the engine at hand."""
    return exp.Anonymous(this=function, expressions=list(arguments))


def _normalised(text: Expr) -> Expr:
    return exp.Normalize(this=text, form=exp.var("NFC"))


def scientific(number: Fraction) -> str:
    """A number of finitely many digits as a text that is the same for all who write it: digits, and a power of ten."""
    digits, power = abs(number), 0
    while digits.denominator != 1:
        digits, power = digits * 10, power - 1
    written = str(digits.numerator)
    trimmed = written.rstrip("0")
    sign = "-" if number < 0 else ""
    return f"{sign}{trimmed}e{power + len(written) - len(trimmed)}" if trimmed else "0"


def starts_with(text: Expr, beginning: str) -> Expr:
    """Whether a text begins with another, letter by letter."""
    return call("left", text, exp.convert(len(beginning))).eq(exp.Literal.string(beginning))


@cache
def letters(changed: object) -> tuple[str, str]:
    """The letters that `python_semantics.capital` or `small` changes, and to what."""
    assert callable(changed)
    surrogates = range(0xD800, 0xE000)
    valid = (chr(code) for code in range(1, LAST_CHARACTER + 1) if code not in surrogates)
    pairs = [(letter, to) for letter in valid if (to := changed(letter)) != letter]
    return "".join(letter for letter, _to in pairs), "".join(to for _letter, to in pairs)
