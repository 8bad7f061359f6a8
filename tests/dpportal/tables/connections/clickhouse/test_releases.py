"""A release of a table that stays in ClickHouse, from the curator's choice to the bundle."""

from __future__ import annotations

import threading
import time

import numpy as np
import pytest

from dpportal.datasets import near_duplicates, records, services
from dpportal.datasets.models import Dataset
from dpportal.tables.connections.models import SharedTable
from dpportal.tables.engines.clickhouse import session as speaking
from dpportal.tables.faults import SourceFault
from mechanisms.domain import Categorical
from tests import clickhouses
from tests.credentials import credential
from tests.dpportal.tables.connections.clickhouse.conftest import VISITS
from tests.dpportal.tables.connections.conftest import connected
from tests.dpportal.tables.connections.products import Products
from tests.dpportal.tables.connections.refusals import ByExtra
from tests.dpportal.tables.connections.registers import Register

pytestmark = pytest.mark.clickhouse
# A view of so many rows ends some day, and can be ended before.
ENDLESS = "SELECT v.* FROM health.all_visits AS v CROSS JOIN numbers(10000000000) AS n"


class TestProducts(Products):
    """From ClickHouse."""


class TestRegister(Register):
    """In ClickHouse."""

    engine, mapped = "ClickHouse 2", "Map(String, UInt64)"


def test_names_and_values_are_only_names_and_values(connection, owner, curator):
    """Quotation marks, comments and percent signs of any place end no text and begin no statement."""
    strange = """we"ird'; DROP TABLE health.visits; -- %s {} \\ `$1"""
    name, text = (mark + strange.replace("\\", "\\\\").replace(mark, "\\" + mark) + mark for mark in "`'")
    owner(f"CREATE TABLE health.{name} ({name} String) ENGINE = MergeTree ORDER BY ()")
    owner(f"INSERT INTO health.{name} VALUES ({text}), ('b')")
    table = SharedTable.objects.create(connection=connection, title="Strange", schema="health", table=strange)
    dataset = connected(table, curator, declared=False)
    assert dataset.has_records, dataset.conversion.failure
    services.declare(dataset, strange, Categorical(strange, values=(strange, "'")))
    version = dataset.current_domain()
    assert records.count(dataset, version, version.domain(), b"").tolist() == [1, 0, 1]


def test_views_are_known_by_the_tables_that_they_read(elsewhere, connection, owner, other_curator):
    """Those of a table whose parts are indexed, and those that a plan does not name."""
    owner("CREATE TABLE health.names ENGINE = Memory AS SELECT DISTINCT patient FROM health.visits")
    owner("CREATE VIEW health.old AS SELECT patient, age AS years FROM health.visits WHERE age > 50")
    owner(
        "CREATE VIEW health.older AS SELECT o.* FROM health.old AS o LEFT JOIN health.names AS n USING patient"
    )
    table = SharedTable.objects.create(
        connection=connection, title="Older", schema="health", table="older", vouched="x"
    )
    dataset = connected(table, other_curator, declared=False)
    names = [relation.rpartition("/")[2] for relation in dataset.relations]
    assert names == ["health.names", "health.visits"]
    assert [(kin.dataset, kin.same, kin.shared) for kin in near_duplicates.similar_datasets(dataset)] == [
        (elsewhere, False, True)
    ]


class TestTheSession:
    @pytest.mark.parametrize("user", ["owner", "reader", "careful"])
    def test_is_held_to_reading_whatever_the_profile_of_its_user_is(self, connection, owner, user):
        connection.user = user
        writing = (
            "DROP TABLE health.visits",
            "INSERT INTO health.visits (age) VALUES (1)",
            "CREATE DATABASE other",
        )
        with speaking.reading(connection) as session:
            for statement in writing:
                with pytest.raises(SourceFault, match="would write"):
                    session.fetch(statement)
        assert owner("SELECT count() FROM health.visits") == b"300\n"

    def test_has_the_settings_on_which_the_meaning_of_a_query_depends(self, connection):
        """The profile of this user says other things."""
        asked = (
            "SELECT toUInt8(getSetting('join_use_nulls')) AS nulls, getSetting('session_timezone') AS zone"
        )
        with speaking.reading(connection) as session:
            assert session.fetch(asked) == [{"nulls": 0, "zone": "UTC"}]

    def test_is_refused_to_a_user_who_may_not_change_settings(self, connection):
        connection.user = "bound"
        with pytest.raises(SourceFault, match="not readonly = 1"), speaking.reading(connection):
            pass

    def test_is_refused_by_a_server_that_is_too_old(self, connection, monkeypatch):
        monkeypatch.setattr(speaking, "OLDEST", (99, 1))
        with pytest.raises(SourceFault, match="older than"), speaking.reading(connection):
            pass

    def test_many_cells_come_in_batches(self, connection):
        statement = "SELECT toInt64(number) AS place, toUInt64(number % 5) AS n FROM numbers(200000)"
        with speaking.reading(connection) as session:
            batches = list(session.counts(statement))
        assert len(batches) > 1
        places, rows = (np.concatenate(each) for each in zip(*batches, strict=True))
        assert np.array_equal(places, np.arange(200_000)) and np.array_equal(rows, places % 5)


