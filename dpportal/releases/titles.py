"""What a release is called unless its curator says otherwise."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any

from django.utils.translation import gettext as _

from mechanisms.selection import BestOption, FewestConflicts, MostCommonValue, Quantile

LONGEST = 160
# A proposed title names so many columns at most.
NAMED_COLUMNS = 4


def proposed(columns: Sequence[str], dataset: str, parameters: Mapping[str, Any]) -> str:
    """Its columns, or how many, what was asked of them if it is a private choice, and the dataset."""
    asked = _asked(parameters.get("question", ""), parameters)
    return f"{asked % {'columns': named(columns, parameters)}}, {dataset}"[:LONGEST]


def named(columns: Sequence[str], parameters: Mapping[str, Any]) -> str:
    """The columns as they are counted together or chosen among; of many, how many they are."""
    options = parameters.get("question", "") in (BestOption.kind, FewestConflicts.kind)
    many = _("%(number)s columns") % {"number": len(columns)}
    return (" / " if options else " × ").join(columns) if 0 < len(columns) <= NAMED_COLUMNS else many


def _asked(question: str, parameters: Mapping[str, Any]) -> str:
    """A question, around the place of its columns."""
    texts = {
        MostCommonValue.kind: _("Most common value of %(columns)s"),
        BestOption.kind: _("Best of %(columns)s"),
        FewestConflicts.kind: _("Fewest conflicts of %(columns)s"),
    }
    return _quantile(parameters) if question == Quantile.kind else texts.get(question, "%(columns)s")


def _quantile(parameters: Mapping[str, Any]) -> str:
    level = Fraction(parameters.get("level", "1/2"))
    if level == Fraction(1, 2):
        return _("Median of %(columns)s")
    return _("Quantile {level} of %(columns)s").format(level=f"{float(level):g}")
