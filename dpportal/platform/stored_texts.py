"""English sentences that a program composed or a worker stored, said again in the reader's language.

What a worker writes into a row, what stands in a plan and what `mechanisms` says of itself is English. Its templates
are in the catalogue of translations; a sentence is compared with them, and the values that it was filled with are put
into the translated template. A sentence that no template gives stays as it is.
"""

from __future__ import annotations

import re
import struct
from collections import defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property, lru_cache, wraps
from pathlib import Path
from typing import NamedTuple, ParamSpec, TypeVar

from django.conf import global_settings, settings
from django.utils.translation import get_language, override, to_locale

OF_DJANGO = Path(global_settings.__file__).parent / "locale"
P = ParamSpec("P")
R = TypeVar("R")

# A name in a template, as `str.format` or `%` fills it.
_PLACE = re.compile(
    r"\{(?P<brace>\w*)(?:![rsa])?(?::[^{}]*)?\}|%\((?P<percent>\w+)\)[sd]|%(?P<plain>[sd])|%%|\{\{|\}\}"
)
_LITERALS = {"%%": "%", "{{": "{", "}}": "}"}
# Of these several, one after the other, as `listed_names.listed` joins them in English.
_LISTS, _BETWEEN_NAMES = {"names", "columns", "kinds", "methods"}, ", "
# Marks of English beside a Chinese name, or around one.
_IN_BRACKETS = re.compile(r" ?\(([^()]*[\u4e00-\u9fff][^()]*)\)")
_COMMA = re.compile(r"(?<=[\u4e00-\u9fff”）]), |, (?=[\u4e00-\u9fff“（])")
# Literal letters of a template, below which it would fit sentences that it did not make.
_FEWEST_LETTERS = 4
_PREFIX = 4
_BETWEEN_SENTENCES = re.compile(r"(?<=[.!?:;”]) (?=\S)")
# What a value may be: what people typed has sentences, what the portal puts in has none.
_ANYTHING, _WITHIN_A_SENTENCE = r".+?", r"(?:(?![.!?] [A-Z“]).)+?"
_SHARE = re.compile(r"\d+(?:/\d+)?")
_FULL_STOPS = "。！？：；”"
# Whole sentences, which may be several or begin with where something is wrong.
_SENTENCES = {"why"}
# Values that people typed: names of theirs are no words of ours.
_TYPED = {
    "name",
    "names",
    "column",
    "columns",
    "curator",
    "dataset",
    "field",
    "file",
    "quoted",
    "label",
    "by",
    "user",
    "detail",
    "reason",
    "before",
    "after",
}


class _Entry(NamedTuple):
    """A text of the catalogue in one of its forms, and its translation."""

    text: str
    translation: str


@dataclass(frozen=True)
class _Template:
    """A text with places for values. pattern: what it gives, with a group for each name."""

    pattern: re.Pattern[str]
    translation: str
    letters: int

    def fill(self, text: str, book: Translations) -> str | None:
        """The translation with the values that the text was filled with; None if it is not of this template."""
        values = self.pattern.fullmatch(text)
        if values is None:
            return None
        translations = {name: book.value(name, value) for name, value in values.groupdict().items()}
        places = iter(range(len(translations)))

        def filled(place: re.Match[str]) -> str:
            literal = _LITERALS.get(place[0])
            return literal if literal is not None else translations.get(_group(place, places), "")

        return _PLACE.sub(filled, self.translation)


@dataclass(frozen=True)
class Translations:
    """The translations of one language. path: its compiled file. django: Django's own, of which sentences are taken."""

    path: Path
    django: Path | None = None

    @cached_property
    def _exact(self) -> dict[str, str]:
        own = {entry.text: entry.translation for entry in _entries(self.path) if entry.translation}
        others = _entries(self.django) if self.django and self.django.exists() else ()
        # Single words of Django, such as months, may be anybody's values.
        sentences = {each.text: each.translation for each in others if each.text.endswith(".")}
        return {**{text: translation for text, translation in sentences.items() if translation}, **own}

    @cached_property
    def _templates(self) -> dict[str, list[_Template]]:
        """By their first letters; those that begin with a value by none. The most literal come first."""
        by_word: dict[str, list[_Template]] = defaultdict(list)
        for text, translation in self._exact.items():
            if (place := _PLACE.search(text)) and (template := _template(text, translation)):
                by_word[text[:_PREFIX] if place.start() >= _PREFIX else ""].append(template)
        for templates in by_word.values():
            templates.sort(key=lambda template: -template.letters)
        return by_word

    def value(self, name: str, text: str) -> str:
        """A value of a template: a phrase of ours is translated, too."""
        if name in _LISTS:
            return _widened(text).replace(_BETWEEN_NAMES, "、")
        if name in _TYPED:
            return text
        listed = "; ".join(self._exact.get(piece, piece) for piece in text.split("; "))
        known = self._exact.get(text) or self._filled(text) or self._joined(text)
        return known or (self.of_text(text) if name in _SENTENCES else _widened(listed))

    def _joined(self, text: str) -> str | None:
        """Two phrases of ours with a comma between, or several, each with its share or without."""
        first, _comma, last = text.rpartition(", ")
        for phrases in ((first, last), text.split(", ")):
            translations = [self._with_share(phrase) for phrase in phrases]
            if all(translations):
                return "，".join(filter(None, translations))
        return None

    def _with_share(self, text: str) -> str | None:
        """A phrase of ours, such as “tables” in “tables 1/3”."""
        phrase, blank, share = text.rpartition(" ")
        if not _SHARE.fullmatch(share):
            return self.sentence(text)
        translation = self.sentence(phrase)
        return translation and f"{translation}{blank}{share}"

    def sentence(self, text: str) -> str | None:
        """One text of the catalogue; None if it is none."""
        return self._exact.get(text) or self._filled(text)

    def _filled(self, text: str) -> str | None:
        for template in (*self._templates.get(text[:_PREFIX], ()), *self._templates.get("", ())):
            filled: str | None = template.fill(text, self)
            if filled is not None:
                return filled
        return None

    def of_text(self, text: str) -> str:
        """The text, or as many of its sentences as are known, each run of them as long as can be."""
        parts = _BETWEEN_SENTENCES.split(text)
        answer, begin = "", 0
        while begin < len(parts):
            runs = ((end, " ".join(parts[begin:end])) for end in range(len(parts), begin, -1))
            end, piece = next(
                ((end, translation) for end, run in runs if (translation := self.sentence(run))),
                (begin + 1, parts[begin]),
            )
            if answer.endswith(":") and piece != parts[begin]:  # a name, and what of ours follows it
                answer = f"{answer[:-1]}："
            gap = " " if answer and not answer.endswith(tuple(_FULL_STOPS)) else ""
            answer, begin = f"{answer}{gap}{piece}", end
        return answer


