"""Imports run one way, each dangerous thing has one place, and no file grows beyond reading.

That the rules see what breaks them: `test_planted.py`.
"""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Iterator, Sequence
from types import FunctionType

import pytest

from dpportal.datasets import records
from tests.dpportal import code_lists
from tests.dpportal.code_rules import RULES, Rule, functions_of_records
from tests.dpportal.code_source import ROOT, project

LONGEST_FILE = 400
LONGEST_FUNCTION = 40
MOST_PARAMETERS = 6


def test_imports_keep_the_contracts() -> None:
    """Layers and independence of rooms, layers in them, and who may import what: see pyproject.toml."""
    lint = [sys.executable, "-c", "from importlinter.cli import lint_imports_command; lint_imports_command()"]
    done = subprocess.run([*lint, "--no-cache"], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.__name__)
def test_the_project_keeps_the_rule(rule: Rule) -> None:
    broken = {source.name: found for source in project() if (found := list(rule(source)))}
    assert broken == {}


def test_the_whole_project_is_looked_at() -> None:
    names = {source.name for source in project()}
    assert {"dpportal.releases.execution", "mechanisms.noise.sampler", "dpportal.tables"} <= names


def test_every_function_of_records_is_guarded_but_those_that_are_named() -> None:
    """What is written there tomorrow gives true numbers until a list says that it does not."""
    public = {name for name, value in vars(records).items() if isinstance(value, FunctionType)}
    theirs = {
        name for name in public if vars(records)[name].__module__.startswith("dpportal.datasets.record")
    }
    used_inside = {"described", "stored_json", "opened", "own_table", "own_upload"}
    functions = {name for name in theirs if not name.startswith("_")} - used_inside
    assert functions_of_records() == functions
    assert functions > code_lists.WITHOUT_RECORDS
    ours = {name.rpartition(".")[2] for name in code_lists.FOR_CURATORS if code_lists.RECORDS in name}
    assert ours <= functions - code_lists.WITHOUT_RECORDS


def test_every_module_that_a_list_allows_is_there() -> None:
    names = {source.name for source in project()}
    allowed = {
        *set().union(*code_lists.FOR_CURATORS.values()),
        *code_lists.COUNTING,
        *code_lists.SPEAKING_SQL,
    }
    assert allowed | set(code_lists.MAKERS_OF_KEYS) <= names


@pytest.mark.parametrize("folder", ["dpportal", "mechanisms", "tests"])
def test_no_file_is_longer_than_a_reader_bears(folder: str) -> None:
    lengths = {
        str(path.relative_to(ROOT)): len(path.read_text().splitlines())
        for path in (ROOT / folder).rglob("*.py")
        if "migrations" not in path.parts
    }
    long = {name: length for name, length in lengths.items() if length > LONGEST_FILE}
    assert not long, f"{long}: at most {LONGEST_FILE} lines; move one of its nouns to a file of its own"


def test_no_function_is_longer_than_a_reader_bears() -> None:
    functions = [
        (source.name, node)
        for source in project()
        for node in source.nodes
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    ]
    assert len(functions) > 5000
    long = [f"{module}.{node.name}" for module, node in functions if _lines(node) > LONGEST_FUNCTION]
    assert not long, f"{long}: at most {LONGEST_FUNCTION} lines; move a step to a function of its own"
    wide = [f"{module}.{node.name}" for module, node in functions if _parameters(node) > MOST_PARAMETERS]
    assert not wide, f"{wide}: at most {MOST_PARAMETERS} parameters; what belongs together is a dataclass"


def test_no_class_name_means_two_things() -> None:
    """Nor does that of a type with another name, or of a class inside another.

    Django wants all its commands to be one name; the client of the API has what the portal has. The choices of a
    model's field stand inside the model, so code says whose they are: `Release.State`. Templates and migrations name
    them so, and Django wants `Meta`.
    """
    modules = [s for s in project() if not s.inside("dpportal.api.dpclient") and ".commands." not in s.name]
    places: dict[str, list[str]] = {}
    for source in modules:
        for name in named_types(source.tree.body):
            places.setdefault(name, []).append(source.name)
    assert len(places) > 1000
    assert {name: found for name, found in places.items() if len(found) > 1} == {}


def named_types(body: Sequence[ast.stmt]) -> Iterator[str]:
    """Names of classes, those inside others too, and of types that are assigned to a name.

    Choices of a model's field, and `Meta`, are their model's own.
    """
    for node in body:
        if isinstance(node, ast.ClassDef):
            yield node.name
            inner = (
                each for each in node.body if isinstance(each, ast.ClassDef) and not _is_of_its_model(each)
            )
            yield from named_types(list(inner))
        elif isinstance(node, ast.Assign | ast.AnnAssign):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            names = [each.id for each in targets if isinstance(each, ast.Name)]
            yield from (name for name in names if name.lstrip("_")[:1].isupper() and not name.isupper())


def _is_of_its_model(node: ast.ClassDef) -> bool:
    return node.name == "Meta" or "models.TextChoices" in map(ast.unparse, node.bases)


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("Rows = list[str]\nROWS = 3\nrows = 4", ["Rows"]),
        ('Rows: TypeAlias = "list[str]"', ["Rows"]),
        ('_Rows = NamedTuple("_Rows", [])', ["_Rows"]),
        ("class A:\n    class Rows: ...\n    class Meta: ...", ["A", "Rows"]),
        ("class A(Model):\n    class State(models.TextChoices): ...", ["A"]),
    ],
)
def test_a_type_by_any_name_is_seen(text: str, names: list[str]) -> None:
    assert list(named_types(ast.parse(text).body)) == names


def _lines(function: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    assert function.end_lineno is not None
    return function.end_lineno - function.lineno + 1


def _parameters(function: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    """Without the object or class that a method belongs to."""
    taken = function.args
    names = [each.arg for each in (*taken.posonlyargs, *taken.args, *taken.kwonlyargs)]
    return len(names) - (names[:1] in (["self"], ["cls"]))
