"""Declared texts are sought before anything is computed of a row's text, where that finds the same."""

from __future__ import annotations

import pytest

from dpportal.tables import ReadOptions
from dpportal.tables.engines.clickhouse.dialect import ClickHouse
from dpportal.tables.engines.spark.dialect import Spark
from dpportal.tables.pushdown.count_query import QuerySource, count_statement
from dpportal.tables.pushdown.dialects import Postgres
from dpportal.tables.pushdown.fields import read_as_they_are
from dpportal.tables.pushdown.types import TYPES
from mechanisms.domain import Categorical, Domain, Integer, Real


def test_only_texts_that_every_engine_reads_as_what_they_are():
    texts = ("red", " red", "red", "Zürich", "e\u0301", "가", "a\rb", "")
    assert read_as_they_are(texts, ReadOptions().settled()) == ("red", "Zürich")
    assert read_as_they_are(texts, ReadOptions(strip=False).settled()) == ("red", " red", "Zürich")


@pytest.mark.parametrize(
    ("dialect", "strips"),
    [(Postgres(), "btrim"), (Spark(), "make_valid_utf8"), (ClickHouse(), "regexpextract")],
)
def test_the_query_seeks_them_first(dialect, strips):
    source = QuerySource(dialect, "people", {"colour": TYPES["text"]})
    domain = Domain((Categorical("colour", values=("red", "green")),))
    statement = count_statement(source, domain, [("colour",)], ReadOptions().settled(), None).lower()
    assert 0 < statement.index("in ('red', 'green')") < statement.index(strips)


def test_of_typed_columns_postgresql_computes_in_one_nested_query():
    """Each takes as long as reading the row; a cell that cannot leave a row out is computed once."""
    source = QuerySource(Postgres(), "people", {"age": TYPES["int4"], "income": TYPES["float8"]})
    domain = Domain((Integer("age", lower=0, upper=99), Real("income", lower=0.0, upper=1.0, bins=4)))
    statement = count_statement(source, domain, [domain.names], ReadOptions().settled(), None)
    assert statement.count("OFFSET") == 1 and "WHERE" not in statement
