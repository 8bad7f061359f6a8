"""A second dialect: fields and cells are written for no one engine."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from sqlglot import exp
from sqlglot.expressions import Expr

from dpportal.datasets.rawdata.elsewhere.dialects import Dialect, NotExactError, call, starts_with


class Duck(Dialect):
    name = "duckdb"
    bytewise = "C"

    def plain(self, text: Expr) -> Expr:
        return text

    def array(self, numbers: Iterable[float], kind: str) -> Expr:
        return exp.cast(exp.Literal.string(f"[{','.join(map(repr, numbers))}]"), f"{kind}[]")

    def written(self, field: Expr, type_name: str) -> Expr:
        return exp.cast(field, "text")

    def stripped(self, text: Expr, characters: str) -> Expr:
        return call("trim", text, exp.Literal.string(characters))

    def composed(self, text: Expr) -> Expr:
        return call("nfc_normalize", text)

    def matches(self, text: Expr, pattern: str) -> Expr:
        return call("regexp_full_match", text, exp.Literal.string(pattern))

    def without_capitals(self, text: Expr) -> Expr:
        return self.composed(call("lower", self.composed(call("upper", text))))

    def double_read(self, text: Expr) -> Expr:
        beyond = exp.case().when(starts_with(text, "-"), self.infinity("-")).else_(self.infinity())
        return call("coalesce", exp.TryCast(this=text, to=exp.DataType.build("double")), beyond)

    def exact_read(self, text: Expr) -> Expr:
        raise NotExactError(
            "DuckDB has no numbers of any length, so texts cannot be compared as the numbers that they write. "
            "Compare them as texts."
        )

    def double_of(self, number: Expr) -> Expr:
        # Its cast of a decimal divides by a power of ten, which rounds twice.
        return exp.cast(exp.cast(number, "text"), "double")

    def in_utc(self, moment: Expr) -> Expr:
        return call("timezone", exp.Literal.string("UTC"), moment)

    def whole_quotient(self, number: Expr, divisor: int) -> Expr:
        return exp.IntDiv(this=exp.paren(number), expression=exp.convert(divisor))

    def edges_passed(self, value: Expr, edges: Sequence[float], kind: str) -> Expr:
        if not edges:
            return exp.convert(0)
        at_or_below = exp.Lambda(this=exp.column("edge") <= value, expressions=[exp.to_identifier("edge")])
        return call("len", call("list_filter", self.array(edges, kind), at_or_below))
