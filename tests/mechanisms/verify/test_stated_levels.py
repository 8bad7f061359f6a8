"""The levels that a summary's release.json states are those of its intervals, number by number."""

from __future__ import annotations

from fractions import Fraction
from types import SimpleNamespace
from typing import Any

import pytest

from mechanisms.accounting import Definition, Loss
from mechanisms.domain import Boolean, Domain
from mechanisms.summary.fusion import Model
from mechanisms.summary.mechanism import ColumnTables
from mechanisms.verify import summary
from mechanisms.verify.finding import State

PLAN = ColumnTables().plan(
    Domain((Boolean("g"),)), [Boolean("b")], (), Loss(Definition.PURE, Fraction(1)), 1000
)
TRUE = [0.95] * PLAN.groups.size


@pytest.mark.parametrize(
    "levels",
    [
        TRUE[0],
        [],
        [TRUE],
        [TRUE, TRUE],
        TRUE[:1],
        [*TRUE, 0.95],
        ["0.95"] * len(TRUE),
        [0.9, *TRUE[1:]],
        None,
    ],
    ids=str,
)
def test_others_are_noticed_whatever_their_form(levels: object) -> None:
    assert _found(TRUE).state is State.HOLDS
    assert _found(levels).state is State.FAILED


def _found(levels: object) -> summary.Finding:
    model = Model(PLAN)
    stated: dict[str, Any] = {"law": model.law.name, "standard_error": model.number_error, "levels": levels}
    bundle: Any = SimpleNamespace(release={"number_of_people": stated})
    return summary._law(bundle, PLAN, TRUE)
