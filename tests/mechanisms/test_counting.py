from __future__ import annotations

import numpy as np
import pytest

from mechanisms.accounting import PrivacyUnit
from mechanisms.counting import Sensitivity, histogram_sensitivity, unit_sensitivity
from tests.mechanisms.neighbours import UNITS, changes, name


@pytest.mark.parametrize("unit", UNITS, ids=name)
def test_a_person_moves_counts_by_the_stated_sensitivity(unit: PrivacyUnit) -> None:
    moved = changes(unit, 3)
    worst = Sensitivity(int(np.abs(moved).sum(axis=1).max()), int((moved**2).sum(axis=1).max()))
    assert histogram_sensitivity(unit) == worst


def test_columns_that_lie_close_together_move_by_their_length_unless_the_total_is_public() -> None:
    """Sums (10, 0) and (10, 1) of a cell each: a row is worth 11, one that changes its cell 1."""
    column, apart = Sensitivity(11, 101), Sensitivity(1, 1)
    moved = [unit_sensitivity(unit, column, apart).l1 for unit in UNITS]
    assert moved == [11, 22, 1, 11, 22, 33]
