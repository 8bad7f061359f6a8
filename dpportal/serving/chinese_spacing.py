"""Spacing of Chinese pages: no blank beside a full-width mark, and none before a per-cent sign.

Templates and sentences that are put together leave the blanks of English, which browsers show: “。 下一句”, “95 %”.
What people wrote themselves stays as they wrote it (`own_texts`).
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Collection, Iterable
from functools import wraps
from typing import ParamSpec

from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.utils.html import escape
from django.utils.translation import get_language

from dpportal.platform.middleware import Middleware
from dpportal.serving import own_texts

P = ParamSpec("P")
# Marks that have their blank in themselves. Curved quotes are English ones, too, unless Chinese stands beside them.
_WIDE, _CHINESE = "。！？：；，、（）", "\u4e00-\u9fff"
_BLANKS = " \t\r\n"
_BLANK = f"[{_BLANKS}]+"
_SUPERFLUOUS = re.compile(
    rf"(?<=[{_WIDE}]){_BLANK}|{_BLANK}(?=[{_WIDE}])|(?<=”){_BLANK}(?=[{_CHINESE}])|(?<=[{_CHINESE}]){_BLANK}(?=“)"
)
_PER_CENT = re.compile(r"(?<=\d)[ \u00a0\u202f]%(?!\{)")
_FIGURE = '<script id="'
# Parts of a page that stay as they are: what is typed, code, comments and tags. Figures are data in a script.
_MARKUP = re.compile(
    r"<(script|style|pre|code|textarea)\b.*?</\1\s*>|<!--.*?-->|<[^>]*>", re.DOTALL | re.IGNORECASE
)


class ChineseSpacing(Middleware):
    """Sets the text of pages in Chinese as Chinese is set; what is packed already is left to `spaced_page`."""

    def __call__(self, request: HttpRequest) -> HttpResponse:
        with own_texts.collected():
            response = self.get_response(request)
            _set(response)
        return response


def spaced_page(view: Callable[P, HttpResponseBase]) -> Callable[P, HttpResponseBase]:
    """The same for a view, below what packs its answers."""

    @wraps(view)
    def answer(*args: P.args, **kwargs: P.kwargs) -> HttpResponseBase:
        response = view(*args, **kwargs)
        _set(response)
        return response

    return answer


def _set(response: HttpResponseBase) -> None:
    if not isinstance(response, HttpResponse) or "Content-Encoding" in response.headers:
        return
    is_page = response.headers.get("Content-Type", "").startswith("text/html")
    if is_page and (get_language() or "").startswith("zh"):
        page = spaced(response.content.decode(response.charset), own_texts.lines_that_matter(needs_spacing))
        response.content = page.encode(response.charset)


def needs_spacing(text: str) -> bool:
    """Whether the text would not stay as it is."""
    return bool(_SUPERFLUOUS.search(text) or _PER_CENT.search(text))


def spaced(page: str, own: Collection[str] = ()) -> str:
    """A page, or a part of one, without the blanks that Chinese has none of. own: lines that stay as they are."""
    pieces, last = [""], 0  # last: the place of the text before, which a tag does not part from the next
    begin, own_texts = 0, _any_of(map(escape, own))
    for markup in _MARKUP.finditer(page):
        last = _add_text(pieces, last, page[begin : markup.start()], own_texts)
        text = markup[0]
        if text.startswith(_FIGURE):
            text = _replaced(_PER_CENT, "%", text, _any_of(json.dumps(line)[1:-1] for line in own))
        pieces.append(text)
        if markup[1]:  # code does
            pieces.append("")
            last = len(pieces) - 1
        begin = markup.end()
    _add_text(pieces, last, page[begin:], own_texts)
    return "".join(pieces)


def _any_of(texts: Iterable[str]) -> re.Pattern[str] | None:
    """The longest come first: one may be a part of another."""
    ordered = sorted(texts, key=len, reverse=True)
    return re.compile("|".join(map(re.escape, ordered))) if ordered else None


def _replaced(pattern: re.Pattern[str], by: str, text: str, protected: re.Pattern[str] | None) -> str:
    """The text with the pattern replaced wherever it is not within what is kept."""
    if protected is None:
        return pattern.sub(by, text)
    spans = [own.span() for own in protected.finditer(text)]

    def chosen(match: re.Match[str]) -> str:
        return match[0] if any(begin <= match.start() and match.end() <= end for begin, end in spans) else by

    return pattern.sub(chosen, text)


def _add_text(pieces: list[str], last: int, text: str, protected: re.Pattern[str] | None) -> int:
    """Add the text between two tags. Returns where the text stands that comes before the next tag."""
    if not text:
        return last
    text = _replaced(_PER_CENT, "%", _replaced(_SUPERFLUOUS, "", text, protected), protected)
    if pieces[last].endswith(tuple(_WIDE)):
        text = text.lstrip(_BLANKS)
    if text.startswith(tuple(_WIDE)):
        pieces[last] = pieces[last].rstrip(_BLANKS)
    pieces.append(text)
    return len(pieces) - 1 if text else last
