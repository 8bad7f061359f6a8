"""Declared values that cannot stand beside a column's own cells, or beside each other."""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence

from django.utils.translation import gettext as _

from mechanisms.domain import MISSING_LABEL, OTHER_LABEL


def wrong_values(values: Sequence[str], *, own_missing: bool, is_open: bool) -> str:
    """What is wrong with a list of declared values, or nothing.

    own_missing, is_open: whether the column has cells of its own for missing and for other values.
    """
    for label in [MISSING_LABEL] * own_missing + [OTHER_LABEL] * is_open:
        if label in values:
            text = _("“%(label)s” is already the name of a cell of this column. Leave one of the two out.")
            return text % {"label": label}
    if len({unicodedata.normalize("NFC", value.strip()) for value in values}) != len(values):
        return _(
            "Two values are the same text, but for spaces or accents written in two ways. List each once."
        )
    return ""
