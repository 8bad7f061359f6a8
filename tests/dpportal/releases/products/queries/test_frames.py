"""What queries ask, column by column, as programs read it."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd
import pytest
import scipy.sparse

from dpportal.releases.products.queries import workloads
from mechanisms.domain import Categorical, Domain, Integer
from mechanisms.matrix import query_columns as frames
from mechanisms.matrix.workload.factor import Explicit
from mechanisms.matrix.workload.union import Term, Workload

DOMAIN = Domain(
    (
        Integer("a,b", True, lower=0, upper=29, width=10),
        Categorical("sex", closed=True, values=("1", "2"), words=("Man = x", "Woman")),
    )
)


def rows(text: str, start: int, stop: int) -> list[list[Any]]:
    plan: Any = SimpleNamespace(domain=DOMAIN, workload=workloads.read(text, DOMAIN))
    columns = frames.query_columns(plan)
    assert [field["name"] for field in frames.query_fields(columns)] == ["a_b", "sex", "sex_label"]
    frame: pd.DataFrame = frames.query_frame(plan, columns, slice(start, stop))
    return frame.values.tolist()


@pytest.mark.parametrize("start, stop", [(0, 9), (1, 9), (3, 8)])
def test_a_query_is_told_by_codes_and_labels_ranges_and_all(start, stop):
    """Prefixes of a column whose last cell holds missing values, then cells of both; parts across terms agree."""
    told = [
        ["0–9", "(all)", "(all)"],
        ["0–9 … 10–19", "(all)", "(all)"],
        ["0–9 … 20–29", "(all)", "(all)"],
        ["(all)", "(all)", "(all)"],
        ["0–9", "1", "Man = x"],
        ["0–9", "2", "Woman"],
        ["10–19", "1", "Man = x"],
        ["10–19", "2", "Woman"],
        ["20–29", "1", "Man = x"],
    ]
    assert rows('prefix("a,b") + identity("a,b") x identity("sex")', start, stop) == told[start:stop]


def test_a_missing_value_is_an_empty_field_and_everything_is_all():
    assert rows('identity("a,b") + total', 3, 5) == [["", "(all)", "(all)"], ["(all)"] * 3]


def test_queries_over_all_cells_together_ask_nothing_of_a_column():
    """As uploaded ones do: there is a row for each, and no column."""
    cells = Explicit(scipy.sparse.csr_array(np.eye(8)), ())
    workload = Workload((8,), (Term(1.0, {0: cells}),), "uploaded")
    plan: Any = SimpleNamespace(domain=DOMAIN, workload=workload)
    assert frames.query_columns(plan) == []
    assert frames.query_frame(plan, [], slice(2, 8)).shape == (6, 0)
