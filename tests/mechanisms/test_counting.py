from __future__ import annotations

import itertools

import pytest

from mechanisms.accounting import Neighbours, PrivacyUnit
from mechanisms.counting import Sensitivity, histogram_sensitivity

CELLS = 3


def _histograms(rows: int) -> list[tuple[int, ...]]:
    """Every way that one person's rows, at most `rows`, can fall into three cells."""
    return [c for c in itertools.product(range(rows + 1), repeat=CELLS) if sum(c) <= rows]


@pytest.mark.parametrize("max_rows", [1, 2, 3])
def test_adding_a_person_moves_counts_by_the_stated_sensitivity(max_rows: int) -> None:
    moves = _histograms(max_rows)
    worst = Sensitivity(max(map(sum, moves)), max(sum(x * x for x in m) for m in moves))
    assert histogram_sensitivity(PrivacyUnit(Neighbours.ADD_REMOVE, max_rows)) == worst


@pytest.mark.parametrize("max_rows", [1, 2, 3])
def test_replacing_a_person_moves_counts_by_the_stated_sensitivity(max_rows: int) -> None:
    pairs = itertools.product(_histograms(max_rows), repeat=2)
    moves = [[a - b for a, b in zip(*pair, strict=True)] for pair in pairs]
    worst = Sensitivity(max(sum(map(abs, m)) for m in moves), max(sum(x * x for x in m) for m in moves))
    assert histogram_sensitivity(PrivacyUnit(Neighbours.REPLACE_ONE, max_rows)) == worst
