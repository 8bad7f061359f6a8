"""Whether pages and drawings are made of what portals make them of: nothing that runs, is fetched, covers or hides.

The numbers of a page are compared as they stand in its text. A script, a style or a picture could show others.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from html.parser import HTMLParser

from mechanisms.verify.bundle import Bundle
from mechanisms.verify.finding import Finding, State

ENDINGS = (".html", ".svg", ".md")
WHAT = "markup"
TAGS = frozenset(
    [
        "body",
        "caption",
        "circle",
        "code",
        "dd",
        "details",
        "div",
        "dl",
        "dt",
        "figcaption",
        "figure",
        "g",
        "h1",
        "h2",
        "h3",
        "h4",
        "head",
        "html",
        "input",
        "label",
        "li",
        "line",
        "main",
        "meta",
        "ol",
        "p",
        "path",
        "polygon",
        "polyline",
        "pre",
        "rect",
        "section",
        "small",
        "span",
        "strong",
        "style",
        "sub",
        "summary",
        "sup",
        "svg",
        "table",
        "tbody",
        "td",
        "text",
        "th",
        "thead",
        "title",
        "tr",
        "tspan",
        "ul",
    ]
)
ATTRIBUTES = frozenset(
    re.findall(
        r"[\w-]+",
        "aria-description aria-hidden aria-label aria-labelledby aria-sort charset class colspan content cx cy d "
        "data-difference data-sort data-sortable data-stays dominant-baseline fill fill-opacity font-family "
        "font-size font-weight for height id lang name open points preserveaspectratio r role rowspan rx ry scope "
        "stroke stroke-dasharray stroke-linecap stroke-linejoin stroke-opacity stroke-width tabindex text-anchor "
        "transform type viewbox width x x1 x2 xmlns y y1 y2",
    )
)
# Labels of an axis are turned where they are long, and a drawing stands below its title; nothing else is moved.
_MOVED = {
    "text": re.compile(r"translate\([-\d. ]+\) rotate\(-60\)"),
    "g": re.compile(r"translate\(0 \d+\)"),
}
_ONLY = {"type": re.compile("checkbox"), "name": re.compile("viewport")}
# A backslash before a sign of Markdown takes its meaning, unless another one has taken that of the backslash.
_TAG = re.compile(r"(?<!\\)(?:\\\\)*(<[A-Za-z/!?][^>\n]{0,20}>?)")
_NOTHING = re.compile("")
# What styles may fetch, and what they write beside the text: marks, and no letters or digits.
_FETCHES = re.compile(r"@import|url\((?!#)", re.IGNORECASE)
_WRITTEN = re.compile(r"(?<![-\w])content\s*:([^;}]*)", re.IGNORECASE)
_QUOTED = re.compile(r"\"([^\"]*)\"|'([^']*)'")


def check(bundle: Bundle) -> Iterator[Finding]:
    """One finding for all; bundles of other versions may have more."""
    if not bundle.is_of_this_version:
        return
    names = [name for name in bundle.entries if name.endswith(ENDINGS)]
    told = ((name, fault) for name in names if (fault := _fault(name, bundle.content(name))))
    for name, fault in told:
        yield Finding(WHAT, State.FAILED, f"no portal writes {fault[:80]} into {name}")
        return
    yield Finding(
        WHAT, State.HOLDS, "pages and drawings have nothing that runs, is fetched or covers their text"
    )


def _fault(name: str, content: bytes) -> str:
    text = content.decode("utf-8")
    return tag_of(text) if name.endswith(".md") else fault_of(text)


def tag_of(text: str) -> str:
    """How the first tag in Markdown begins, where portals write none; empty if there is none."""
    tag = _TAG.search(text)
    return tag[1] if tag else ""


def fault_of(page: str) -> str:
    """The first thing in a page or a drawing that portals do not write; empty if there is none."""
    reader = _MarkupReader()
    reader.feed(page)
    reader.close()
    return next(iter(reader.faults), "")


class _MarkupReader(HTMLParser):
    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.faults: list[str] = []
        self._styles = 0

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag == "style":
            self._styles += 1
        if tag not in TAGS or (tag == "style" and self._styles > 1):
            self.faults.append(f"<{tag}>")
        for name, value in attrs:
            form = _MOVED.get(tag, _NOTHING) if name == "transform" else _ONLY.get(name)
            is_own = form is None or form.fullmatch(" ".join((value or "").split())) is not None
            if name not in ATTRIBUTES or not is_own:
                self.faults.append(f"{name} of <{tag}>")

    def handle_data(self, data: str) -> None:
        if self.cdata_elem == "style":
            self._read_style(data)

    def _read_style(self, style: str) -> None:
        if _FETCHES.search(style):
            self.faults.append("a style that fetches")
        for written in _WRITTEN.findall(style):
            if any(sign.isalnum() for quoted in _QUOTED.findall(written) for sign in "".join(quoted)):
                self.faults.append("a style that writes words")
