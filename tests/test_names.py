"""Names of modules and classes are the field's or the framework's: strange words are in none but those from before."""

from __future__ import annotations

import ast
import re

import pytest

from tests.test_rooms import ROOT, modules

STRANGE = set("told said found kept whole made asked wanted beside elsewhere anew foreseen drawn".split())  # noqa: SIM905
# Named before the rule: whole rows are a term, and what the API takes and gives stands in its description.
MODULES_FROM_BEFORE = {"mechanisms/microdata/whole_rows.py"}
API = "dpportal/api/"
CLASSES_FROM_BEFORE = {
    *(
        "_WholeNumbers",
        "WholeInput",
        "DrawnCells",
        "_MadeUp",
        "WholeRows",
        "_Asked",
        "Whole",
        "FoundComponents",
    ),
}


def strange(name: str) -> set[str]:
    """The strange words of a name in either spelling."""
    return STRANGE.intersection(re.findall(r"[a-z]+", re.sub(r"(?=[A-Z])", "_", name).lower()))


@pytest.mark.parametrize("folder", ["dpportal", "mechanisms"])
def test_no_module_has_a_strange_word(folder: str) -> None:
    assert {str(path) for path in modules(folder) if strange(path.stem)} <= MODULES_FROM_BEFORE


@pytest.mark.parametrize("folder", ["dpportal", "mechanisms"])
def test_no_class_has_a_strange_word(folder: str) -> None:
    named = {
        node.name
        for path in modules(folder)
        if not str(path).startswith(API)
        for node in ast.parse((ROOT / path).read_text()).body
        if isinstance(node, ast.ClassDef) and strange(node.name)
    }
    assert named <= CLASSES_FROM_BEFORE


@pytest.mark.parametrize("name", ["told_groups", "Told", "kept_fits", "CatalogueWanted", "_WhatIsSaid"])
def test_a_strange_word_is_seen(name: str) -> None:
    assert strange(name)


@pytest.mark.parametrize("name", ["stored_fits", "household", "Foundation", "toldo"])
def test_other_words_are_not(name: str) -> None:
    assert not strange(name)
