"""Whether pages and drawings are made of what portals make them of: nothing that runs, is fetched, covers or hides.

The numbers of a page are compared as they stand in its text. A script, a style or a picture could show others.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from hashlib import sha256
from html.parser import HTMLParser

from mechanisms.verify.bundle import Bundle
from mechanisms.verify.finding import Finding, State

ENDINGS = (".html", ".svg", ".md")
WHAT = "markup"
TAGS = frozenset(
    [
        "body",
        "caption",
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
        "ul",
    ]
)
ATTRIBUTES = frozenset(
    re.findall(
        r"[\w-]+",
        "aria-description aria-hidden aria-label aria-labelledby aria-sort charset class content d "
        "data-difference data-shape data-sort data-sortable data-stays dominant-baseline fill fill-opacity font-family "
        "font-size font-weight for height id lang name open points preserveaspectratio role scope "
        "stroke stroke-dasharray stroke-linecap stroke-linejoin stroke-opacity stroke-width tabindex text-anchor "
        "transform type viewbox width x xmlns y",
    )
)
# Labels of an axis are turned where they are long, and a drawing stands below its title; nothing else is moved.
_MOVED = {
    "text": re.compile(r"translate\([-\d. ]+\) rotate\(-60\)"),
    "g": re.compile(r"translate\(0 \d+\)"),
}
_ONLY = {
    "charset": re.compile("utf-8"),
    "type": re.compile("checkbox"),
    "name": re.compile("viewport"),
    "data-shape": re.compile("upright"),
}
# Within a drawing; others would end it there, and their text be shown beside it.
_SHAPES = frozenset(["g", "path", "polygon", "polyline", "rect", "text"])
# In what the parts of a table stand, and nowhere else: a reader would end a part that is left open where it likes.
_PARENTS = {
    "table": ("",),
    "caption": ("table",),
    "thead": ("table",),
    "tbody": ("table",),
    "tr": ("thead", "tbody"),
    "th": ("tr",),
    "td": ("tr",),
}
# Classes of which the portal's styles hide elements, or write numbers beside them, and the tags that have one all the
# same; of `UNSEEN` ones nothing is shown where pages are narrow or printed, and no digit stands in them.
UNSEEN = {"visually-hidden": ("span",), "mark": ("th", "td", "svg")}
HIDING: dict[str, tuple[str, ...]] = {
    **UNSEEN,
    "print-only": ("p",),
    "no-print": ("section",),
    "still-narrow": ("svg",),
    **dict.fromkeys(
        ["actions", "breadcrumbs", "column-menu", "declare-table", "figure-tools", "first-steps"], ()
    ),
    **dict.fromkeys(["for-kind", "job-steps", "joined", "menu", "messages", "modebar", "page-foot"], ()),
    **dict.fromkeys(["pagination", "part-on-paper", "pick", "plotly-notifier", "skip", "steps", "tabs"], ()),
    **dict.fromkeys(["topbar", "waiting", "wide", "worth"], ()),
}
# Values stand between two signs ", and have no sign that begins or ends a tag.
_WRITTEN_TAG = re.compile(
    r"<[a-z][a-z0-9]*(?:\s+[a-zA-Z][a-zA-Z0-9-]*(?:=\"[^\"<>]*\")?)*\s*/?>|</[a-z][a-z0-9]*>"
)
_STYLE = re.compile(r"<style>[^<]*</style>")
_BEGIN = re.compile(r"\A\s*<!DOCTYPE html>")
# Among its first 1,024 bytes a page says that its signs are UTF-8; else browsers guess, and show others.
_HEAD = re.compile(
    r"\A\s{0,99}<!DOCTYPE html>\s{0,99}<html lang=\"[a-z-]{2,9}\">\s{0,99}<head>\s{0,99}<meta charset=\"utf-8\">"
)
_OTHER = re.compile(r"<[^<>]{0,20}")
# Parts of pages that are looked for from begin to end, none of which has another of its kind in it.
_PARTS = re.compile(r"<(/?)(style|script|svg|table|tr|td|th|title|text)(?![a-z0-9])")
_CELLS = {"td": "cell", "th": "cell"}
# Tags and addresses in brackets; what ends the words of a link or a picture, or the name of one's address, with or
# without a backslash, which some programs read as a part of an address before; what begins a block that is drawn or
# worked out, and one of facts that nobody is shown.
_MARKDOWN = re.compile(
    r"<[A-Za-z/!?][^>\n]{0,20}>?|\][(\[:][^\n]{0,20}|^ {0,3}(?:`{3,}|~{3,})(?!(?:python|r)?$)[^\n]{0,20}"
    r"|\A\s{0,99}(?:---|\+\+\+)|\$\$|\$`|\\href",
    re.MULTILINE,
)
_NOTHING = re.compile("")
# What runs, is fetched, hides or covers: no version writes it.
_NEVER = re.compile(
    r"</?(?:script|i?frame|frameset|object|embed|applet|base|link|style|img|image|picture|source|video|audio|track|"
    r"form|button|textarea|select|template|foreignobject|animate\w*|set|use|!|\?)(?![-\w])|"
    r"(?:on\w+|style|hidden|[\w:]*href|src\w*|data|action|formaction|http-equiv|background|poster|ping) of <|"
    r"charset of <|class of <|a head without |a style that |.* as it stands there",
    re.IGNORECASE,
)
# What no style of a portal has, of whichever version.
_FETCHES = re.compile(r"@import|url\((?!#)|image-set|src\(|\\", re.IGNORECASE)
# The SHA-256 of the portal's styles, without blanks around them; of every version that was released, and of this one.
STYLES = {
    "cd7c55ef926bb6baa79a74135ebaa97cd763cb719fe99317ab3a1e19525180ea",
    "52bc07030bfa128525c32712308240b7fdad4a94236e386c8fd6acc936e417b8",
    "e2121427c07a90fc9f694e0dcb360a004788105e0be870cb15a1311bad90b4ff",
}


def check(bundle: Bundle) -> Iterator[Finding]:
    """One finding for all. What only draws, a bundle of another version may have more of; what runs, none."""
    names = [name for name in bundle.entries if name.endswith(ENDINGS)]
    faults = [(name, fault) for name in names for fault in _faults(name, bundle.content(name))]
    if not faults:
        yield Finding(
            WHAT, State.HOLDS, "pages and drawings have nothing that runs, is fetched or covers their text"
        )
        return
    name, fault = next((each for each in faults if _NEVER.match(each[1])), faults[0])
    is_sure = bundle.is_of_this_version or _NEVER.match(fault) is not None
    yield Finding.by_version(WHAT, f"no portal writes {fault[:80]} into {name}", is_sure=is_sure)


def _faults(name: str, content: bytes) -> list[str]:
    text = content.decode("utf-8")
    if name.endswith(".md"):
        return marks_of(text)
    is_page = name.endswith(".html")
    unread = ["a head without its charset"] if is_page and not _HEAD.match(text) else []
    return [*unread, *faults_of(text)]


def marks_of(text: str) -> list[str]:
    """How tags, and addresses of links and pictures, begin in Markdown, where portals write none."""
    return _MARKDOWN.findall(text)


def faults_of(page: str) -> list[str]:
    """What portals do not write in a page or a drawing.

    Of tags that no portal writes so nothing else is read: how long that takes, whoever wrote them decides.
    """
    if fault := next(_misread(page), ""):
        return [fault]
    reader = _MarkupReader()
    reader.feed(page)
    reader.close()
    return [*reader.faults, *(fault for style in reader.styles for fault in _faults_of_style(style))]


def is_plain(name: str, text: str) -> bool:
    """Whether a text can be read at once: each part of a page that is looked for ends before the next one."""
    is_markup = name.endswith((".html", ".svg"))
    return not is_markup or next(_misread(text), "") == ""


def _unbalanced(page: str) -> Iterator[str]:
    """Parts that begin within one of the same kind, or do not end."""
    begun: dict[str, bool] = {}
    for ends, tag in _PARTS.findall(page):
        part = _CELLS.get(tag, tag)
        if begun.get(part, False) != bool(ends):
            yield f"<{ends}{tag}> as it stands there"
        begun[part] = not ends
    yield from (f"<{part}> as it stands there" for part, is_open in begun.items() if is_open)


def _faults_of_style(style: str) -> Iterator[str]:
    """A style could show other digits, hide them, or turn them round: so it is one of the portal's, byte for byte."""
    if sha256(style.strip().encode()).hexdigest() not in STYLES:
        yield "a style that fetches" if _FETCHES.search(style) else "a style of its own"


