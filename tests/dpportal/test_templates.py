"""Templates are code: lines of a readable length, no decision by comparing a state as text, one word for one thing."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.dpportal.markup import folded

TEMPLATES = Path(__file__).resolve().parents[2] / "templates"
PAGES = sorted(TEMPLATES.rglob("*.html"))
LONGEST_LINE = 120
DECISION = re.compile(r"\{%\s*(?:el)?if\s[^%]*%\}")
STATE_AS_TEXT = re.compile(
    r"""\.(?:state|kind|level|role|product|reason|level_tag|status)\s*(?:==|!=|in\b)\s*["']"""
)


def compared_states(source: str) -> list[str]:
    """The decisions of a template that compare a state, a kind or the like with a text."""
    return [tag for tag in DECISION.findall(source) if STATE_AS_TEXT.search(tag)]


def test_lines_can_be_read() -> None:
    long = [
        f"{path.relative_to(TEMPLATES)}:{number}"
        for path in PAGES
        for number, line in enumerate(path.read_text().splitlines(), 1)
        if len(line) > LONGEST_LINE
    ]
    assert PAGES
    assert not long, f"{long}: lines have at most {LONGEST_LINE} characters; `djangofmt` breaks most of them"


def test_counts_of_a_possible_table_are_adjusted_on_every_page() -> None:
    """And called so alone; the pages' other words come from the code."""
    code = (TEMPLATES.parent / "dpportal").rglob("*.py")
    assert not [path for path in (*PAGES, *code) if "post-processed" in path.read_text().lower()]


def test_states_are_questions_to_the_model() -> None:
    compared = {str(path.relative_to(TEMPLATES)): compared_states(path.read_text()) for path in PAGES}
    assert not (found := {name: tags for name, tags in compared.items() if tags}), (
        f"{found}: a property of the model answers (`release.is_ready`), and the template asks for it"
    )


@pytest.mark.parametrize(
    ("source", "refused"),
    [
        ('{% if release.state == "ready" %}', True),
        ("{% elif a and job.state != 'done' %}", True),
        ('{% if user.role in "curator" %}', True),
        ("{% if release.is_ready %}", False),
        ('{% if nav_section == "guide" %}', False),
        ("{% if preview.missing == 1 %}", False),
    ],
)
def test_a_comparison_is_recognised(source: str, refused: bool) -> None:
    assert bool(compared_states(source)) is refused


def test_folding_takes_away_what_browsers_do_not_show() -> None:
    assert (
        folded("<dd>\n  12 <small\n>\n    on\n  this </small>\n</dd>\n")
        == "<dd>12 <small>on this </small></dd>"
    )
    assert folded("<p>a\n b</p> <pre>a\n  b</pre>") == "<p>a b</p><pre>a\n  b</pre>"


def hidden_counters(source: str) -> list[str]:
    """What a text counts and names anew: Django reads the new one, a text, and answers 500."""
    found = []
    for tag in re.findall(r"{%\s*blocktrans(?:late)?\s(.*?)%}", source, re.DOTALL):
        counted = re.search(r"\bcount\s+\w+=(\w+)", tag)
        named = re.findall(r"(\w+)=", tag.replace(counted[0], "")) if counted else []
        if counted and counted[1] in named:
            found.append(counted[1])
    return found


def test_no_text_hides_what_it_counts() -> None:
    found = {path.name: hidden_counters(path.read_text()) for path in TEMPLATES.rglob("*.*")}
    assert {name: names for name, names in found.items() if names} == {}
    assert hidden_counters("{% blocktranslate count number=persons trimmed with persons=shown %}") == [
        "persons"
    ]
    assert hidden_counters("{% blocktranslate count number=rows|length with rows_shown=rows %}") == []
