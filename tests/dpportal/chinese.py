"""What a reader of Chinese is shown in another language: words of Latin letters that are no names."""

from __future__ import annotations

import re
from collections.abc import Iterable
from html.parser import HTMLParser

READ_ALOUD = {"alt", "aria-label", "aria-description", "placeholder", "title"}
# Names of formats, programs, methods and units are the same in every language.
NAMES = {
    *("CSV", "XLSX", "Parquet", "Croissant", "Frictionless", "Jupyter", "NumPy", "Python", "R", "SPSS", "SDMX", "JSON"),
    *("README", "DOI", "SHA", "sha", "UTC", "LaTeX", "BibTeX", "RIS", "SVG", "PNG", "zip", "ID", "API", "PDF"),
    *("pandas", "booktabs", "SD", "Load", "them", "all", "Other"),
    *("DAWA", "Privelet", "PrivTree", "Identity", "zCDP", "RNM"),
}  # fmt: skip
_CODE = re.compile(
    r"`[^`]*`|python -m [\w.]+|\b[\w.-]+\.(?:csv|xlsx|json|html|md|py|ipynb|npy|parquet|zip|svg)\b|\b[0-9a-f]{32,}\b"
)
# A comma, a colon or the like of English beside Chinese, or at the beginning of what stands behind a tag.
HALF_WIDTH = re.compile(r"[\u4e00-\u9fff”）][,.;:()]|[,.;:()]\s*[\u4e00-\u9fff“（]|^[,.;:](?!\S)")
# Formulas keep their marks: N(0, σ²).
FORMULA = re.compile(r"\([^()\u4e00-\u9fff]*\)")
# A colon stands in Django's template of lines within a form, not in its texts.
OF_DJANGO = {"表:"}
_WORD = re.compile(r"[A-Za-z]{2,}")


class _Shown(HTMLParser):
    """Collects what a page shows and what is read aloud of it, without code."""

    def __init__(self) -> None:
        super().__init__()
        self.texts: list[str] = []
        self._open: list[bool] = []

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        said = dict(attributes)
        self.texts += [value for name, value in attributes if name in READ_ALOUD and value]
        if tag not in ("meta", "link", "br", "hr", "img", "input", "wbr", "col"):
            is_aside = tag in ("script", "style", "code", "pre") or said.get("lang") == "en"
            self._open.append(is_aside or bool(self._open and self._open[-1]))

    def handle_endtag(self, tag: str) -> None:
        if self._open and tag not in ("meta", "link", "br", "hr", "img", "input", "wbr", "col"):
            self._open.pop()

    def handle_data(self, text: str) -> None:
        if not (self._open and self._open[-1]):
            self.texts.append(" ".join(text.split()))


def shown_lines(page: str) -> list[str]:
    """The texts of a page, one after the other."""
    reader = _Shown()
    reader.feed(page)
    return [text for text in reader.texts if text]


def foreign_lines(lines: Iterable[str], names: Iterable[str] = ()) -> list[str]:
    """The lines with a Latin word that is neither one of `names` nor a name of a format, a program or a file."""
    known = {word for name in names for word in _WORD.findall(name)} | NAMES
    return [line for line in lines if set(_WORD.findall(_CODE.sub("", line))) - known]


def half_width(lines: Iterable[str]) -> list[str]:
    """The lines in which a mark of English stands beside Chinese, or begins what follows a tag."""
    return [line for line in lines if line not in OF_DJANGO and HALF_WIDTH.search(FORMULA.sub("", line))]
