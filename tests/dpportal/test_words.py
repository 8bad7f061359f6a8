"""One word for one thing: what pages call a release, a running count, a margin."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

TEMPLATES = Path(__file__).resolve().parents[2] / "templates"
ONE = re.compile(r"""\{%\s*translate\s+(["'])(.*?)\1""")
BLOCK = re.compile(r"\{%\s*blocktranslate\b[^%]*%\}(.*?)\{%\s*endblocktranslate\s*%\}", re.DOTALL)
MARKS = re.compile(r"\{\{.*?\}\}|\{%.*?%\}|<[^>]*>")
# What stands on the left is written as on the right.
INSTEAD = {
    r"publications?": "release",
    r"streams?": "running count",
    r"half[ -]widths?": "margin",
    r"counts without a table(?! nothing)": "counts I enter myself",
    r"oops|invalid input|error 500": "what is wrong, why it matters, what to do",
    r"post-processed": "adjusted",
    # Its rows are rows, where they are beside others or counted.
    r"releases? of synthetic rows|synthetic rows(?: are|: what they are) good for": "synthetic table",
    r"(?:declared|the) bounds|bounds of|at (?:one|a) bound": "limits",
}


def texts() -> Iterator[tuple[str, str]]:
    """Every text of a page, with the name of its template."""
    for path in sorted(TEMPLATES.rglob("*.html")):
        source = path.read_text()
        found = [text for _quote, text in ONE.findall(source)] + BLOCK.findall(source)
        yield from ((str(path.relative_to(TEMPLATES)), MARKS.sub(" ", text)) for text in found)


@pytest.mark.parametrize("word", INSTEAD)
def test_pages_have_one_word_for_one_thing(word: str) -> None:
    pattern = re.compile(rf"\b(?:{word})\b", re.IGNORECASE)
    wrong = [(name, " ".join(text.split())) for name, text in texts() if pattern.search(text)]
    assert wrong == [], f"say {INSTEAD[word]}"


def test_the_texts_of_pages_are_found() -> None:
    assert ("base.html", "Skip to the content") in set(texts())
