"""Pages as tests read them: how a template is laid out does not matter to what a browser shows."""

from __future__ import annotations

import re
from collections.abc import Callable

from django.http import HttpRequest, HttpResponse, HttpResponseBase

BLOCK = (
    "article|aside|body|button|caption|dd|details|dialog|div|dl|dt|fieldset|figcaption|figure|footer|form|h[1-6]|head|"
    "header|html|legend|li|main|nav|ol|option|p|section|select|summary|table|tbody|td|thead|th|title|tr|ul"
)
AS_WRITTEN = re.compile(r"(<(pre|textarea|script|style)\b.*?</\2>)", re.DOTALL)
BESIDE_A_BLOCK = re.compile(rf"\s*(</?(?:{BLOCK})\b[^>]*>)\s*")


def folded(markup: str) -> str:
    """The markup with each run of white space as one space, across an opening tag too, and none where a block begins
    or ends."""
    pieces = AS_WRITTEN.split(markup)
    for place in range(0, len(pieces), 3):
        spaced = re.sub(r"(<[a-z][^>]*?) >", r"\1>", re.sub(r"[ \t\n\r\f]+", " ", pieces[place]))
        pieces[place] = BESIDE_A_BLOCK.sub(r"\1", re.sub(r"( <(?!input|img)[a-z][^>]*>) ", r"\1", spaced))
    return "".join(piece for place, piece in enumerate(pieces) if place % 3 != 2)


def outline(page: str) -> list[str]:
    """What the outline of a long page leads to; each is there once."""
    [links] = re.findall(r'<nav class="jump[^>]*>(.*?)</nav>', page, re.DOTALL)
    places = re.findall(r'href="#([^"]+)"', links)
    assert all(page.count(f'id="{place}"') == 1 for place in places), places
    return places


class FoldedForTheTestClient:
    """Folds each page that Django's test client asks for, so that tests compare what is shown; a browser's stay."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self._get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        response = self._get_response(request)
        by_client = request.META.get("SERVER_NAME") == "testserver"
        is_page = response.get("Content-Type", "").startswith("text/html")
        if by_client and is_page and isinstance(response, HttpResponse):
            response.content = folded(response.content.decode()).encode()
        return response
