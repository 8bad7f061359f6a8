"""What a release is called unless its curator says otherwise."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from django.utils.translation import gettext as _

from dpportal.platform.json_types import Json
from dpportal.platform.listed_names import listed
from mechanisms.selection import BestOption, FewestConflicts, MostCommonValue, Quantile

LONGEST = 160
# A proposed title names so many columns at most.
NAMED_COLUMNS = 4
# What only the choices of a product have, and how its title begins.
_MARKS = (("measured", "means"), ("twice", "summary"))


def proposed(columns: Sequence[str], dataset: str, parameters: Json) -> str:
    """Its columns, or how many, what was asked of them if it is a private choice, and the dataset."""
    kind = parameters.get("question", next((kind for mark, kind in _MARKS if mark in parameters), ""))
    question = _question_text(kind, named(columns, parameters), parameters)
    return f"{question}, {dataset}"[:LONGEST]


def named(columns: Sequence[str], parameters: Json) -> str:
    """The columns as they are counted together or chosen among; of many, how many they are."""
    if measured := parameters.get("measured"):
        return _by_groups(measured, [name for name in columns if name not in measured])
    if group := parameters.get("group"):
        return _by_groups([name for name in columns if name != group], [group])
    options = parameters.get("question", "") in (BestOption.kind, FewestConflicts.kind)
    many = _("%(number)s columns") % {"number": len(columns)}
    return (" / " if options else " × ").join(columns) if 0 < len(columns) <= NAMED_COLUMNS else many


def _by_groups(measured: Sequence[str], groups: Sequence[str]) -> str:
    """Measured columns, and by which others."""
    many = _("%(number)s columns") % {"number": len(measured)}
    texts = {"measured": listed(measured) if len(measured) <= NAMED_COLUMNS else many}
    if not groups:
        return texts["measured"]
    return _("%(measured)s by %(groups)s") % {**texts, "groups": named(groups, {})}


def _question_text(question: str, columns: str, parameters: Json) -> str:
    """A question with the names of its columns."""
    texts = {
        "means": _("Mean of %(columns)s"),
        "summary": _("Summary of %(columns)s"),
        Quantile.kind: _("Quantile %(level)s of %(columns)s"),
        MostCommonValue.kind: _("Most common value of %(columns)s"),
        BestOption.kind: _("Best of %(columns)s"),
        FewestConflicts.kind: _("Fewest conflicts of %(columns)s"),
    }
    level = Fraction(parameters.get("level", "1/2"))
    if question == Quantile.kind and level == Fraction(1, 2):
        return _("Median of %(columns)s") % {"columns": columns}
    return texts.get(question, "%(columns)s") % {"columns": columns, "level": f"{float(level):g}"}
