"""Names of modules, classes, functions and arguments are the field's, and so are those of templates and addresses."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
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


@cache
def trees(folder: str) -> dict[Path, ast.Module]:
    return {path: ast.parse((ROOT / path).read_text()) for path in modules(folder)}


def functions(folder: str) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef]:
    for tree in trees(folder).values():
        for node in ast.walk(tree):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                yield node


def strange(name: str) -> set[str]:
    """The strange words of a name in either spelling."""
    return STRANGE.intersection(re.findall(r"[a-z]+", re.sub(r"(?=[A-Z])", "_", name).lower()))


@pytest.mark.parametrize("folder", ["dpportal", "mechanisms"])
def test_no_module_has_a_strange_word(folder: str) -> None:
    assert {str(path) for path in modules(folder) if strange(path.stem)} <= MODULES_OF_THE_TERM


@pytest.mark.parametrize("folder", ["dpportal", "mechanisms"])
def test_no_class_has_a_strange_word(folder: str) -> None:
    named = {
        node.name
        for tree in trees(folder).values()
        for node in ast.walk(tree)
        if isinstance(node, ast.ClassDef) and strange(node.name)
    }
    assert named <= CLASSES_OF_THE_TERM


@pytest.mark.parametrize("folder", ["dpportal", "mechanisms"])
def test_no_function_has_a_strange_word(folder: str) -> None:
    named = {node.name.lstrip("_") for node in functions(folder) if strange(node.name)}
    assert named <= FUNCTIONS_OF_THE_TERM


@pytest.mark.parametrize("folder", ["dpportal", "mechanisms"])
def test_no_argument_has_a_strange_word(folder: str) -> None:
    named = {
        each.arg
        for node in functions(folder)
        for given in (node.args,)
        for each in (*given.posonlyargs, *given.args, *given.kwonlyargs, given.vararg, given.kwarg)
        if each is not None and strange(each.arg)
    }
    assert named <= ARGUMENTS_OF_THE_TERM


@pytest.mark.parametrize("folder", ["dpportal", "mechanisms"])
def test_no_variable_of_a_module_has_a_strange_word(folder: str) -> None:
    named = {
        f"{path}: {node.id}"
        for path, tree in trees(folder).items()
        for statement in tree.body
        if isinstance(statement, ast.Assign | ast.AnnAssign)
        for node in ast.walk(statement)
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store) and strange(node.id)
    }
    assert named == set()


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


@pytest.mark.parametrize("name", ["told_groups", "Told", "kept_fits", "CatalogueWanted", "_WhatIsSaid"])
def test_a_strange_word_is_seen(name: str) -> None:
    assert strange(name)


@pytest.mark.parametrize("name", ["stored_fits", "household", "Foundation", "toldo"])
def test_other_words_are_not(name: str) -> None:
    assert not strange(name)
