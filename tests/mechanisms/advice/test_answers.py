from __future__ import annotations

import numpy as np
import pytest

from mechanisms.advice.answers import RANGES, answers, boxes


def test_cells_are_the_estimates() -> None:
    assert answers("cells", (3,))(np.array([4, 5, 6])).tolist() == [4, 5, 6]


def test_totals_are_running_sums() -> None:
    table = np.arange(40)
    assert answers("totals", (40,))(table).tolist() == table.cumsum().tolist()


def test_totals_of_two_columns_go_from_the_corner_to_every_cell() -> None:
    table = np.arange(12).reshape(3, 4)
    by_hand = [table[: i + 1, : j + 1].sum() for i in range(3) for j in range(4)]
    assert answers("totals", (3, 4))(table.ravel()).tolist() == by_hand


def test_boxes_are_summed_as_by_hand() -> None:
    shape = (5, 4, 3)
    table = np.arange(60).reshape(shape)
    lower, upper = boxes(shape)
    assert len(lower) == RANGES
    by_hand = [table[tuple(map(slice, a, b))].sum() for a, b in zip(lower, upper, strict=True)]
    assert answers("ranges", shape)(table.ravel()).tolist() == by_hand


def test_another_purpose_is_refused() -> None:
    with pytest.raises(ValueError, match="purpose must be one of cells, ranges, totals"):
        answers("fun", (4,))
