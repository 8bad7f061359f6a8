"""Which texts are values, and what becomes of those that were kept: post-processing, which looks at no record."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable

from django.utils.translation import gettext as _

from dpportal.platform.visible_text import hidden_sign
from dpportal.tables import ValueTexts
from mechanisms.domain import MISSING_LABEL, OTHER_LABEL, Categorical

# Letters that a value has at most.
LONGEST = 200
# So many values are declared at most. Which ones does not depend on how many people have them: the first by alphabet.
MOST = 2000
OWN_CELLS = {label.casefold() for label in (OTHER_LABEL, MISSING_LABEL)}
VALUES = ValueTexts(LONGEST, tuple(sorted(OWN_CELLS)))


def rules() -> list[str]:
    """What counts as a value, whatever the table holds: to be read before anything is chosen."""
    numbers = {"longest": LONGEST, "most": f"{MOST:,}"}
    texts = (
        _(
            "A value is a text of at most %(longest)s letters. Longer texts, and those with line breaks or other "
            "control characters, are never kept: they count as “Other”, or as missing where the file’s settings "
            "say so."
        ),
        _(
            "Nor are empty fields, fields of spaces alone, and the words “Other” and “Missing”, which name the "
            "cells for all else."
        ),
        _(
            "Of values that differ only in the spaces around them, one is declared. The rest count as “Other”."
        ),
        _(
            "So do values with signs that turn the direction of writing, which could hide what stands beside them."
        ),
        _(
            "Of more than %(most)s kept values the first by alphabet are declared. All other values count as "
            "“Other”."
        ),
    )
    return [text % numbers for text in texts]


def declarable(values: Iterable[str]) -> list[str]:
    """Sorted, and without what no list of values can hold: cells' own names, hidden signs, one text in two ways."""
    shown = sorted((value for value in values if not hidden_sign(value)), reverse=True)
    by_text = {unicodedata.normalize("NFC", value.strip()): value for value in shown}
    return sorted(value for text, value in by_text.items() if text and text.casefold() not in OWN_CELLS)[
        :MOST
    ]


def attribute_of(column: str, values: list[str]) -> Categorical:
    """The column with these values, and a cell for all others."""
    return Categorical(column, values=tuple(values))
