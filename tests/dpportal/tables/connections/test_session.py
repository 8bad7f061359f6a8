"""What a session with PostgreSQL stands, of the way there and of what else is in the database."""

from __future__ import annotations

import time
from contextlib import closing

import pytest

from dpportal.tables import ReadOptions
from dpportal.tables.connections import counting
from dpportal.tables.connections.models import Connection, SharedTable
from dpportal.tables.engines.postgres import session as postgres
from mechanisms.domain import Attribute, Categorical, Domain, Integer
from tests.dpportal.tables.connections.conftest import READER
from tests.dpportal.tables.connections.refusals import Failing, released
from tests.dpportal.tables.connections.ways import Way

pytestmark = pytest.mark.postgres


@pytest.fixture
def of_reader(owner):
    """Sets a setting of the reader's role; all are as they were afterwards."""
    yield lambda name, value: owner.execute(f"ALTER ROLE {READER} SET {name} = {value}")
    owner.execute(f"ALTER ROLE {READER} RESET ALL")


def counted(table: SharedTable, attribute: Attribute) -> list[int]:
    schema = counting.look(table)
    wanted = counting.CountRequest(table, schema.identity, schema.types, schema.definition)
    domain = Domain((attribute,))
    return counting.count_tables(wanted, domain, [domain.names], ReadOptions(), None).counts.tolist()


class TestAServerThatIsGoneWithoutAWord(Failing):
    @pytest.fixture(
        params=[b"SHOW server_encoding", b"EXPLAIN", b"COPY ("], ids=["begins", "plans", "counts"]
    )
    def way(self, request, elsewhere):
        with closing(Way(elsewhere.source.connection.port, request.param)) as way:
            yield way

    def test_is_not_waited_for_longer_than_a_query_may_take(self, elsewhere, monkeypatch, way):
        monkeypatch.setattr(postgres, "PATIENCE_SECONDS", 2)
        self.limited(elsewhere, port=way.port, seconds=3)
        # Another port is another place where the user may not ask for the server's own identifier.
        monkeypatch.setattr(postgres, "_server", lambda _opened, _connection: _server_of(elsewhere))
        begun = time.monotonic()
        assert "was lost" in self.failed(elsewhere)
        assert way.ends.is_set() and time.monotonic() - begun < 30


def _server_of(dataset) -> str:
    return dataset.facts["identity"].rpartition(" table ")[0].rpartition("/")[0]


def test_texts_go_in_utf8_whatever_the_role_has(elsewhere, of_reader):
    of_reader("client_encoding", "LATIN1")
    assert counted(elsewhere.source, Categorical("colour", True, values=("red", "가"))) == [100, 0, 200, 0]


class TestFunctionsThatSomebodyMade:
    """They are not called, though their names are the server's own and their types fit better."""

    @pytest.fixture(autouse=True)
    def functions(self, owner, of_reader):
        owner.execute(
            """CREATE FUNCTION health.btrim(text, text) RETURNS text LANGUAGE sql AS $$ SELECT 'red' $$;
            CREATE FUNCTION health.width_bucket(bigint, bigint[]) RETURNS int LANGUAGE sql AS 'SELECT 1'"""
        )
        of_reader("search_path", "health, pg_catalog")

    def test_of_the_same_types(self, elsewhere):
        assert counted(elsewhere.source, Categorical("colour", True, values=("red", "blue"))) == [
            100,
            100,
            100,
            0,
        ]

    def test_of_types_that_the_servers_own_takes_among_others(self, elsewhere):
        ages = Integer("age", lower=0, upper=99, edges=(0, 10, 50, 99))
        assert counted(elsewhere.source, ages)[:3] == [30, 120, 150]


class TestMostRows(Failing):
    """Rows that are read count, whoever reads them and whatever becomes of them."""

    @pytest.fixture(autouse=True)
    def measured(self, owner):
        owner.execute("ANALYZE health.visits")

    def test_of_a_view_that_leaves_most_of_them_out(self, elsewhere, owner):
        owner.execute("ALTER TABLE health.visits RENAME TO all_visits")
        owner.execute("CREATE VIEW health.visits AS SELECT * FROM health.all_visits WHERE age = 5")
        self.accept(elsewhere)
        self.limited(elsewhere, most_rows=299)
        assert "more rows for this than the connection allows (299)" in self.failed(elsewhere)

    def test_that_several_processes_share(self, elsewhere, of_reader):
        for name in ("min_parallel_table_scan_size", "parallel_setup_cost", "parallel_tuple_cost"):
            of_reader(name, 0)
        self.limited(elsewhere, most_rows=299)
        assert "more rows for this than the connection allows (299)" in self.failed(elsewhere)
        self.limited(elsewhere, most_rows=300)
        assert released(elsewhere).is_ready

    def test_that_are_found_by_an_index_that_several_processes_read(self):
        """125 rows for each of two processes, and 0.4 of it for the one that waits for them."""
        node = {"Plan Rows": 125, "workers": 2, "Parallel Aware": True}
        assert postgres._rows_of_all(node) == 298
        assert postgres._rows_of_all({**node, "Parallel Aware": False}) == 125


def test_a_partition_is_of_the_table_that_it_is_one_of(connection: Connection, owner):
    owner.execute(
        """CREATE TABLE health.years (age int) PARTITION BY RANGE (age);
        CREATE TABLE health.young PARTITION OF health.years FOR VALUES FROM (0) TO (50);
        CREATE TABLE health.old PARTITION OF health.years FOR VALUES FROM (50) TO (100)"""
    )
    young, old = (
        SharedTable(connection=connection, title=name, schema="health", table=name)
        for name in ("young", "old")
    )
    common = set(counting.look(young).relations) & set(counting.look(old).relations)
    assert [relation.rpartition("/")[2] for relation in common] == ["health.years"]
