"""Tables of some columns each count the same rows: a row that one column leaves out is in none of them."""

from __future__ import annotations

import pytest

from dpportal.datasets import records, services
from mechanisms.domain import Categorical, Domain, Integer
from tests.dpportal import building

COLOUR = Categorical("colour", values=("red", "green"), closed=True)
AGE = Integer("age", lower=0, upper=9, width=1)


@pytest.fixture
def counted(curator):
    dataset = building.stored_dataset(curator)
    services.declare_all(dataset, [COLOUR, AGE])
    return lambda *columns, within=None: records.count(
        dataset, dataset.current_domain(), Domain(columns), b"key", within=within
    )


def test_a_column_alone_counts_all_rows_that_it_does_not_leave_out(counted):
    assert counted(AGE).sum() == building.ROWS
    assert counted(COLOUR).sum() == building.ROWS * 2 // 3


@pytest.mark.slow
def test_within_a_domain_every_table_counts_the_same_rows(counted):
    whole = Domain((COLOUR, AGE))
    assert counted(AGE, within=whole).sum() == counted(COLOUR, within=whole).sum() == building.ROWS * 2 // 3
    assert (counted(AGE, within=whole) == counted(COLOUR, AGE).reshape(2, 10).sum(axis=0)).all()
