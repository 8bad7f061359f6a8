"""Refuses passwords that guessers try early. What they try is known to zxcvbn (Wheeler, USENIX Security 2016)."""

from __future__ import annotations

import re

from django.conf import settings
from django.contrib.auth.password_validation import MinimumLengthValidator
from django.core.exceptions import ValidationError
from django.utils.translation import gettext as _
from zxcvbn import zxcvbn

from dpportal.accounts.models import User

PORTAL_WORDS = {"dpportal", "privacy", "portal", "differential", "administrator", "curator", "analyst"}
# Words that offices choose first, in languages that zxcvbn does not know: given them, it sees through 4 for a, too.
OFFICE_WORDS = {
    "krankenhaus",
    "klinikum",
    "statistik",
    "passwort",
    "kennwort",
    "motdepasse",
    "contraseña",
    "wachtwoord",
    "frühling",
    "sommer",
    "herbst",
    "printemps",
    "automne",
    "verano",
    "otoño",
    "invierno",
    "zomer",
    "herfst",
}
# More than ten thousand million guesses.
LEAST_SCORE = 4
# Of this refusal among others.
GUESSABLE = "password_guessable"
# A longer password is not looked at: zxcvbn's time grows with the square of its length.
LOOKED_AT = 72
# One word may stand alone if it is as long as several.
LONG_WORD = 25
SHORTEST_NAME = SHORTEST_WORD = 3
# Where a word ends and the next begins with a capital.
_WITHIN = re.compile(r"(?<=[a-zß-öø-ÿ])(?=[A-ZÀ-ÖØ-Þ])|(?<=[A-ZÀ-ÖØ-Þ])(?=[A-ZÀ-ÖØ-Þ][a-zß-öø-ÿ])")
_BETWEEN = re.compile(r"(?<=[^\W\d_])[\s_.,-]+(?=[^\W\d_])")
# So many words are enough. People write one or two numbers, generators more.
ENOUGH_WORDS, FEW_NUMBERS = 4, 2
VOWELS = set("aeiouyäöüåæøáàâéèêëíìîïóòôúùûœаеёиоуыэюяєії")


class LengthValidator(MinimumLengthValidator):
    """Django's, whose refusal Django has in few languages, and whose help speaks to people in another way."""

    def get_help_text(self) -> str:
        return _("Your password must have %(number)s characters or more.") % {"number": self.min_length}

    def get_error_message(self) -> str:
        """What is refused."""
        return _("This password is too short. It needs %(number)s characters or more.") % {
            "number": self.min_length
        }


class GuessableValidator:
    """Refuses common passwords and patterns, few words with a number, and what is made of names that others know."""

    def validate(self, password: str, user: User | None = None) -> None:
        known = PORTAL_WORDS | OFFICE_WORDS | _hosts() | (_names(user) if user else set())
        known |= {word[::-1] for word in known}
        rest = _without_known_words(password[:LOOKED_AT], known)
        plain = _one_word(rest) or _words_and_numbers(password[:LOOKED_AT])
        if plain or any(
            zxcvbn(form, user_inputs=sorted(known))["score"] < LEAST_SCORE for form in {rest, _joined(rest)}
        ):
            text = _("Others would guess this too soon. %(help)s")
            raise ValidationError(text % {"help": self.get_help_text()}, code=GUESSABLE)

    def get_help_text(self) -> str:
        return _(
            "Take four words that have nothing to do with each other, or a password from a password manager; no "
            "one, two or three words, with or without a year or a number, and nothing of your name or of this portal."
        )


def _without_known_words(password: str, known: set[str]) -> str:
    """The password without words that everybody knows here: what they add, nobody has to guess."""
    words = "|".join(re.escape(word) for word in sorted(known, key=len, reverse=True))
    return re.sub(words, "", password, flags=re.IGNORECASE)


def _joined(password: str) -> str:
    """Without what stands between words: zxcvbn knows redbluegreenyellow, and takes blanks for what nobody guesses."""
    return _BETWEEN.sub("", password)


def _one_word(password: str) -> bool:
    """Whether its letters are one word, perhaps repeated: Krankenhaus2026, Sommer2025Sommer."""
    words = set(_words(password))
    return len(words) == 1 and len(words.pop()) < LONG_WORD


def _words(password: str) -> list[str]:
    """Its letters in a row, parted where a capital begins the next word."""
    return [part.casefold() for part in re.findall(r"[^\W\d_]+", _WITHIN.sub(" ", password))]


def _words_and_numbers(password: str) -> bool:
    """Whether it is numbers alone, or a few words: Sommer2025Herbst2025, Amt-Berlin-2026, KrankenhausBerlin.

    zxcvbn knows the words of few languages, and takes those of others for letters that nobody would guess. A word has
    three letters or more and no capital within. Where words make up two thirds of the letters, and vowels a quarter,
    somebody wrote it; else a generator did.
    """
    letters, numbers = re.findall(r"[^\W\d_]", password.casefold()), set(re.findall(r"\d+", password))
    words = [word for word in _words(password) if len(word) >= SHORTEST_WORD]
    vowels = sum(letter in VOWELS for letter in letters)
    readable = 3 * sum(map(len, words)) >= 2 * len(letters) and 4 * vowels >= len(letters)
    return (readable and len(set(words)) < ENOUGH_WORDS and len(numbers) <= FEW_NUMBERS) or not letters


def _hosts() -> set[str]:
    parts = {part for host in settings.ALLOWED_HOSTS for part in re.split(r"\W+", host.casefold())}
    return {part for part in parts if len(part) >= SHORTEST_NAME and not part.isdigit()}


def _names(user: User) -> set[str]:
    """The parts of a person's names and mail address."""
    names = " ".join(
        (user.get_username(), user.first_name, user.last_name, user.display_name, user.email)
    ).casefold()
    return {part for part in re.split(r"[\W_]+", names) if len(part) >= SHORTEST_NAME}
