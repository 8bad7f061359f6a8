"""A wide declaration is counted by several queries of one snapshot, each with few columns."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from dpportal.tables import Persons, ReadOptions
from dpportal.tables.connections import counting
from dpportal.tables.connections.models import SharedTable
from dpportal.tables.engines.postgres.session import PostgresSession
from mechanisms.domain import Domain, Integer

NAMES = [f"x{i}" for i in range(30)]
WIDE = Domain(tuple(Integer(name, lower=0, upper=2, closed=name == "x29") for name in NAMES))
TABLES = [(name,) for name in NAMES] + [("x0", "x7"), ("x28", "x1")]


def test_tables_keep_their_order_and_what_leaves_rows_out_is_in_each_query():
    parts = counting.parts(WIDE, TABLES, 12)
    assert [table for part in parts for table in part.tables] == TABLES
    assert all(len(part.columns) <= 13 and "x29" in part.columns for part in parts) and len(parts) == 3
    assert counting.parts(WIDE, [tuple(NAMES)], 12)[0].columns == tuple(NAMES)


def test_a_row_in_two_states_would_change_more_than_it_is_charged_for():
    """Why tables that share a column come from the same rows. A query of each table; what one row changes of both."""
    xy, yz = np.zeros((2, 2)), np.zeros((2, 2))
    xy[:, 0] = yz[1, :] = 1
    rows = list(itertools.product(range(2), repeat=3))
    assert max(xy[x, y] + yz[y, z] for x, y, z in rows) == 1
    assert max(xy[x, y] + yz[other, z] for x, y, _z in rows for _x, other, z in rows) == 2


@pytest.mark.postgres
class TestWide:
    @pytest.fixture
    def wanted(self, connection, owner) -> counting.CountRequest:
        columns = ", ".join(f"(i + {place}) % 3 AS {name}" for place, name in enumerate(NAMES[:-1]))
        owner.execute(
            f"""CREATE TABLE health.wide AS SELECT i AS who, {columns}, nullif(i % 3, 2) AS x29
            FROM generate_series(0, 8) AS i"""
        )
        table = SharedTable.objects.create(connection=connection, title="Wide", schema="health", table="wide")
        schema = counting.look(table)
        return counting.CountRequest(table, schema.identity, schema.types, schema.definition)

    @pytest.fixture
    def queries(self, monkeypatch) -> list[str]:
        """Each query that counts; rows are added by somebody before each."""
        sent: list[str] = []
        count = PostgresSession.counts

        def counts(session, statement):
            sent.append(statement)
            return count(session, statement)

        monkeypatch.setattr(PostgresSession, "counts", counts)
        return sent

    def test_has_the_same_rows_in_each_query(self, wanted, queries, owner, monkeypatch):
        add = counting._add

        def added(*where):
            add(*where)
            owner.execute("INSERT INTO health.wide SELECT * FROM health.wide")

        monkeypatch.setattr(counting, "_add", added)
        counts = counting.count_tables(wanted, WIDE, TABLES, ReadOptions(), None).counts
        assert len(queries) == 3 and counts.sum() == 6 * len(TABLES)
        assert counts[:3].tolist() == [3, 3, 0] and counts[87:90].tolist() == [3, 3, 0]

    def test_is_one_query_where_rows_of_a_person_are_drawn(self, wanted, queries):
        counts = counting.count_tables(wanted, WIDE, TABLES, ReadOptions(), Persons("who", 1)).counts
        assert len(queries) == 1 and counts.sum() == 6 * len(TABLES)
