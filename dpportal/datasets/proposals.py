"""What a column's name suggests of its kind and bounds; the data have no say in it.

Words of names in Chinese stand in `chinese_names.py`.
"""

from __future__ import annotations

import re
from dataclasses import replace

from dpportal.datasets import chinese_names
from dpportal.datasets.truths import is_unread
from dpportal.platform.json_types import Json
from mechanisms.domain import Attribute, Boolean, Categorical, Integer, Real

# Whole words of a name, as underscores, dots, hyphens and capitals part them.
_WORDS = re.compile(r"[A-ZÀ-Þ]?[a-zß-ÿ]+|[A-ZÀ-Þ]+(?![a-zß-ÿ])|\d+")
BORN = Integer("", True, lower=1900, upper=2029, width=10)
_BOUNDS: dict[str, Attribute] = {
    **dict.fromkeys(("age", "alter", "âge", "edad", "età"), Integer("", True, lower=0, upper=119, width=5)),
    **dict.fromkeys(("geburtsjahr", "birthyear", "yob"), BORN),
    "month": Integer("", True, lower=1, upper=12),
    "hour": Integer("", True, lower=0, upper=23),
    "minute": Integer("", True, lower=0, upper=59),
    "percent": Real("", True, lower=0.0, upper=100.0, bins=10),
    "percentage": Real("", True, lower=0.0, upper=100.0, bins=10),
}
_BOUNDS |= {word: _BOUNDS[english] for word, english in chinese_names.SAME_BOUNDS.items()}
_PAY = ("salary", "wage", "wages", "pay", "earnings", "revenue", "rent", "gehalt", "lohn", "einkommen")
_KINDS = {
    "date": ("date", "day", "birthday", "dob", "timestamp"),
    "integer": ("year", "count", "number", "num", "children", "rooms", "persons", "hours", "weeks", "size"),
    "real": (
        "income",
        "amount",
        "rate",
        "share",
        "price",
        "weight",
        "height",
        "cost",
        "score",
        "ratio",
        *_PAY,
    ),
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
        *(
            "department",
            "dept",
            "division",
            "faculty",
            "school",
            "team",
            "role",
            "job",
            "profession",
            "religion",
        ),
        *(
            "abteilung",
            "beruf",
            "land",
            "kanton",
            "bundesland",
            "familienstand",
            "marital",
            "district",
            "ward",
        ),
    ),
}
_KIND_OF_WORD = {word: kind for kind, words in _KINDS.items() for word in words} | chinese_names.KIND_OF_WORD
_QUESTIONS = ("is", "has", "had", "was", "does", "did")


def proposed(name: str, truths: tuple[str, ...] = ()) -> Attribute | None:
    """A whole declaration where the name leaves little doubt; None where only people know.

    truths: how the table writes no and yes, if that is known.
    """
    words = _words(name)
    if words and words[0] in _QUESTIONS:
        return Boolean(name, True, closed=True, values=truths)
    if words and words[0] in chinese_names.QUESTIONS:
        # Its answers, 否 and 是, are texts that no table is read by as no and yes.
        yes_or_no = Boolean(name, True, closed=True, values=truths)
        return yes_or_no if truths else Categorical(name, True, values=chinese_names.ANSWERS)
    born = [BORN] if {"birth", "year"} <= set(words) else []
    matches = [_BOUNDS[word] for word in words if word in _BOUNDS] or born
    return replace(matches[-1], name=name) if matches else None


def is_contradicted(name: str, look: Json) -> bool:
    """Whether a described column's first rows do not look like what its name suggests.

    Those of an age group are no numbers; those of a question whose answers are ja and nein are not read as yes and no.
    """
    suggested = proposed(name)
    if isinstance(suggested, Boolean):
        return is_unread(look)
    return isinstance(suggested, Integer | Real) and look.get("kind") in ("text", "date", "boolean")


def proposed_kind(name: str) -> str:
    """The kind of column that the name suggests; empty where it suggests none."""
    attribute = proposed(name)
    matches = [_KIND_OF_WORD[word] for word in _words(name) if word in _KIND_OF_WORD]
    return attribute.kind if attribute else matches[-1] if matches else ""


def _words(name: str) -> list[str]:
    return [word.lower() for word in _WORDS.findall(name)] + chinese_names.words(name)
