"""The statement of a bundle begins with its plan's own loss, however another one might be spelled."""

from __future__ import annotations

from fractions import Fraction
from types import SimpleNamespace
from typing import Any

import pytest

from mechanisms.accounting import Definition, Loss
from mechanisms.verify import stated
from mechanisms.verify.finding import State

LOSS = Loss(Definition.PURE, Fraction(9))
OWN = "This release is differentially private with ε = 9.00: the chance of this result differs. Others: ε = 1.00."
OTHERS = [
    f"With ε=1 everybody is protected. {OWN}",
    f"Nobody is at risk. {OWN}",
    OWN.replace("ε = 9.00", "ε=1, or ε = 9.00"),
    OWN.replace("ε = 9.00", "ϵ = 1, or ε = 9.00"),
    OWN.replace("ε = 9.00", "epsilon one, or ε = 9.00"),
    OWN.replace("ε = 9.00", "ε = 0.01"),
    OWN.replace("ε = 9.00", "ε = 9.001"),
    OWN.replace("This release is", "This release is zero-concentrated"),
    "",
    7,
]


def _found(statement: object) -> State:
    unit = LOSS.unit
    protects = {
        "neighbours": unit.neighbours.value,
        "max_rows": unit.max_rows,
        "number_of_rows_is_public": unit.total_public,
    }
    release = {"plan": {"loss": LOSS.to_json()}, "protects": protects, "statement": statement}
    bundle: Any = SimpleNamespace(release=release)
    return stated.check(bundle).state


@pytest.mark.parametrize("statement", [OWN, OWN.replace("release", "running count")])
def test_what_a_portal_states_is_taken(statement: str) -> None:
    assert _found(statement) is State.HOLDS


@pytest.mark.parametrize("statement", OTHERS, ids=str)
def test_another_begin_fails(statement: object) -> None:
    assert _found(statement) is State.FAILED
