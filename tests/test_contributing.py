"""The recipe of a method in CONTRIBUTING is code that works: it is run here as it is written there."""

from __future__ import annotations

import os
import re
import sys
import textwrap
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

from mechanisms.accounting import Neighbours, PrivacyUnit
from mechanisms.noise import Noise
from mechanisms.protocol import Mechanism
from tests.mechanisms.neighbours import UNITS
from tests.mechanisms.test_sensitivity import box, losses

ROOT = Path(__file__).resolve().parents[1]
BLOCK = re.compile(r"^ *```(?:python|html)\n(.*?)^ *```", re.DOTALL | re.MULTILINE)


def blocks(heading: str) -> list[str]:
    """The code of a recipe, in its order."""
    _before, _, recipe = (ROOT / "CONTRIBUTING.md").read_text().partition(f"\n### {heading}\n")
    return BLOCK.findall(recipe.partition("\n### ")[0])


def module(name: str, text: str) -> ModuleType:
    """A module of this text, as if it were a file."""
    written = ModuleType(name)
    exec(compile(textwrap.dedent(text), name, "exec"), written.__dict__)
    return written


def assert_counts_are_possible(method: Mechanism, unit: PrivacyUnit) -> None:
    """From plan to result: counts of a possible table, whose sum is the public total where there is one."""
    total = {"total": 45} if unit == PrivacyUnit(Neighbours.REPLACE_ONE) else {}
    plan = method.plan(box(9), {"width": 4, **total}, next(losses(method.definitions, unit)))
    result = method.reconstruct(plan, method.measure(plan, np.arange(9), Noise(os.urandom)))
    assert result.raw.shape == (9,) and result.counts.min() >= 0
    assert not total or result.counts.sum() == 45


def test_the_recipe_of_a_method_works(monkeypatch: pytest.MonkeyPatch) -> None:
    """Also for whoever has followed it as it is printed, and has the method in the registry."""
    method, its_tests = blocks("A method")
    coarse = module("mechanisms.histogram.coarse", method)
    monkeypatch.setitem(sys.modules, coarse.__name__, coarse)
    written = module("test_coarse", its_tests)
    written.test_blocks_of_one_cell_are_the_noisy_histogram()
    for unit in UNITS:
        assert_counts_are_possible(coarse.CoarseHistogram(), unit)
    for unit in UNITS:
        written.test_no_person_moves_the_blocks_further_than_stated(unit)
