"""Spacing of Chinese pages: no blank beside a full-width mark, and none before a per-cent sign.

Templates and sentences that are put together leave the blanks of English, which browsers show: “。 下一句”, “95 %”.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from django.http import HttpRequest
from django.http.response import HttpResponseBase
from django.utils.translation import get_language

from dpportal.platform.middleware import Middleware

# Marks that have their blank in themselves. Curved quotes are English ones, too, unless Chinese stands beside them.
_WIDE, _CHINESE = "。！？：；，、（）", "\u4e00-\u9fff"
_BLANK = r"[ \t\r\n]+"
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
    """Sets the text of pages in Chinese as Chinese is set."""

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        response = self.get_response(request)
        is_page = response.headers.get("Content-Type", "").startswith("text/html")
        if is_page and not response.streaming and (get_language() or "").startswith("zh"):
            response.content = spaced(response.content.decode(response.charset)).encode(response.charset)
        return response


def spaced(page: str) -> str:
    """A page, or a part of one, without the blanks that Chinese has none of."""
    return "".join(_pieces(page))


def _pieces(page: str) -> Iterator[str]:
    begin, before = 0, ""
    for markup in _MARKUP.finditer(page):
        text = _text(page[begin : markup.start()], before)
        yield text
        whole = markup[0]
        yield _PER_CENT.sub("%", whole) if whole.startswith(_FIGURE) else whole
        # A tag parts no words; code does.
        before = "" if markup[1] else (text[-1:] or before)
        begin = markup.end()
    yield _text(page[begin:], before)


def _text(text: str, before: str) -> str:
    """Text between two tags; before: the sign that stands before the first of them."""
    return _PER_CENT.sub("%", _SUPERFLUOUS.sub("", before + text)[len(before) :])
