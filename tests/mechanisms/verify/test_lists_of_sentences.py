"""Sentences that go on with each further column: the numbers of all of them are what the sentence says."""

from __future__ import annotations

import re

import numpy as np
import pytest

from mechanisms.verify import sentences
from mechanisms.verify.shown_numbers import NUMBER


class Known:
    """Quantities by name."""

    def __init__(self, **values: list[float]) -> None:
        self._values = values

    def of(self, name: str) -> np.ndarray:
        return np.array(self._values.get(name, []), float)


BINS = "a mean can be off by up to 0.2 in born, 3 days in visit, 0.12 in weight; usually it is far closer"
LOWER = "lower end (hours per week below -1.45; income below 10; visits 1 or below)"
UPPER = "upper end (hours per week 8.5 or above; income 12340 or above; visits 5 or above)"
COLUMNS = "hold 3 columns. No row is a real person"
GRID = "Rows were counted with noise in a grid of 289 cells over these directions"
VARIANCE = "Column 1: 62.1% of the variance 2: 20.4% of the variance"
TIMES = "A pair that was never measured is only modelled: from the measured ones, or as independent. 0 … 3."
ENDS = "Values below 8.5 count as -1.5: 12 to 59 % are below 8.5, so the true mean may be different."
NEARLY_ALL = (
    "Values above 120 count as 120: nearly all, 97 % ± 2, are 120 or above, so the true mean may be higher."
)
SENTENCES = {
    "both ends of a share": (
        ENDS,
        Known(
            **{
                "bounds": [8.5, -1.5],
                "percent_down in_all share_at_low_lower": [12.3],
                "percent in_all share_at_low_upper": [58.7],
            }
        ),
        ("8.5", "1.5", "12", "59", "8.5"),
    ),
    "bins": (BINS, Known(bins=[0.2, 3, 0.12]), ("0.2", "3", "0.12")),
    "lower ends": (LOWER, Known(bounds=[-1.45, 10, 1]), ("1.45", "10", "1")),
    "upper ends": (UPPER, Known(bounds=[8.5, 12340, 5]), ("8.5", "12340", "5")),
    "nearly all": (NEARLY_ALL, Known(bounds=[120]), ("120", "120", "120")),
    "one period": (
        "1 period published up to 29 November 2026 by the portal",
        Known(periods=[1], day=[29], year=[2026]),
        ("1", "29", "2026"),
    ),
    "a grid": (GRID, Known(grid=[289]), ("289",)),
    "components": (
        VARIANCE,
        Known(components=[1, 2], variances=[62.13, 20.38]),
        ("1", "62.1", "2", "20.4"),
    ),
    "times measured": (TIMES, Known(**{"0": [0], "times measured": [3]}), ("0", "3")),
    "columns": (COLUMNS, Known(columns=[3]), ("3",)),
}


@pytest.mark.parametrize(("sentence", "known", "numbers"), SENTENCES.values(), ids=SENTENCES)
def test_each_of_several_is_bound_and_another_is_named(sentence, known, numbers):
    found = sentences.placed(sentence, known)
    assert {NUMBER.match(sentence, place)[0] for place in found} == set(numbers)
    assert all(found.values())
    for number in numbers:
        forged = re.sub(rf"\b{re.escape(number)}\b", "77", sentence, count=1)
        assert forged != sentence and not all(sentences.placed(forged, known).values())
