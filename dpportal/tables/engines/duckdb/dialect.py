"""DuckDB, which counts uploads."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from sqlglot import exp
from sqlglot.expressions import Expr

from dpportal.tables.meaning.number_syntax import SPACES, TRIMMED
from dpportal.tables.pushdown.dialects import FEW_EDGES, SqlDialect, call, starts_with

# A number in plain or scientific notation by its parts: sign, digits before and after the point, exponent.
PARTS = "^([-+]?)([0-9]*)[.]?([0-9]*)(?:[eE]([-+]?[0-9]+))?$"
SIGN, BEFORE, AFTER, EXPONENT = range(1, 5)


class DuckDB(SqlDialect):
    """It evaluates each of the nested queries once, and reads a literal once for all rows."""

    name = "duckdb"

    def array(self, numbers: Iterable[float], kind: str) -> Expr:
        return exp.cast(exp.Literal.string(f"[{','.join(map(repr, numbers))}]"), f"{kind}[]")

    def stripped(self, text: Expr, characters: str) -> Expr:
        if characters != SPACES:
            return call("trim", text, exp.Literal.string(characters))
        # Its own trim takes three times as long with so many kinds of space.
        return _group(text, TRIMMED, 1, "s")

    def composed(self, text: Expr) -> Expr:
        return call("nfc_normalize", text)

    def matches(self, text: Expr, pattern: str) -> Expr:
        return call("regexp_full_match", text, exp.Literal.string(pattern))

    def without_capitals(self, text: Expr) -> Expr:
        # Composed again, since a small letter may be one character where the capital with its mark is two; by way of
        # capitals, since Greek has two small letters of one capital.
        return self.composed(call("lower", self.composed(call("upper", text))))

    def double_read(self, text: Expr) -> Expr:
        beyond = exp.case().when(starts_with(text, "-"), self.infinity("-")).else_(self.infinity())
        return call("coalesce", exp.TryCast(this=text, to=exp.DataType.build("double")), beyond)

    def exact_read(self, text: Expr) -> Expr:
        """A text, the same for all that write one number: sign, digits without zeros around them, power of ten.

        No type has digits enough.
        """
        digits = call("concat", _group(text, PARTS, BEFORE), _group(text, PARTS, AFTER))
        trimmed = call("rtrim", digits, exp.Literal.string("0"))
        written_power = exp.Nullif(this=_group(text, PARTS, EXPONENT), expression=exp.Literal.string(""))
        moved = call("length", _group(text, PARTS, BEFORE)) - call("length", trimmed)
        power = call("coalesce", exp.cast(written_power, "int"), exp.convert(0)) + moved
        first = call("ltrim", trimmed, exp.Literal.string("0"))
        sign = call("replace", _group(text, PARTS, SIGN), exp.Literal.string("+"), exp.Literal.string(""))
        written = call("concat", sign, first, exp.Literal.string("e"), power)
        return exp.case().when(first.eq(exp.Literal.string("")), exp.Literal.string("0")).else_(written)

    def double_of(self, number: Expr) -> Expr:
        # Its cast of a decimal divides by a power of ten, which rounds twice.
        return exp.cast(exp.cast(number, "text"), "double")

    def integer_quotient(self, number: Expr, divisor: int) -> Expr:
        return exp.IntDiv(this=exp.paren(number), expression=exp.convert(divisor))

    def edges_passed(self, value: Expr, edges: Sequence[float], kind: str) -> Expr:
        return self._halved(value, edges, kind, 0, len(edges))

    def _halved(self, value: Expr, edges: Sequence[float], kind: str, least: int, most: int) -> Expr:
        """How many edges a value passes, at least and at most so many."""
        if least == most:
            return exp.convert(least)
        middle = (least + most) // 2
        lower, upper = ((least, middle), (middle + 1, most))
        below = value < self.edge(edges[middle], kind)
        return (
            exp.case()
            .when(below, self._halved(value, edges, kind, *lower))
            .else_(self._halved(value, edges, kind, *upper))
        )

    def search(
        self, value: Expr, edges: Sequence[float], kind: str, earlier: Callable[[int], Expr], *, even: bool
    ) -> list[Expr]:
        inner = edges[1:-1]
        if len(inner) <= FEW_EDGES:
            return [self.edges_passed(value, inner, kind)]
        listed = self.array(inner, kind)
        if even:
            return self._near(value, edges, listed, earlier(0))
        steps = reversed([1 << bit for bit in range(len(inner).bit_length())])
        layers: list[Expr] = []
        for step in steps:
            so_far: Expr = earlier(len(layers) - 1) if layers else exp.cast(exp.convert(0), "bigint")
            # A step past the list's end compares with NULL, and stays.
            passed = value >= call("list_extract", listed, so_far + exp.convert(step))
            layers.append(so_far + exp.case().when(passed, exp.convert(step)).else_(exp.convert(0)))
        return layers

    def _near(self, value: Expr, edges: Sequence[float], listed: Expr, near: Expr) -> list[Expr]:
        """Divide, then correct by the edges themselves: division may be one bin off."""
        lower, upper, last = edges[0], edges[-1], len(edges) - 2
        step = self.double((upper - lower) / (last + 1))
        quotient = exp.Floor(this=exp.paren(exp.paren(value - self.double(lower)) / step))
        divided = call("least", exp.cast(quotient, "bigint"), exp.convert(last))
        guess = (
            exp.case()
            .when(value < self.double(lower), exp.convert(0))
            .when(value < self.double(upper), divided)
            .else_(exp.convert(last))
        )
        too_high = exp.and_(near > exp.convert(0), value < call("list_extract", listed, near))
        too_low = exp.and_(
            near < exp.convert(last), value >= call("list_extract", listed, near + exp.convert(1))
        )
        corrected = exp.case().when(too_high, exp.convert(-1)).when(too_low, exp.convert(1))
        return [guess, near + corrected.else_(exp.convert(0))]


def _group(text: Expr, pattern: str, group: int, options: str = "") -> Expr:
    further = [exp.Literal.string(options)] if options else []
    return call("regexp_extract", text, exp.Literal.string(pattern), exp.convert(group), *further)
