"""Names that people could take for another's: the same but for capitals or widths, or in letters that look alike."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable

from django.utils.translation import gettext as _

from dpportal.accounts.look_alikes import looks_of

# Letters of Korean that fill a place and show nothing.
FILLERS = set("\u115f\u1160\u3164\uffa0")
# Those of which letters look alike. What others have in common with them nobody takes for theirs.
ALPHABETS = {"LATIN", "CYRILLIC", "GREEK", "ARMENIAN", "CHEROKEE", "COPTIC"}


def confusion(name: str, others: Iterable[str]) -> str:
    """Why people could take a name for another's; empty if they could not. others: the names of all others."""
    if FILLERS & set(name):
        return _("Use letters, digits, spaces and visible signs only.")
    first_words = {unicodedata.name(sign, "").partition(" ")[0] for sign in _as_seen(name) if sign.isalpha()}
    if len(first_words & ALPHABETS) > 1:
        return _(
            "The letters of this name are of several alphabets, so it may look like another. Use letters of one."
        )
    if any(_as_seen(name) == _as_seen(other) or looks_of(name) & looks_of(other) for other in others):
        return _("Somebody has this name, or one that looks like it. Choose another.")
    return ""


def _as_seen(name: str) -> str:
    """What two names that only differ in capitals or widths have in common."""
    return unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", name).casefold())
