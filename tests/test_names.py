"""Names of all that code defines are the field's, and so are those of templates and addresses."""

from __future__ import annotations

import ast
import re
from collections.abc import Sequence
from functools import cache
from pathlib import Path

import pytest

from tests.test_rooms import ROOT, modules

STRANGE = set("told said found kept whole made asked wanted beside elsewhere anew foreseen drawn".split())  # noqa: SIM905
# Rows with all their columns are a term.
MODULES_OF_THE_TERM = {"mechanisms/microdata/whole_rows.py"}
CLASSES_OF_THE_TERM = {"WholeRows"}

# A call of asyncio, terms of mathematics, and what others call: the client's attribute is the API's field.
FUNCTIONS_OF_THE_TERM = {
    *("connection_made", "split_whole_rows", "of_whole_rows", "whole_orders", "kept"),
}
ARGUMENTS_OF_THE_TERM = {"whole_orders"}
# HTTP has a word for 404.
VARIABLES_OF_THE_TERM = {"whole_orders", "NOT_FOUND"}
# Terms; columns of the database, which a migration alone would rename; and fields of the API, which programs read.
ATTRIBUTES_OF_THE_TERM = {
    *("whole_orders", "whole_rows"),
    *("ApiToken.made_at", "BundleCheck.asked_at", "Fit.asked", "Token.made_with", "ValueChoice.kept"),
    *("BudgetsShown.asked", "ValuesShown.kept"),
}


@cache
def nodes(folder: str) -> list[tuple[Path, ast.AST]]:
    """Each with the path of its module."""
    return [
        (path, node) for path in modules(folder) for node in ast.walk(ast.parse((ROOT / path).read_text()))
    ]


def strange(name: str) -> set[str]:
    """The strange words of a name in any spelling."""
    return STRANGE.intersection(map(str.lower, re.findall(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+", name)))


@pytest.mark.parametrize("folder", ["dpportal", "mechanisms"])
def test_no_module_has_a_strange_word(folder: str) -> None:
    assert {str(path) for path in modules(folder) if strange(path.stem)} <= MODULES_OF_THE_TERM


@pytest.mark.parametrize("folder", ["dpportal", "mechanisms"])
def test_no_class_has_a_strange_word(folder: str) -> None:
    named = {node.name for _path, node in nodes(folder) if isinstance(node, ast.ClassDef)}
    assert set(filter(strange, named)) <= CLASSES_OF_THE_TERM


@pytest.mark.parametrize("folder", ["dpportal", "mechanisms"])
def test_no_function_has_a_strange_word(folder: str) -> None:
    named = {
        node.name.lstrip("_")
        for _path, node in nodes(folder)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    }
    assert set(filter(strange, named)) <= FUNCTIONS_OF_THE_TERM


@pytest.mark.parametrize("folder", ["dpportal", "mechanisms"])
def test_no_argument_has_a_strange_word(folder: str) -> None:
    """Of a function or a lambda."""
    named = {node.arg for _path, node in nodes(folder) if isinstance(node, ast.arg)}
    assert set(filter(strange, named)) <= ARGUMENTS_OF_THE_TERM


def fields(owner: ast.ClassDef) -> dict[ast.AST, str]:
    """The names that the body of a class gives to something, each with the class before it."""
    return {
        node: f"{owner.name}.{node.id}"
        for statement in owner.body
        if isinstance(statement, ast.Assign | ast.AnnAssign)
        for node in ast.walk(statement)
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)
    }


def variable(node: ast.AST) -> str:
    """The name that is assigned, caught, matched or imported there, of a module as of a function; or none."""
    match node:
        case (
            ast.Name(id=name, ctx=ast.Store())
            | ast.ExceptHandler(name=str(name))
            | ast.MatchAs(name=str(name))
            | ast.MatchStar(name=str(name))
            | ast.alias(asname=str(name))
        ):
            return name
    return ""


def variables(every: Sequence[tuple[Path, ast.AST]]) -> set[str]:
    """Those with a strange word, each with its module."""
    strangers = [(path, node) for path, node in every if strange(variable(node))]
    of_classes = {field for _path, node in every if isinstance(node, ast.ClassDef) for field in fields(node)}
    return {f"{path}: {variable(node)}" for path, node in strangers if node not in of_classes}


@pytest.mark.parametrize("folder", ["dpportal", "mechanisms"])
def test_no_variable_has_a_strange_word(folder: str) -> None:
    named = variables(nodes(folder))
    assert {name for name in named if name.split(": ")[1] not in VARIABLES_OF_THE_TERM} == set()


@pytest.mark.parametrize("folder", ["dpportal", "mechanisms"])
def test_no_attribute_has_a_strange_word(folder: str) -> None:
    """Whether a class names it or something assigns it."""
    named: set[str] = set()
    for _path, node in nodes(folder):
        match node:
            case ast.ClassDef():
                named |= set(fields(node).values())
            case ast.Attribute(attr=name, ctx=ast.Store()):
                named.add(name)
    found = {name: name.rpartition(".")[2] for name in named if strange(name.rpartition(".")[2])}
    assert {name for name, last in found.items() if not ATTRIBUTES_OF_THE_TERM & {name, last}} == set()


def test_no_template_has_a_strange_word() -> None:
    names = [path.relative_to(ROOT) for path in (ROOT / "templates").rglob("*.*")]
    assert len(names) > 100
    assert [str(name) for name in names if any(map(strange, name.parts))] == []


def test_no_address_has_a_strange_word() -> None:
    """Neither what the browser shows of it, nor the name that templates and code have for it."""
    found = [
        text.value
        for module in modules("dpportal")
        if module.stem == "urls"
        for call in ast.walk(ast.parse((ROOT / module).read_text()))
        if isinstance(call, ast.Call) and ast.unparse(call.func) in ("path", "re_path")
        for text in (*call.args, *(given.value for given in call.keywords))
        if isinstance(text, ast.Constant) and isinstance(text.value, str)
    ]
    assert len(found) > 200
    assert [text for text in found if strange(text)] == []


def test_every_kind_of_variable_is_read() -> None:
    code = """
from a import b as told
class Fields:
    made: int = 1
    def method(self):
        self.kept = (said := 1)
        for found, [*asked] in self.rows: pass
        try: wanted = [whole for whole in asked]
        except ValueError as drawn: pass
"""
    every = [(Path("a"), node) for node in ast.walk(ast.parse(code))]
    assert variables(every) == {
        f"a: {name}" for name in STRANGE - {"kept", "made", "beside", "elsewhere", "anew", "foreseen"}
    }
    assert [list(fields(node).values()) for _path, node in every if isinstance(node, ast.ClassDef)] == [
        ["Fields.made"]
    ]


@pytest.mark.parametrize(
    "name", ["told_groups", "Told", "kept_fits", "CatalogueWanted", "_WhatIsSaid", "MOST_KEPT"]
)
def test_a_strange_word_is_seen(name: str) -> None:
    assert strange(name)


@pytest.mark.parametrize("name", ["stored_fits", "household", "Foundation", "toldo", "FOUNDATION"])
def test_other_words_are_not(name: str) -> None:
    assert not strange(name)