def in_site_language(function: Callable[P, R]) -> Callable[P, R]:
    """Has what a function composes to be stored or mailed said in the site's language; readers get it in their own."""

    @wraps(function)
    def composed(*args: P.args, **kwargs: P.kwargs) -> R:
        with override(settings.LANGUAGE_CODE):
            return function(*args, **kwargs)

    return composed


def translated(text: object) -> str:
    """What the reader's language says for an English text of the portal; the text itself where it has none."""
    sentence, language = str(text), get_language() or settings.LANGUAGE_CODE
    if language == settings.LANGUAGE_CODE or not sentence.strip():
        return sentence
    return _in_language(language, sentence)


@lru_cache(maxsize=2048)
def _in_language(language: str, text: str) -> str:
    book = _catalogue(language)
    stripped = text.strip()
    return text.replace(stripped, book.of_text(stripped), 1) if book else text


@lru_cache(maxsize=8)
def _catalogue(language: str) -> Translations | None:
    """That of the site's own folder; None where there is none."""
    paths = (
        Path(folder) / to_locale(language) / "LC_MESSAGES" / "django.mo" for folder in settings.LOCALE_PATHS
    )
    django = OF_DJANGO / to_locale(language) / "LC_MESSAGES" / "django.mo"
    return next((Translations(path, django) for path in paths if path.exists()), None)


def _widened(text: str) -> str:
    """Names as a mechanism lists them, with marks of Chinese where they stand beside Chinese."""
    return _COMMA.sub("、", _IN_BRACKETS.sub(r"（\1）", text))


def _group(place: re.Match[str], places: Iterator[int]) -> str:
    """The name of a place, or its number where it has none."""
    return place["brace"] or place["percent"] or f"place_{next(places)}"


def _template(text: str, translation: str) -> _Template | None:
    """None for a text that is nearly all values."""
    pattern, begin, literal, names, places = "", 0, "", set[str](), iter(range(99))
    for place in _PLACE.finditer(text):
        pattern += re.escape(text[begin : place.start()])
        literal += text[begin : place.start()]
        begin = place.end()
        if place[0] in _LITERALS:
            pattern += re.escape(place[0][0])
            continue
        name = _group(place, places)
        value = _ANYTHING if name in _TYPED else _WITHIN_A_SENTENCE
        pattern += f"(?P={name})" if name in names else f"(?P<{name}>{value})"
        names.add(name)
    letters = sum(map(str.isalpha, literal + text[begin:]))
    if letters < _FEWEST_LETTERS or not names:
        return None
    return _Template(re.compile(pattern + re.escape(text[begin:]), re.DOTALL), translation, letters)


def _entries(path: Path) -> Iterator[_Entry]:
    """What a compiled catalogue holds, by GNU gettext's format: each form of a text, with one translation."""
    raw = path.read_bytes()
    _magic, _revision, number, texts, translations = struct.unpack_from("<5I", raw)
    for place in range(number):
        text, translated_text = (_string(raw, table + 8 * place) for table in (texts, translations))
        _context, _, own = text.rpartition("\x04")
        one, *several = own.split("\0")
        translation = translated_text.split("\0")[-1]
        if several:  # “one row”, which other languages say with its number
            translation = _with_one(translation, one)
        if one:
            yield _Entry(one, translation)
        yield from (_Entry(form, translated_text.split("\0")[-1]) for form in several)


def _with_one(translation: str, one: str) -> str:
    """The translation of a singular: 1 where it has the number that the English text says by its form."""
    return _PLACE.sub(
        lambda place: place[0] if place[0] in one or place[0] in _LITERALS else "1", translation
    )


def _string(raw: bytes, at: int) -> str:
    length, begin = struct.unpack_from("<2I", raw, at)
    return raw[begin : begin + length].decode()
