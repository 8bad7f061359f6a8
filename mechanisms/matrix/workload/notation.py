"""The one-line text form of a workload, such as `prefix("age") x identity("sex") + 2 * total + marginals(<=2)`.

    workload  = product { "+" product }
    product   = [ weight "*" ] part { "x" part }
    part      = "total" | "identity(" column ")" | "prefix(" column ")" | "ranges(" column ")"
              | "width(" number "," column ")" | "marginal(" column { "," column } ")"
              | "uploaded(" digest [ "," column ] ")"
              | "marginals(" ( "<=" | "=" ) number { "," column } ")"        (alone in its product)

Columns and digests are JSON strings. A column that a product does not name is summed over. `marginals(<=k)` stands
for all tables of 1 to k columns, of the named columns or of all. An uploaded matrix is over the cells of one column,
or, alone, over all cells of the domain in C order.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from decimal import Decimal
from typing import NoReturn

from mechanisms.protocol import PlanError

COLUMN_KINDS = ("identity", "prefix", "ranges")
KINDS = ("total", *COLUMN_KINDS, "width", "marginal", "marginals", "uploaded")
MAX_LENGTH = 100_000
_MAX_WEIGHT, _MAX_DIGITS = Decimal(10) ** 6, 12
_SPACE, _WORD = re.compile(r"\s*"), re.compile(r"[a-z]+")
_WEIGHT, _NUMBER = re.compile(r"\d+(?:\.\d+)?"), re.compile(r"\d{1,9}")


@dataclass(frozen=True)
class NotationPart:
    """One kind of query. number: of cells of a width, or of columns of marginals; exact: "=" rather than "<="."""

    kind: str
    columns: tuple[str, ...] = ()
    number: int = 0
    exact: bool = False
    digest: str = ""

    def __str__(self) -> str:
        before = {
            "width": [str(self.number)],
            "marginals": [f"{'' if self.exact else '<'}={self.number}"],
            "uploaded": [json.dumps(self.digest)],
        }
        arguments = [*before.get(self.kind, []), *map(quoted, self.columns)]
        return f"{self.kind}({', '.join(arguments)})" if arguments else self.kind


@dataclass(frozen=True)
class ProductTerm:
    """Parts over different columns, with the weight of their errors."""

    weight: Decimal
    parts: tuple[NotationPart, ...]

    def __str__(self) -> str:
        weight = "" if self.weight == 1 else f"{self.weight.normalize():f} * "
        return weight + " x ".join(map(str, self.parts))


def quoted(column: str) -> str:
    """A column's name as the text form writes it."""
    return json.dumps(column, ensure_ascii=False)


def parse(text: str) -> tuple[ProductTerm, ...]:
    """The products that a text names, before they meet a domain. Raises PlanError."""
    return _Reader(text).workload()


class _Reader:
    """A cursor over the text; every method reads one rule of the grammar and what follows stays."""

    def __init__(self, text: str) -> None:
        if len(text) > MAX_LENGTH:
            raise PlanError(
                "The workload's text is too long; at most {max_length:,} characters are read.",
                max_length=MAX_LENGTH,
            )
        self._text, self._at = text, 0

    def workload(self) -> tuple[ProductTerm, ...]:
        products = [self._product()]
        while self._has("+"):
            products.append(self._product())
        self._skip()
        if self._at < len(self._text):
            self._refuse("expected + or x here, or the end")
        return tuple(products)

    def _product(self) -> ProductTerm:
        weight = self._weight()
        parts = [self._part()]
        while self._has_word("x"):
            parts.append(self._part())
        if len(parts) > 1 and any(p.kind in ("marginals", "total") for p in parts):
            self._refuse(
                "marginals and total stand alone in a product; a column that is not named is summed over anyway"
            )
        named = [column for part in parts for column in part.columns]
        if len(set(named)) < len(named):
            self._refuse("a column is named twice in one product; name each once")
        return ProductTerm(weight, tuple(parts))

    def _weight(self) -> Decimal:
        self._skip()
        token = _WEIGHT.match(self._text, self._at)
        if not token:
            return Decimal(1)
        weight = Decimal(token.group())
        if not 0 < weight <= _MAX_WEIGHT or len(token.group()) > _MAX_DIGITS:
            self._refuse(
                f"a weight must be above 0, at most {_MAX_WEIGHT:,} and of at most {_MAX_DIGITS} characters"
            )
        self._at = token.end()
        if not self._has("*"):
            self._refuse("expected * after a weight")
        return weight

    def _part(self) -> NotationPart:
        self._skip()
        token = _WORD.match(self._text, self._at)
        if not token or token.group() not in KINDS:
            self._refuse(f"expected one of {', '.join(KINDS)}")
        kind = token.group()
        self._at = token.end()
        if kind == "total":
            return NotationPart(kind)
        self._expect("(")
        part = self._arguments(kind)
        self._expect(")")
        return part

    def _arguments(self, kind: str) -> NotationPart:
        if kind in COLUMN_KINDS:
            return NotationPart(kind, (self._string(),))
        if kind == "marginal":
            return NotationPart(kind, self._strings(self._string()))
        if kind == "width":
            number = self._number()
            self._expect(",")
            return NotationPart(kind, (self._string(),), number)
        if kind == "uploaded":
            digest = self._string()
            return NotationPart(kind, (self._string(),) if self._has(",") else (), digest=digest)
        exact = not self._has("<")
        self._expect("=")
        return NotationPart(kind, number=self._number(), exact=exact, columns=self._strings())

    def _strings(self, *first: str) -> tuple[str, ...]:
        strings = list(first)
        while self._has(","):
            strings.append(self._string())
        return tuple(strings)

    def _string(self) -> str:
        self._skip()
        if self._text[self._at : self._at + 1] != '"':
            self._refuse('expected a name in double quotes, such as "age"')
        try:
            value, self._at = json.JSONDecoder().raw_decode(self._text, self._at)
        except json.JSONDecodeError:
            self._refuse("this name in quotes does not end, or holds a character that must be escaped")
        return str(value)

    def _number(self) -> int:
        self._skip()
        token = _NUMBER.match(self._text, self._at)
        if not token or int(token.group()) == 0:
            self._refuse("expected a whole number above 0")
        self._at = token.end()
        return int(token.group())

    def _skip(self) -> None:
        space = _SPACE.match(self._text, self._at)
        assert space is not None
        self._at = space.end()

    def _has(self, mark: str) -> bool:
        self._skip()
        if not self._text.startswith(mark, self._at):
            return False
        self._at += len(mark)
        return True

    def _has_word(self, word: str) -> bool:
        self._skip()
        token = _WORD.match(self._text, self._at)
        if not token or token.group() != word:
            return False
        self._at = token.end()
        return True

    def _expect(self, mark: str) -> None:
        if not self._has(mark):
            self._refuse(f"expected {mark}")

    def _refuse(self, what: str) -> NoReturn:
        near = self._text[self._at : self._at + 20]
        place = f"at character {self._at + 1}, near {near!r}" if near.strip() else "at its end"
        raise PlanError("The workload's text cannot be read {place}: {what}.", place=place, what=what)
