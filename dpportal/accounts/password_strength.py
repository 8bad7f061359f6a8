"""Refuses passwords that guessers try early. What they try is known to zxcvbn (Wheeler, USENIX Security 2016)."""

from __future__ import annotations

import re

from django.conf import settings
from django.core.exceptions import ValidationError
from django.utils.translation import gettext as _
from zxcvbn import zxcvbn

from dpportal.accounts.models import User

PORTAL_WORDS = {"dpportal", "privacy", "portal", "differential", "administrator", "curator", "analyst"}
# More than ten thousand million guesses.
LEAST_SCORE = 4
# What is longer than this is not looked at: zxcvbn's time grows with the square of it.
LOOKED_AT = 72
# One word may stand alone if it is as long as several.
LONG_WORD = 20
SHORTEST_NAME = 3


class GuessableValidator:
    """Refuses common passwords and patterns, one word with numbers, and what is made of names that others know."""

    def validate(self, password: str, user: User | None = None) -> None:
        known = PORTAL_WORDS | _hosts() | (_names(user) if user else set())
        rest = _without(password[:LOOKED_AT], known)
        if _one_word(rest) or zxcvbn(rest, user_inputs=sorted(known))["score"] < LEAST_SCORE:
            text = _("Others would guess this too soon. %(help)s")
            raise ValidationError(text % {"help": self.get_help_text()}, code="password_guessable")

    def get_help_text(self) -> str:
        return _(
            "Take four words that have nothing to do with each other, or a password from a password manager; no word "
            "with a year or numbers, and nothing of your name or of this portal."
        )


def _without(password: str, known: set[str]) -> str:
    """The password without words that everybody knows here: what they add, nobody has to guess."""
    words = "|".join(re.escape(word) for word in sorted(known, key=len, reverse=True))
    return re.sub(words, "", password, flags=re.IGNORECASE)


def _one_word(password: str) -> bool:
    """Whether its letters are one word, perhaps repeated: Krankenhaus2026, Sommer2025Sommer."""
    words = {word.casefold() for word in re.findall(r"[^\W\d_]+", password)}
    return len(words) == 1 and len(words.pop()) < LONG_WORD


def _hosts() -> set[str]:
    parts = {part for host in settings.ALLOWED_HOSTS for part in re.split(r"\W+", host.casefold())}
    return {part for part in parts if len(part) >= SHORTEST_NAME and not part.isdigit()}


def _names(user: User) -> set[str]:
    """The parts of a person's names and mail address."""
    said = " ".join(
        (user.get_username(), user.first_name, user.last_name, user.display_name, user.email)
    ).casefold()
    return {part for part in re.split(r"[\W_]+", said) if len(part) >= SHORTEST_NAME}
