"""How wide texts of drawings are: signs of Chinese, Japanese and Korean take the place of two letters."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Sequence

# Pixels of a letter.
LETTER = 6.6
# Letters of a name before “…”, with it, where its end stands behind that.
SHORTEST_BEGINNING = 7
_WIDE = re.compile(
    "[\u1100-\u115f\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6"
    "\U0001f300-\U0001faff\U00020000-\U0003fffd]"
)


def letters(text: str) -> int:
    """As many letters are as wide as the text."""
    return len(text) if text.isascii() else len(text) + len(_WIDE.findall(text))


def longest(texts: Collection[str], least: int = 0) -> int:
    """The letters of the widest text; `least` of none. Thousands of texts without wide signs take no call each."""
    if _WIDE.search("".join(texts)) is None:
        return max(map(len, texts), default=least)
    return max(map(letters, texts), default=least)


def width_of(text: str) -> float:
    """In pixels."""
    return LETTER * letters(text)


def shortened(text: str, most: int) -> str:
    """The text, or its beginning with “…”: no wider than so many letters."""
    if letters(text) <= most:
        return text
    short = text[: most - 1]
    while letters(short) > most - 1:
        short = short[:-1]
    return f"{short}…"


def shortened_apart(texts: Sequence[str], most: int) -> list[str]:
    """Each no wider than so many letters; of those that begin like another also the words in which they differ.

    “12th grade, no …, Female” is another than “12th grade, no …, Male”.
    """
    return [
        text if letters(text) <= most else _with_own_end(text, texts, most) or shortened(text, most)
        for text in texts
    ]


def _with_own_end(text: str, texts: Sequence[str], most: int) -> str:
    """The beginning, “…” and the words from where it differs from all others; empty where these are too long."""
    shared = max((_shared(text, other) for other in texts if other != text), default=0)
    begin = text.rfind(" ", 0, shared)
    begin -= text[:begin].endswith(",")
    end = text[begin:] if begin > 0 else text
    room = most - letters(end)
    return shortened(text, room) + end if room >= SHORTEST_BEGINNING else ""


def _shared(text: str, other: str) -> int:
    """Letters with which both begin."""
    differing = (place for place, (a, b) in enumerate(zip(text, other, strict=False)) if a != b)
    return next(differing, min(len(text), len(other)))


def widest(texts: Iterable[str]) -> float:
    """Pixels of the widest text; 0 of none."""
    return LETTER * longest(list(texts))
