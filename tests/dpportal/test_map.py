"""The map says what is there: arrows are imports, lines of the schema are foreign keys, paths that pages name exist."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest
from django.apps import apps

from tests.dpportal.code_source import ROOT

MAP = (ROOT / "dpportal" / "README.md").read_text()
TOP = ("dpportal", "mechanisms", "templates", "static", "tests", ".ci")
PAGES = [
    path.relative_to(ROOT).as_posix()
    for path in (
        *ROOT.glob("*.md"),
        *(p for folder in ("dpportal", "mechanisms", "tests") for p in (ROOT / folder).rglob("*.md")),
    )
]
# Django's own files, which know rooms and are none; and the package beside the portal, which is drawn with them.
OUTSIDE = {"apps", "asgi", "celery", "management", "settings", "urls"}
# `from dpportal.jobs.runner import …`, `from dpportal import jobs`, `from mechanisms…`.
IMPORT = re.compile(r"^ *(?:from|import) (?:dpportal(?:\.| import )(\w+)|(mechanisms)\b)", re.MULTILINE)
Arrow = tuple[str, str]


def picture(kind: str) -> str:
    """The one Mermaid diagram of a kind."""
    found = re.search(rf"```mermaid\n{kind}(.*?)```", MAP, re.DOTALL)
    assert found is not None
    return found[1]


@cache
def imports() -> frozenset[Arrow]:
    """Which room imports which, by the lines that begin an import: ten times as fast as syntax trees."""
    pairs: set[Arrow] = set()
    for path in (ROOT / "dpportal").rglob("*.py"):
        if "migrations" not in path.parts:
            here = path.relative_to(ROOT / "dpportal").parts[0].removesuffix(".py")
            pairs |= {(here, inner or library) for inner, library in IMPORT.findall(path.read_text())}
    return frozenset((a, b) for a, b in pairs if a != b and not {a, b} & OUTSIDE)


def reached(start: str, arrows: set[Arrow]) -> set[str]:
    """All that the arrows lead to."""
    met: set[str] = set()
    waiting = [start]
    while waiting:
        here = waiting.pop()
        following = {b for a, b in arrows if a == here} - met
        met |= following
        waiting += following
    return met


def test_the_arrows_are_the_imports_without_those_that_follow_from_others() -> None:
    drawn = set(re.findall(r"(\w+) --> (\w+)", picture("flowchart")))
    missing = {(a, b) for a, b in imports() if b not in reached(a, drawn)}
    assert not missing, f"the picture in dpportal/README.md lacks the arrows {missing}"
    spare = drawn - imports() | {(a, b) for a, b in drawn if b in reached(a, drawn - {(a, b)})}
    assert not spare, f"in that picture no import needs the arrows {spare}, or others lead there already"


def test_every_room_has_a_line() -> None:
    rooms = {path.parent.name for path in (ROOT / "dpportal").glob("*/__init__.py")}
    lines = MAP[: MAP.index("## The life of a release")]
    missing = {name for name in rooms - OUTSIDE if f"\n| `{name}` |" not in lines}
    assert not missing, f"{missing}: a line in the table of rooms in dpportal/README.md"


def test_the_lines_of_the_schema_are_foreign_keys() -> None:
    keys = {
        (field.related_model.__name__, model.__name__, field.name)
        for model in apps.get_models()
        for field in model._meta.concrete_fields
        if field.related_model is not None
    }
    lines = re.findall(r"(\w+) \|\|--o[{|] (\w+) : (\w+)", picture("erDiagram"))
    assert len(lines) == picture("erDiagram").count(" : ")
    assert set(lines) - keys == set()


@cache
def tails() -> frozenset[str]:
    """Every path below the root, and what it ends in: `jobs/runner.py` of dpportal/jobs/runner.py."""
    paths = [p for folder in TOP for p in (ROOT / folder).rglob("*") if "__pycache__" not in p.parts]
    parts = [p.relative_to(ROOT).parts for p in (*paths, *ROOT.glob("*"))]
    return frozenset("/".join(part[i:]) for part in parts for i in range(len(part)))


def named(page: str) -> Iterator[str]:
    """Paths of the tree that a page names in backquotes, but for blocks of code."""
    text = re.sub(r"^ *```.*?^ *```", "", (ROOT / page).read_text(), flags=re.DOTALL | re.MULTILINE)
    for name in re.findall(r"`([\w./-]+)(?:: \w+)?`", text):
        if name.endswith(".py") or name.startswith(tuple(f"{folder}/" for folder in TOP)):
            yield re.sub(r"^(\.\./)+", "", name).rstrip("/")


def linked(page: str) -> Iterator[tuple[Path, str]]:
    """Files that a page links to, itself among them, each with the place in it, if any."""
    for target, place in re.findall(r"\]\(([^)#\s]*)(?:#([^)]*))?\)", (ROOT / page).read_text()):
        if "://" not in target:
            yield (ROOT / page).parent / target if target else ROOT / page, place


def places(page: Path) -> set[str]:
    """Its headings, as links name them."""
    headings = re.findall(r"^#+ (.+)$", page.read_text(), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("page", PAGES)
def test_every_path_that_a_page_names_is_there(page: str) -> None:
    gone = {name for name in named(page) if name not in tails()}
    gone |= {str(path) for path, _place in linked(page) if not path.exists()}
    assert not gone, f"{page} names what is not there: {gone}"


@pytest.mark.parametrize("page", PAGES)
def test_every_heading_that_a_page_links_to_is_there(page: str) -> None:
    gone = {
        f"{path.name}#{place}"
        for path, place in linked(page)
        if place and path.suffix == ".md" and place not in places(path)
    }
    assert not gone, f"{page} links to headings that are not there: {gone}"
