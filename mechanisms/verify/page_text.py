"""What people read of a page: its words and numbers as they stand there, without tags, styles and drawings."""

from __future__ import annotations

import re
from collections.abc import Iterator
from html import unescape

# Tags within a line: what stands on both sides of one is read as one word, or one number.
_IN_A_LINE = re.compile(r"</?(?:code|label|small|span|strong|sub|sup)\b[^>]*>")
_TAG = re.compile(r"<[^>]*>")
_UNREAD = re.compile(r"<(style|script)\b.*?</\1>|<!--.*?-->", re.DOTALL)
_DRAWING = re.compile(r"<svg\b.*?</svg>", re.DOTALL)
_SHOWN = re.compile(r"\b(?:title|aria-label|aria-description|alt)=\"([^\"]*)\"")
# Words of a drawing that stand at no shape and no mark.
_TITLE = re.compile(
    r"<title>(.*?)</title>|<text(?![^>]*text-anchor)[^>]*>(.*?)</text>|<svg[^>]*aria-label=\"([^\"]*)\"",
    re.DOTALL,
)
_WORDS = re.compile(r"<text(?=[^>]*text-anchor)[^>]*>(.*?)</text>", re.DOTALL)
# Of a column of LaTeX, as a share of the line, and around the page.
_WIDTH = re.compile(r"p\{0\.[0-9]{1,3}\\linewidth\}|margin=15mm")
# Signs that Markdown shows nothing of between two digits.
_EMPHASIS = re.compile(r"(?<=[0-9])[*_`]+(?=[0-9])")


def plain(markup: str) -> str:
    """A part of a page without its tags."""
    return unescape(_TAG.sub(" ", _IN_A_LINE.sub("", markup)))


def readable(name: str, text: str) -> str:
    """What people read of a text, but for its drawings, whose shapes and marks are compared elsewhere."""
    if name.endswith(".html"):
        shown = _DRAWING.sub(" ", _UNREAD.sub(" ", text))
        return f"{plain(shown)} {_descriptions(shown)}"
    if name.endswith(".md"):
        return _EMPHASIS.sub("", unescape(text)).replace("\\%", "%")
    return _WIDTH.sub(" ", text).replace("\\%", "%")


def titles(text: str) -> str:
    """Of all drawings in a text: titles, subtitles, notes, and what else stands at no shape."""
    texts = (title for drawing in _drawings(text) for titles in _TITLE.findall(drawing) for title in titles)
    return "\n".join(map(plain, texts))


def words_at_shapes(text: str) -> list[str]:
    """Of all drawings in a text, those at shapes and marks, each once."""
    texts = (words for drawing in _drawings(text) for words in _WORDS.findall(drawing))
    return list(dict.fromkeys(" ".join(plain(words).split()) for words in texts))


def every_sign(name: str, text: str) -> str:
    """The same with the words of its drawings, which pages have alone."""
    drawings = " ".join(_drawings(text)) if name.endswith((".html", ".svg")) else ""
    return f"{readable(name, text)} {plain(drawings)}"


def _drawings(text: str) -> Iterator[str]:
    return (match[0] for match in _DRAWING.finditer(text))


def _descriptions(text: str) -> str:
    """What browsers read out, or show beside something."""
    return unescape(" ".join(_SHOWN.findall(text)))
