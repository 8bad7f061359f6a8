"""Names of modules and classes are the field's or the framework's, and so are those of templates and addresses."""

from __future__ import annotations

import ast
import re

import pytest

from tests.test_rooms import ROOT, modules

STRANGE = set("told said found kept whole made asked wanted beside elsewhere anew foreseen drawn".split())  # noqa: SIM905
# Rows with all their columns are a term.
MODULES_OF_THE_TERM = {"mechanisms/microdata/whole_rows.py"}
CLASSES_OF_THE_TERM = {"WholeRows"}

# A call of asyncio, terms of mathematics, and names from before the rule: no new one comes in.
FUNCTIONS_FROM_BEFORE = {
    *("connection_made", "split_whole_rows", "of_whole_rows", "whole_orders", "has_whole_values", "is_whole"),
    *("asked", "beside", "drawn", "found", "kept", "made", "said", "told", "wanted", "whole"),
    *("are_said", "drawn_cells", "drawn_lines", "drawn_small", "drawn_values", "kept_columns", "most_drawn"),
    "whole_loss",
}


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
        for path in modules(folder)
        for node in ast.walk(ast.parse((ROOT / path).read_text()))
        if isinstance(node, ast.ClassDef) and strange(node.name)
    }
    assert named <= CLASSES_OF_THE_TERM


@pytest.mark.parametrize("folder", ["dpportal", "mechanisms"])
def test_no_further_function_has_a_strange_word(folder: str) -> None:
    named = {
        node.name.lstrip("_")
        for path in modules(folder)
        for node in ast.walk(ast.parse((ROOT / path).read_text()))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and strange(node.name)
    }
    assert named <= FUNCTIONS_FROM_BEFORE


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
