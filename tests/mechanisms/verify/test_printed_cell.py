"""A cell of Table 1: each of its numbers stands for one thing, and any other in its place is named."""

from __future__ import annotations

import numpy as np
import pytest

from mechanisms.verify.printed_cell import CellEnds, strange

MEAN = [(49.657, 48.781, 50.534), (28.398, 26.762, 29.991)]
MEDIAN = [(51.0, 48.0, 52.0), (27.0, 22.0, 28.0), (75.0, 71.2, 78.8)]
DAY = [(19721.938, 19696.077, 19746.010), (761.22, 730.99, 778.389)]
# Of a column of days from 9 August to 1 October 2020.
DAYS = CellEnds(18483.0, 18536.0, 1.0)
PEOPLE, UNSURE = [(299.68, 297.41, 300.83)], [(0.0031, 0.0, 0.0104)]
CELLS = {
    "a mean": ("49.66 ± 0.88 (28.4 ± 1.7)", MEAN, (1, 1)),
    "quartiles": ("51 [48 to 52] (27 [22 to 28], 75 ± 4)", MEDIAN, (1, 1, 1)),
    "two ends": ("51 [48 to 52], 75 ± 4", MEDIAN[::2], (1, 1)),
    "people": ("300 [297 to 301]", PEOPLE, (1,)),
    "a share": ("0.0 to 1.04 %", UNSURE, (100,)),
    "a number and its share of missing": (
        "5 ± 1 (8.3 % [7.5 to 9.4 %])",
        [(5.0, 4.1, 5.8), (0.0833, 0.0751, 0.0934)],
        (1, 100),
    ),
    "a day": ("2023-12-30 ± 26 days (761 days [730 to 779 days])", DAY, (1, 1)),
    "days": ("2023-12-30 [2023-12-01 to 2024-01-31]", [(19721.9, 19692.0, 19753.0)], (1,)),
    "days that are known to less than one": (
        "2020-08-11 ± less than 1 day (2020-08-09 or earlier, 2020-08-22 ± less than 1 day)",
        [(18485.0, 18485.0, 18485.0), (18483.0, 18483.0, 18483.0), (18496.0, 18496.0, 18496.0)],
        (1, 1, 1),
    ),
    "a number with its share": ("51 [48 to 52] (0.31 % [0.00 to 1.04 %])", [MEDIAN[0], *UNSURE], (1, 100)),
}


@pytest.mark.parametrize("cell, lines, scales", CELLS.values(), ids=CELLS)
def test_each_digit_that_is_changed_is_named(cell, lines, scales):
    known = np.array(lines)
    assert strange(cell, known, scales, DAYS) == []
    for place, letter in enumerate(cell):
        if letter.isdigit():
            other = cell[:place] + str((int(letter) + 1) % 10) + cell[place + 1 :]
            assert strange(other, known, scales, DAYS) != [], other


def test_an_end_beyond_a_limit_lies_there_and_the_limit_is_the_declared_one():
    """Of a column of years, whose first step ends on 31 July 2020."""
    cell, ends = "2025-01-18 [2020-07-31 or earlier to 2027-05-01 or later]", CellEnds(18474.0, 20939.0, 1.0)

    def named(cell, low, high):
        return strange(cell, np.array([(20106.0, low, high)]), (1,), ends)

    assert named(cell, 18456.0, 20956.0) == []
    assert named(cell, 18496.0, 20956.0) == ["2020-07-31"]
    assert named(cell, 18456.0, 20926.0) == ["2027-05-01"]
    assert named(cell.replace("07-31", "07-30"), 18456.0, 20956.0) == ["2020-07-30"]
    assert named(cell.replace("01-18", "01-19"), 18456.0, 20956.0) == ["2025-01-19"]


def test_a_value_that_is_known_to_its_step_says_the_declared_step():
    known, tenths = np.array([(4.2, 4.2, 4.2)]), CellEnds(0.0, 10.0, 0.1)
    assert strange("4.2 ± less than 0.1", known, (1,), tenths) == []
    assert strange("4.2 ± less than 0.01", known, (1,), tenths) == ["0.01"]
    assert strange("4.2 ± less than 0.1", known + np.array([0, 0, 0.3]), (1,), tenths) == ["0.1"]
    assert strange("4.2 ± less than 0.1", known, (1,)) == ["0.1"]


def test_two_numbers_of_a_cell_that_are_swapped_are_named():
    assert strange("27 [48 to 52] (51 [22 to 28], 75 ± 4)", np.array(MEDIAN), (1, 1, 1)) == ["27", "51"]


def test_a_limit_is_not_taken_for_an_estimate_and_another_form_is_none():
    assert strange("10 or less (40, 60)", np.array(MEDIAN), (1, 1, 1)) != []
    assert strange("90 or more", np.array(PEOPLE), (1,), CellEnds(0.0, 90.0, 1.0)) == []
    assert strange("80 or more", np.array(PEOPLE), (1,), CellEnds(0.0, 90.0, 1.0)) == ["80"]
    assert strange("90 or more", np.array(PEOPLE), (1,)) == ["90"]
    assert strange("about 300", np.array(PEOPLE), (1,)) is None
