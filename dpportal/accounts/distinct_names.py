"""Names that people could take for another's: the same but for capitals or widths, or letters of several alphabets."""

from __future__ import annotations

import unicodedata

from django.core.exceptions import ValidationError
from django.utils.translation import gettext as _

# Letters of Korean that fill a place and show nothing.
FILLERS = set("\u115f\u1160\u3164\uffa0")
# Those of which letters look alike. What others have in common with them nobody takes for theirs.
ALPHABETS = {"LATIN", "CYRILLIC", "GREEK", "ARMENIAN", "CHEROKEE", "COPTIC"}


def as_seen(name: str) -> str:
    """What two names that only differ in capitals or widths have in common."""
    return unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", name).casefold())


def check_alphabet(name: str) -> None:
    """Raise ValidationError for letters of several alphabets that look alike, and for letters that nobody sees."""
    if FILLERS & set(name):
        raise ValidationError(_("Use letters, digits, spaces and visible signs only."))
    first_words = {unicodedata.name(sign, "").partition(" ")[0] for sign in as_seen(name) if sign.isalpha()}
    if len(first_words & ALPHABETS) > 1:
        raise ValidationError(
            _(
                "The letters of this name are of several alphabets, so it may look like another. Use letters of one."
            )
        )
