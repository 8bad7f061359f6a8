"""A coarser column is counted from the column of the finer one, in an engine as in an upload."""

import numpy as np
import pytest

from dpportal.tables import ReadOptions
from mechanisms.domain import Categorical, Domain, Integer
from tests.dpportal.tables.pushdown.twins import both

AGES = ["0", "17", "18", "64", "65", "99", "150", "-3", None, "18"]
CODES = ["1", "2", "3", "9", "", "1", "2", None, "3", "3"]
COLUMNS = {"age": ("int4", AGES), "edu": ("text", CODES)}
DOMAIN = Domain(
    (
        Integer("age", True, 0, 99),
        Integer("age group", True, 0, 99, edges=(0, 18, 65, 99), source="age"),
        Categorical("edu", True, ("1", "2", "3")),
        Categorical("level", True, ("1", "2", "3"), words=("low", "high", "high"), source="edu"),
    )
)
# By hand: 150 is counted at the upper bound, -3 at the lower one; 9 is none of the values.
GROUPS, LEVELS = [3, 3, 3, 1], [2, 5, 1, 2]


@pytest.fixture(params=[pytest.param("postgres", marks=pytest.mark.postgres), "duck"])
def twin(request):
    return request.getfixturevalue(request.param)


def test_the_cells_are_those_that_the_declaration_says(twin, tmp_path):
    tables = [("age group",), ("level",)]
    for found in both(twin, tmp_path, COLUMNS, DOMAIN, ReadOptions(), tables=tables):
        assert found == [*GROUPS, *LEVELS]


def test_finer_and_coarser_agree_on_every_row(twin, tmp_path):
    tables = [("age", "age group"), ("edu", "level")]
    for found in both(twin, tmp_path, COLUMNS, DOMAIN, ReadOptions(), tables=tables):
        ages, levels = np.split(np.array(found), [101 * 4])
        assert (ages.reshape(101, 4) > 0).sum(axis=1).max() == 1
        assert (levels.reshape(5, 4) > 0).sum(axis=1).max() == 1
        assert ages.sum() == levels.sum() == 10