def _misread(page: str) -> Iterator[str]:
    """Tags as no portal writes them, of which another reader may make something else, and comments."""
    rest = _WRITTEN_TAG.sub("", _STYLE.sub("", _BEGIN.sub("", page)))
    yield from (f"{match[0]} as it stands there" for match in _OTHER.finditer(rest))
    yield from _unbalanced(page)


class _MarkupReader(HTMLParser):
    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.faults: list[str] = []
        self.styles: list[str] = []
        self._drawings = 0
        self._open_parts = [""]
        # The tag of an unseen element that is open, and how many of the same are.
        self._unseen, self._depth = "", 0

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag == "style":
            self.styles.append("")
        if tag not in TAGS or (tag == "style" and len(self.styles) > 1) or self._is_out_of_place(tag):
            self.faults.append(f"<{tag}>")
        self._drawings += tag == "svg"
        if tag in _PARENTS:
            if self._open_parts[-1] not in _PARENTS[tag]:
                self.faults.append(f"<{tag}> as it stands there")
            self._open_parts.append(tag)
        names = [name for name, _value in attrs]
        self.faults += [f"{name} of <{tag}>" for name in sorted(set(names)) if names.count(name) > 1]
        for name, value in attrs:
            form = _MOVED.get(tag, _NOTHING) if name == "transform" else _ONLY.get(name)
            is_own = form is None or form.fullmatch(" ".join((value or "").split())) is not None
            if name not in ATTRIBUTES or not is_own:
                self.faults.append(f"{name} of <{tag}>")
        self._read_classes(tag, dict(attrs).get("class") or "")

    def _read_classes(self, tag: str, classes: str) -> None:
        own = classes.split()
        if any(tag not in HIDING.get(name, (tag,)) for name in own):
            self.faults.append(f"class of <{tag}>")
        if not self._unseen and not UNSEEN.keys().isdisjoint(own):
            self._unseen = tag
        self._depth += tag == self._unseen

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """A tag that ends itself does so in drawings alone: elsewhere readers take it for one that begins."""
        if not self._drawings:
            self.faults.append(f"<{tag}/>")
        super().handle_startendtag(tag, attrs)

    def handle_endtag(self, tag: str) -> None:
        self._drawings -= tag == "svg"
        if self._is_out_of_place(tag):
            self.faults.append(f"</{tag}>")
        if tag in _PARENTS and self._open_parts.pop() != tag:
            self.faults.append(f"</{tag}> as it stands there")
            self._open_parts = self._open_parts or [""]
        if tag == self._unseen:
            self._depth -= 1
            self._unseen = tag if self._depth else ""

    def _is_out_of_place(self, tag: str) -> bool:
        """Whether it belongs in a drawing and is in none, or the other way about."""
        return tag not in ("svg", "title") and (tag in _SHAPES) != (self._drawings > 0)

    def handle_data(self, data: str) -> None:
        if self.cdata_elem == "style":
            self.styles[-1] += data
        elif self._unseen and any(sign.isdigit() for sign in data):
            self.faults.append(f"hidden of <{self._unseen}>")
