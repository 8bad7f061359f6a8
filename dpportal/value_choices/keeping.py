"""What becomes of the values that were kept: post-processing, which looks at no record."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable

from mechanisms.domain import MISSING_LABEL, OTHER_LABEL, Categorical

# Letters that a value has at most.
LONGEST = 200
# So many values are declared at most. Which ones does not depend on how many people have them: the first by alphabet.
MOST = 2000
OWN_CELLS = {label.casefold() for label in (OTHER_LABEL, MISSING_LABEL)}


def declarable(values: Iterable[str]) -> list[str]:
    """Sorted, and without what no list of values can hold: cells' own names, and one text written in two ways."""
    by_text = {unicodedata.normalize("NFC", value.strip()): value for value in sorted(values, reverse=True)}
    return sorted(value for text, value in by_text.items() if text and text.casefold() not in OWN_CELLS)[
        :MOST
    ]


def attribute_of(column: str, values: list[str]) -> Categorical:
    """The column with these values, and a cell for all others."""
    return Categorical(column, values=tuple(values))
