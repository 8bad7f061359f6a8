"""A room says what lives in it, and what lives there does not say the room's name again."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]


def modules(*folders: str) -> list[Path]:
    paths = [path for folder in folders for path in (ROOT / folder).rglob("*.py")]
    return sorted(path.relative_to(ROOT) for path in paths if "migrations" not in path.parts)


def singular(word: str) -> str:
    for plural, ending in (("ies", "y"), ("sses", "ss"), ("xes", "x"), ("ches", "ch"), ("shes", "sh")):
        if word.endswith(plural):
            return word.removesuffix(plural) + ending
    return word if word.endswith("ss") else word.removesuffix("s")


def words(name: str) -> set[str]:
    return {singular(word) for word in name.split("_")}


def repeats(path: Path) -> set[str]:
    """The words of a file's name, in singular or plural, that its folder's name has said."""
    return words(path.stem.removeprefix("test_")) & words(path.parent.name)


def fault(module: str) -> str | None:
    """What keeps the first line of a package's docstring from saying what lives there."""
    said = (ast.get_docstring(ast.parse(module), clean=False) or "").partition("\n")[0]
    if not said:
        return "no docstring"
    return None if said.endswith((".", "?")) and len(said.split()) > 2 else "its first line is no sentence"


@pytest.mark.parametrize("folder", ["dpportal", "mechanisms", "tests"])
def test_no_file_repeats_its_folder_s_name(folder: str) -> None:
    assert {str(path): found for path in modules(folder) if (found := repeats(path))} == {}


@pytest.mark.parametrize(
    "path",
    [
        "dpportal/releases/products/queries/queries_form.py",
        "dpportal/releases/products/queries/query.py",
        "mechanisms/matrix/strategy/strategies.py",
        "tests/dpportal/crashes/test_crash.py",
        "tests/dpportal/portal_command/test_portal_runs.py",
        "tests/mechanisms/matrix/marginals/test_marginal_weights.py",
    ],
)
def test_a_repetition_is_seen_in_singular_and_plural(path: str) -> None:
    assert repeats(Path(path))


def test_another_word_is_no_repetition() -> None:
    assert not repeats(Path("dpportal/releases/products/queries/strategies.py"))


@pytest.mark.parametrize("folder", ["dpportal", "mechanisms"])
def test_every_package_says_in_one_line_what_lives_there(folder: str) -> None:
    packages = [path for path in modules(folder) if path.name == "__init__.py"]
    assert Path(folder) / "__init__.py" in packages
    assert {str(p): found for p in packages if (found := fault((ROOT / p).read_text()))} == {}


@pytest.mark.parametrize(
    "module",
    ["", "import os", '"""Charts."""', '"""\nCharts of everything.\n"""', '"""All about\ncharts."""'],
)
def test_a_package_that_does_not_say_it_is_seen(module: str) -> None:
    assert fault(module)
