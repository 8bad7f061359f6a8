"""One word for one thing: what pages call a release, a running count, a margin."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
TEMPLATES = ROOT / "templates"
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
    r"left empty": "if empty",
    r"even steps": "linear",
    r"(?:into|in) another cell(?: than in truth)?": "in the wrong cell",
    r"different persons": "different people",
    r"strategies compared|by each strategy": "method",
    r"s since the request": "Finished in 6 seconds",
    r"(?:each person|a running count|measurement exists and) is paid": "cost, budget",
}
# The same of texts that programs have, of which some are help for specialists.
IN_PROGRAMS = {
    r"(?:^|[.] )left empty": "if empty",
    r"(?:into|in) another cell": "in the wrong cell",
    r"another strategy|and a strategy|strategy and accuracy": "method",
    r"half-widths": "margins",
    r"whose counts these are$": "name",
    r"tells persons apart": "people",
    r"paid from any": "cost, budget",
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


@cache
def program_texts() -> list[tuple[str, str]]:
    """Every text of a program that may stand on a page: whatever is written between quotation marks, but comments."""
    found = []
    for path in (*ROOT.glob("dpportal/**/*.py"), *ROOT.glob("mechanisms/**/*.py")):
        if "migrations" in path.parts or "verify" in path.parts:
            continue
        tree = ast.parse(path.read_text())
        notes = {
            id(node.body[0].value)
            for node in ast.walk(tree)
            if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef)
            if node.body and isinstance(node.body[0], ast.Expr)
        }
        for node in ast.walk(tree):
            if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in notes:
                found.append((str(path.relative_to(ROOT)), node.value))
    return found


@pytest.mark.parametrize("word", IN_PROGRAMS)
def test_programs_have_one_word_for_one_thing(word: str) -> None:
    pattern = re.compile(word, re.IGNORECASE)
    wrong = [(name, text) for name, text in program_texts() if pattern.search(text)]
    assert wrong == [], f"say {IN_PROGRAMS[word]}"


def test_the_texts_of_pages_are_found() -> None:
    assert ("base.html", "Skip to the content") in set(texts())
