"""Refusals are templates with named values, so that they can be said in another language."""

from __future__ import annotations

import ast
import pickle
import string
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

import mechanisms
from mechanisms.domain import DomainError
from mechanisms.protocol import OutdatedPlanError, PlanError
from mechanisms.refusal import RefusalError, Wording

SOURCES = sorted(Path(mechanisms.__file__).parent.rglob("*.py"))
REFUSALS = {"PlanError", "DomainError", "BundleError", "OutdatedPlanError", "PendingSearchError", "Wording"}
# Functions that say why not, or nothing.
REASONS = {"refusal", "_refusal", "too_many", "too_many_cells", "unsuited", "missing", "_beyond"}


def _named(call: ast.Call) -> str:
    return getattr(call.func, "id", getattr(call.func, "attr", ""))


@cache
def _texts() -> list[tuple[str, ast.expr, list[ast.keyword]]]:
    """Every text that refuses: where it stands, and the values beside it."""
    return [found for path in SOURCES for found in _texts_of(path)]


def _texts_of(path: Path) -> Iterator[tuple[str, ast.expr, list[ast.keyword]]]:
    if any(
        word in (source := path.read_text())
        for word in (*REFUSALS, "_require", *(f"def {name}(" for name in REASONS))
    ):
        for node in ast.walk(ast.parse(source)):
            if isinstance(node, ast.Call) and _named(node) in REFUSALS and node.args:
                yield f"{path.name}:{node.lineno}", node.args[0], node.keywords
            elif isinstance(node, ast.Call) and _named(node) == "_require":
                yield f"{path.name}:{node.lineno}", node.args[1], node.keywords
            elif isinstance(node, ast.FunctionDef) and node.name in REASONS:
                returned = [n.value for n in ast.walk(node) if isinstance(n, ast.Return) and n.value]
                yield from ((f"{path.name}:{value.lineno}", value, []) for value in returned)


@pytest.mark.slow
def test_no_refusal_is_put_together_where_it_stands() -> None:
    texts = _texts()
    made = (ast.JoinedStr, ast.Mod)
    mixed = [
        place for place, text, _values in texts if any(isinstance(part, made) for part in ast.walk(text))
    ]
    assert len(texts) > 100 and mixed == []


@pytest.mark.slow
def test_every_template_has_the_values_that_it_names() -> None:
    for place, text, values in _texts():
        if isinstance(text, ast.Constant):
            fields = {name for _text, name, _form, _kind in string.Formatter().parse(text.value) if name}
            assert fields == {str(value.arg) for value in values}, place


def test_a_refusal_keeps_its_template_and_its_values_on_the_way_between_processes() -> None:
    refusal = PlanError("At most {most:,} cells; there are {cells:,}.", most=1000, cells=2000)
    assert str(refusal) == "At most 1,000 cells; there are 2,000."
    again = pickle.loads(pickle.dumps(refusal))
    assert type(again) is PlanError and again.wording.template == refusal.wording.template
    assert again.wording.values == {"most": 1000, "cells": 2000} and str(again) == str(refusal)
    assert (
        str(RefusalError(Wording("{a}", a="{b}"))) == "{b}" and str(DomainError("{as it is}")) == "{as it is}"
    )
    assert "Plan X" in str(OutdatedPlanError(OutdatedPlanError.TEMPLATE, title="Plan X"))
