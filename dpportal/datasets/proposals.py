"""What a column's name suggests of its kind and bounds, and its bounds of common values; the data have no say in it."""

from __future__ import annotations

import re
from bisect import bisect_right
from dataclasses import replace

from mechanisms.domain import Attribute, Boolean, Integer, Real

# Whole words of a name, as underscores, dots, hyphens and capitals part them.
_WORDS = re.compile(r"[A-ZÀ-Þ]?[a-zß-ÿ]+|[A-ZÀ-Þ]+(?![a-zß-ÿ])|\d+")
_BOUNDS: dict[str, Attribute] = {
    **dict.fromkeys(("age", "alter", "âge", "edad", "età"), Integer("", True, lower=0, upper=119, width=5)),
    "month": Integer("", True, lower=1, upper=12),
    "hour": Integer("", True, lower=0, upper=23),
    "minute": Integer("", True, lower=0, upper=59),
    "percent": Real("", True, lower=0.0, upper=100.0, bins=10),
    "percentage": Real("", True, lower=0.0, upper=100.0, bins=10),
}
_KINDS = {
    "date": ("date", "day", "birthday", "dob", "timestamp"),
    "integer": ("year", "count", "number", "num", "children", "rooms", "persons", "hours", "weeks", "size"),
    "real": ("income", "amount", "rate", "share", "price", "weight", "height", "cost", "score", "ratio"),
    "categorical": (
        *(
            "sex",
            "gender",
            "geschlecht",
            "sexe",
            "sexo",
            "sesso",
            "race",
            "ethnicity",
            "region",
            "state",
            "county",
            "country",
            "city",
            "province",
            "code",
        ),
        *(
            "type",
            "status",
            "class",
            "category",
            "group",
            "level",
            "education",
            "occupation",
            "industry",
            "sector",
        ),
        *("language", "nationality", "diagnosis", "relationship", "workclass"),
    ),
}
_KIND_OF_WORD = {word: kind for kind, words in _KINDS.items() for word in words}
_TOP_CODE = re.compile(r"9{2,}|10{2,}")
_QUESTIONS = ("is", "has", "had", "was", "does", "did")


def proposed(name: str) -> Attribute | None:
    """A whole declaration where the name leaves little doubt; None where only people know."""
    words = _words(name)
    if words and words[0] in _QUESTIONS:
        return Boolean(name, True, closed=True)
    matches = [_BOUNDS[word] for word in words if word in _BOUNDS]
    return replace(matches[-1], name=name) if matches else None


def proposed_kind(name: str) -> str:
    """The kind of column that the name suggests; empty where it suggests none."""
    attribute = proposed(name)
    matches = [_KIND_OF_WORD[word] for word in _words(name) if word in _KIND_OF_WORD]
    return attribute.kind if attribute else matches[-1] if matches else ""


def common_values(attribute: Attribute | None) -> list[str]:
    """Values that are often common in such a column, and share a cell as it is declared: 0, and a top code.

    A bound such as 99, 9999 or 100000 may stand for all that is larger.
    """
    if not isinstance(attribute, Integer | Real):
        return []
    ends = [0, attribute.upper] if _TOP_CODE.fullmatch(number_text(attribute.upper)) else [0]
    within = [value for value in ends if attribute.lower <= value <= attribute.upper]
    return [number_text(value) for value in within if _shares_cell(attribute, value)]


def _shares_cell(attribute: Integer | Real, value: float) -> bool:
    cell = max(0, bisect_right(range(attribute.regular_size), value, key=attribute.start) - 1)
    low, high = attribute.bounds(cell)
    return low < high


def number_text(number: float) -> str:
    """A declared number as people write it: 0, not 0.0."""
    return repr(number).removesuffix(".0")


def _words(name: str) -> list[str]:
    return [word.lower() for word in _WORDS.findall(name)]