def _instead(owner, select: str) -> None:
    owner("RENAME TABLE health.visits TO health.all_visits")
    owner(f"CREATE VIEW health.visits AS {select}")


class TestBadInput(ByExtra):
    """A message, the reservation void, nothing spent."""

    client, extra = "clickhouse_connect", "requirements-clickhouse.txt"

    def instead(self, dataset: Dataset, owner, select: str) -> None:
        """A view in the place of the table, which an administrator accepts."""
        _instead(owner, select)
        self.accept(dataset)

    def test_a_table_that_vanished(self, elsewhere, owner):
        owner("DROP TABLE health.visits")
        assert "not there any more" in self.failed(elsewhere)

    def test_a_column_that_vanished(self, elsewhere, owner):
        _instead(owner, "SELECT colour, patient FROM health.all_visits")
        assert "no column age any more" in self.failed(elsewhere)

    def test_a_column_that_changed_its_type(self, elsewhere, owner):
        _instead(owner, "SELECT colour, toString(age) AS age, patient FROM health.all_visits")
        assert "type of age changed" in self.failed(elsewhere)

    def test_a_value_that_the_database_stumbles_over_is_not_told(self, elsewhere, owner, capfd, caplog):
        wrong = "toInt32(if(age < 99, toString(age), 'a secret')) AS age"
        self.instead(elsewhere, owner, f"SELECT colour, patient, {wrong} FROM health.all_visits")
        said = self.failed(elsewhere)
        assert "code is 6)" in said and "secret" not in said
        assert "a secret" not in "".join(capfd.readouterr()) + caplog.text

    def test_a_query_that_runs_out_of_time(self, elsewhere, owner):
        self.instead(elsewhere, owner, ENDLESS)
        self.limited(elsewhere, seconds=2, most_rows=10**15)
        begun = time.monotonic()
        assert "ran longer than the connection allows" in self.failed(elsewhere)
        assert time.monotonic() - begun < 45

    @pytest.mark.parametrize("limit", ["most_rows", "most_bytes"])
    def test_more_than_is_allowed_of_a_table_of_which_nothing_is_known(self, elsewhere, owner, limit):
        """The server itself ends what it did not expect."""
        self.instead(elsewhere, owner, ENDLESS)
        self.limited(elsewhere, **{limit: 10**5})
        assert "read more than the connection allows" in self.failed(elsewhere)

    @pytest.mark.parametrize("who", [{"user": "nobody"}, {"credential": "wrong"}])
    def test_a_user_or_password_that_is_refused(self, elsewhere, monkeypatch, who):
        port = elsewhere.source.connection.port
        monkeypatch.setenv("DPPORTAL_CREDENTIAL_WRONG", credential(port, "wrong", engine="clickhouse"))
        self.limited(elsewhere, **who)
        assert "refuses the user or its password" in self.failed(elsewhere)

    def test_a_database_that_is_not_there(self, elsewhere):
        self.limited(elsewhere, database="nowhere")
        assert "not there any more" in self.failed(elsewhere)

    @pytest.mark.parametrize(
        "query",
        [
            "SELECT colour FROM health.visits) AS a; DROP TABLE health.visits; SELECT 1 FROM (SELECT 1",
            "SELECT * FROM file('/etc/passwd', 'LineAsString')",
        ],
    )
    def test_a_query_that_would_do_more_than_read_tables(self, connection, curator, owner, query):
        table = SharedTable.objects.create(connection=connection, title="More", query=query)
        assert connected(table, curator).state == Dataset.State.REFUSED
        assert owner("SELECT count() FROM health.visits") == b"300\n"

    def test_a_server_that_is_killed_while_it_counts(self, endless, tmp_path):
        with clickhouses.started(tmp_path) as other:
            clickhouses.run(other, "CREATE DATABASE health")
            clickhouses.run(
                other, f"CREATE TABLE health.all_visits ENGINE = MergeTree ORDER BY age AS {VISITS}"
            )
            dataset = endless(other.port, ENDLESS)
            threading.Thread(target=killed_while_it_counts, args=[other]).start()
            assert "was lost" in self.failed(dataset)


def killed_while_it_counts(server: clickhouses.Server) -> None:
    """Kill a server once it runs a query that counts."""
    running = "SELECT count() FROM system.processes WHERE query LIKE 'SELECT%cell_0%' AND query NOT LIKE '%processes%'"
    deadline = time.monotonic() + 60
    while clickhouses.run(server, running) == b"0\n" and time.monotonic() < deadline:
        time.sleep(0.1)
    server.kill()
