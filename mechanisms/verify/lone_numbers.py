"""Blocks of a page that have numbers and no word: digits one below the other are read as one number.

Outside of tables and drawings portals write such a block for names of a release alone: of a column over what is shown
of it, of values that were chosen or could be, and beside its term a number in a list of facts.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Set

from mechanisms.inert_text import as_shown
from mechanisms.json_types import JsonObject
from mechanisms.verify.page_text import plain

_UNREAD, _TABLE = (re.compile(rf"<({tags})\b.*?</\1>", re.DOTALL) for tags in ("style|script|svg", "table"))
_BLOCK = re.compile(r"<(?!/?(?:code|label|small|span|strong|sub|sup)\b)(/?[a-z][a-z0-9]*\b[^>]*)>")
_DIGIT, _LETTER = re.compile(r"\d"), re.compile(r"[^\W\d_]")
# What stands between names that are listed.
_LISTED = re.compile(r"[\s,、，…]+")
_FACT, _TERM = "dd", "dt"
# The names of what a drawing shows, each behind its mark.
_KEY = 'p class="still-names"'
# Under what keys a plan and release.json have names of columns.
_CALLED = frozenset({"name", "column", "title"})


def lone(page: str, release: JsonObject, labels: Set[str]) -> Iterator[str]:
    """Those that are no names of the release, and no single number behind a term. labels: what its tables say."""
    names = sorted(_names(release), key=len, reverse=True)
    term = ""
    for tag, text in _blocks(page):
        kind = tag.partition(" ")[0]
        term = text if kind == _TERM else term
        if not _DIGIT.search(text) or _LETTER.search(text):
            continue
        rest = _without(text, sorted(labels, key=len, reverse=True) if tag == _KEY else names)
        is_fact = kind == _FACT and _LETTER.search(_without(term, names)) is not None
        if len(rest.split()) > is_fact:
            yield text[:20]
        term = "" if kind == _FACT else term


def _blocks(page: str) -> Iterator[tuple[str, str]]:
    """The tag that each begins behind, and its text in one line."""
    tag, *parts = ["", *_BLOCK.split(_TABLE.sub("<table>", _UNREAD.sub(" ", page)))]
    for place in range(0, len(parts), 2):
        yield tag, " ".join(plain(parts[place]).split())
        tag = parts[place + 1] if place + 1 < len(parts) else ""


def _names(release: JsonObject) -> set[str]:
    """Of columns, and of values that stand by themselves: chosen ones, and all that could be."""
    plan = release["plan"]
    texts = [release.get("title"), release.get("dataset"), *_leaves(release.get("choice"))]
    texts += [*_leaves(release.get("counted")), *_leaves(plan.get("score"))]
    columns = [release.get("columns"), *(plan.get(name) for name in ("domain", "groups", "columns"))]
    texts += [text for part in columns for text in _leaves(part, _CALLED)]
    shown = {as_shown(text) for text in texts if isinstance(text, str)}
    every = {" ".join(each.split()) for name in shown for each in (name, name.replace("_", " "))}
    return every - {""}


def _leaves(value: object, called: frozenset[str] | None = None) -> Iterator[str]:
    """Texts within a value; called: the keys of those that are looked for in its objects, all by default."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, list):
        for each in value:
            yield from _leaves(each, called)
    elif isinstance(value, dict):
        for key, each in value.items():
            if called is None or key in called or not _is_text(each):
                yield from _leaves(each, called)


def _is_text(value: object) -> bool:
    """Whether it is one, or a list of them, as the values of a column are."""
    return isinstance(value, str) or (
        isinstance(value, list) and any(isinstance(each, str) for each in value)
    )


def _without(text: str, names: list[str]) -> str:
    """What is left of a text without those names that are not parts of a longer word or number."""
    for name in (name for name in names if name in text):
        text = re.sub(rf"(?<!\w){re.escape(name)}(?!\w)", " ", text)
    return _LISTED.sub(" ", text)
