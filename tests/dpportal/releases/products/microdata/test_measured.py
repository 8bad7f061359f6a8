"""The names of groups of values in the measured tables."""

from __future__ import annotations

import numpy as np
import pytest

from mechanisms.domain import Categorical, Integer
from mechanisms.microdata.files import group_labels


@pytest.mark.parametrize(
    ("values", "groups", "names"),
    [
        (("a", "b", "a, b"), (1, 1, 2, 0), ["Other", "a, b (together)", "a, b"]),
        (("a", "b", "a, b"), (0, 0, 1, 1), ["a, b", "a, b, Other"]),
        (
            ("a", "b", "a, b", "a, b (together)"),
            (0, 0, 1, 2, 3),
            ["a, b (together) (together)", "a, b", "a, b (together)", "Other"],
        ),
    ],
)
def test_no_two_groups_have_one_name_though_values_are_written_with_commas(values, groups, names):
    assert group_labels(Categorical("town", values=values), np.array(groups)) == names


def test_neighbours_are_named_by_their_ends():
    age = Integer("age", lower=0, upper=4, missing_cell=True)
    assert group_labels(age, np.array([0, 0, 1, 2, 2, 3])) == ["0 … 1", "2", "3 … 4", "Missing"]
