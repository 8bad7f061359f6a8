"""The kinds of values in text fields: one pattern says what a sample suggests and what a column stores.

A pattern is written in the common part of Python's and RE2's syntax. What it does not match is text:
leading zeros ("007", postcodes), signs of "+", and whole numbers of more than 18 digits (identifiers).
"""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property

from dpportal.datasets.rawdata.engine import literal
from dpportal.datasets.rawdata.options import ReadOptions
from dpportal.datasets.rawdata.table import SQL_TYPES, Kind

NOT_A_NUMBER = "[-+]?(?:[nN][aA][nN]|[iI][nN][fF](?:[iI][nN][iI][tT][yY])?)"
BOOLEAN = "(?:[tT][rR][uU][eE]|[fF][aA][lL][sS][eE])"
DAY = "[1-9][0-9]{3}-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12][0-9]|3[01])"
CLOCK = "[T ][0-9]{2}:[0-9]{2}(?::[0-9]{2}(?:[.][0-9]{1,9})?)?(?:Z|[-+][0-9]{2}:?[0-9]{2})?"
DATE = f"{DAY}(?:{CLOCK})?"
CANDIDATES: tuple[Kind, ...] = ("boolean", "integer", "real", "date")
# The error that a conversion raises on purpose; compared as a whole, so that no cell's text can imitate it.
MISFIT = "a value does not fit its column's kind"


@dataclass(frozen=True)
class FieldReader:
    """How the fields of one file become values, in SQL and in Python."""

    options: ReadOptions
    strip: bool = False

    @cached_property
    def patterns(self) -> dict[Kind, str]:
        day = DATE if self.options.date_format is None else ".{1,64}"
        whole = r"(?:0|[1-9][0-9]{0,17})"
        if self.options.thousands:
            mark = re.escape(self.options.thousands)
            whole = rf"(?:0|[1-9][0-9]{{0,17}}|[1-9][0-9]{{0,2}}(?:{mark}[0-9]{{3}}){{1,5}})"
        point = f"[{self.options.decimal}]"
        finite = f"-?(?:{whole}(?:{point}[0-9]*)?|{point}[0-9]+)(?:[eE][-+]?[0-9]{{1,3}})?"
        return {
            "boolean": BOOLEAN,
            "integer": f"-?{whole}",
            "real": f"(?:{finite}|{NOT_A_NUMBER})",
            "date": day,
        }

    def text(self, field: str) -> str:
        """SQL: the field's text; NULL where it means that there is no value."""
        trimmed = f"nullif(trim({field}), '')" if self.strip else field
        if not self.options.missing:
            return trimmed
        words = ", ".join(map(literal, self.options.missing))
        return f"CASE WHEN {trimmed} IN ({words}) THEN NULL ELSE {trimmed} END"

    def fits(self, kind: Kind, field: str) -> str:
        """SQL: whether a field is missing or of that kind."""
        text = self.text(field)
        matches = f"regexp_full_match({text}, {literal(self.patterns[kind])})"
        if kind == "date":
            matches = f"({matches} AND {self._cast(kind, text)} IS NOT NULL)"
        return f"({text} IS NULL OR {matches})"

    def value(self, kind: Kind, field: str) -> str:
        """SQL: the field's value; raises MISFIT where there is one of another kind."""
        if kind == "text":
            return self.text(field)
        cast = self._cast(kind, self.text(field))
        return f"if({self.fits(kind, field)}, {cast}, error({literal(MISFIT)})::{SQL_TYPES[kind]})"

    def suggest(self, fields: Iterable[str]) -> Kind:
        """The narrowest kind that fits a sample; text if nothing in it has a value."""
        seen = [text for field in fields if (text := self._python_text(field)) is not None]
        possible = (kind for kind in CANDIDATES if seen and self._all_fit(kind, seen))
        return next(possible, "text")

    def remark(self, kind: Kind, fields: Iterable[str]) -> str:
        """A hint for a text column whose sample would be numbers if a separator were named."""
        seen = [text for field in fields if (text := self._python_text(field)) is not None]
        if kind != "text" or not seen or self.options.thousands:
            return ""
        for mark, decimal in ((",", "."), (".", ",")):
            other = FieldReader(ReadOptions(thousands=mark, decimal=decimal))
            if other.suggest(seen) in ("integer", "real"):
                named = {",": "comma", ".": "point"}
                return (
                    f"Looks like numbers with a {named[mark]} between thousands or a {named[decimal]} before "
                    "decimals. It is read as text until these separators are named in the reading options."
                )
        return ""

    def _cast(self, kind: Kind, text: str) -> str:
        if kind == "date":
            if self.options.date_format is None:
                return f"TRY_CAST(left({text}, 10) AS DATE)"
            return f"try_strptime({text}, {literal(self.options.date_format)})::DATE"
        if kind in ("integer", "real") and self.options.thousands:
            text = f"replace({text}, {literal(self.options.thousands)}, '')"
        if kind == "real" and self.options.decimal != ".":
            text = f"replace({text}, {literal(self.options.decimal)}, '.')"
        return f"TRY_CAST({text} AS {SQL_TYPES[kind]})"

    def _python_text(self, field: str) -> str | None:
        text = field.strip(" ") if self.strip else field
        return None if text == "" or text in self.options.missing else text

    def _all_fit(self, kind: Kind, texts: list[str]) -> bool:
        pattern = re.compile(self.patterns[kind])
        if not all(map(pattern.fullmatch, texts)):
            return False
        if kind == "real":  # a column of nothing but the word "nan" is text
            return any(character.isdigit() for text in texts for character in text)
        return kind != "date" or all(map(self._is_day, texts))

    def _is_day(self, text: str) -> bool:
        try:
            if self.options.date_format is None:
                dt.date.fromisoformat(text[:10])
            else:
                dt.datetime.strptime(text, self.options.date_format)  # noqa: DTZ007 only the day is used
        except ValueError:
            return False
        return True
