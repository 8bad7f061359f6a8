"""A release of a table that stays in PostgreSQL, from the curator's choice to the bundle."""

from __future__ import annotations

import datetime as dt
import json

import psycopg
import pytest
from django.core.files.storage import default_storage
from django.urls import reverse

from dpportal.accounts.models import AuditEntry
from dpportal.budgets.ledger import BudgetRefusedError
from dpportal.budgets.models import Budget
from dpportal.datasets import attach_table, near_duplicates, records, services
from dpportal.datasets.models import Dataset
from dpportal.releases.models import Release
from dpportal.tables.connections.models import SharedTable
from dpportal.tables.engines.postgres import session as postgres
from dpportal.tables.engines.server import Encryption
from tests.dpportal import building
from tests.dpportal.tables.connections.conftest import READER, connected
from tests.dpportal.tables.connections.refusals import Refusals, accepted, credential_follows, released
from tests.dpportal.tables.connections.registers import Register

pytestmark = pytest.mark.postgres


class TestRegister(Register):
    """In PostgreSQL."""

    engine, mapped = "PostgreSQL 1", "jsonb"


def test_its_columns_and_types_are_read_and_nothing_is_copied(visits, curator):
    dataset = connected(visits, curator)
    assert dataset.state == Dataset.State.STORED and dataset.rows is None and not dataset.table
    assert [(c["name"], c["type"]) for c in dataset.columns] == [
        ("colour", "text"),
        ("age", "int4"),
        ("patient", "text"),
    ]
    assert dataset.facts["left_out"] == [{"name": "notes", "type": "jsonb"}]
    assert [relation.rpartition("/")[2] for relation in dataset.relations] == ["health.visits"]


def test_the_release_says_what_read_it_where_and_when(elsewhere, client):
    release = released(elsewhere)
    read = json.loads(release.read_from)
    assert (
        read["table"] == "Visits"
        and read["engine"].startswith("PostgreSQL 1")
        and dt.date.fromisoformat(read["read_at"]) <= dt.datetime.now(dt.UTC).date()
    )
    bundle = release.artifacts.get(name="release.json")
    with default_storage.open(bundle.stored) as file:
        told = json.load(file)
    assert told["read_from"] == read and "“Visits” was counted by PostgreSQL" in told["statement"]
    Release.objects.filter(pk=release.pk).update(published_at=release.measured_at)
    assert "“Visits” was counted by PostgreSQL" in client.get(release.get_absolute_url()).content.decode()


def test_the_curator_compares_with_the_true_counts(elsewhere, client, curator):
    release = released(elsewhere)
    client.force_login(curator)
    page = client.get(reverse("releases:compare", args=[release.pk])).content.decode()
    assert "300 rows were counted." in page
    for name in ("compare_csv", "job"):
        assert client.get(reverse(f"releases:{name}", args=[release.pk]), follow=True).status_code == 200


def test_a_query_can_be_offered_too(connection, curator, administrator):
    table = SharedTable.objects.create(
        connection=connection,
        title="Young",
        query="SELECT colour, age, patient FROM health.visits WHERE age < 50 -- young",
    )
    dataset = building.granted(connected(table, curator), administrator)
    assert records.stored_counts(released(dataset).true_counts).sum() == 150


def test_a_type_that_is_only_called_like_one_with_a_rule_has_none(connection, curator, owner):
    owner.execute("CREATE TYPE health.date AS (x int)")
    owner.execute("CREATE TYPE health.mood AS ENUM ('sad', 'glad')")
    owner.execute("CREATE DOMAIN health.age AS int CHECK (VALUE >= 0)")
    owner.execute("CREATE TABLE health.odd (day health.date, mood health.mood, age health.age, tags text[])")
    table = SharedTable.objects.create(connection=connection, title="Odd", schema="health", table="odd")
    dataset = connected(table, curator, declared=False)
    assert [(c["name"], c["type"]) for c in dataset.columns] == [("mood", "enum"), ("age", "int4")]
    assert [column["type"] for column in dataset.facts["left_out"]] == ["health.date", "text[]"]


class TestOneBudgetForOneTable:
    def test_a_curator_has_one_dataset_of_it(self, elsewhere, visits, curator):
        again = connected(visits, curator)
        assert again.state == Dataset.State.DUPLICATE and again.duplicate_of == elsewhere

    def test_another_address_of_the_same_server_is_no_other_table(self, elsewhere, visits, curator, owner):
        owner.execute("GRANT EXECUTE ON FUNCTION pg_control_system() TO PUBLIC")
        other = visits.connection
        other.pk, other.name, other.host = None, "By another name", "localhost"
        other.save()
        credential_follows(other)
        table = SharedTable.objects.create(connection=other, title="Visits", schema="health", table="visits")
        assert connected(table, curator).state == Dataset.State.DUPLICATE

    def test_another_curators_dataset_of_it_is_granted_for_knowingly_alone(
        self, elsewhere, visits, other_curator, administrator
    ):
        theirs = connected(visits, other_curator)
        assert theirs.state == Dataset.State.STORED
        assert [(kin.dataset, kin.same) for kin in near_duplicates.similar_datasets(theirs)] == [
            (elsewhere, True)
        ]
        with pytest.raises(BudgetRefusedError, match="nearly the same table"):
            building.granted(theirs, administrator)
        building.granted(theirs, administrator, knowing=True)

    def test_a_view_or_a_query_of_it_is_seen_as_well(
        self, elsewhere, connection, owner, other_curator, administrator
    ):
        owner.execute(
            "CREATE VIEW health.old AS SELECT patient, age AS years FROM health.visits WHERE age > 50"
        )
        table = SharedTable.objects.create(connection=connection, title="Old", schema="health", table="old")
        dataset = connected(table, other_curator, declared=False)
        assert [(kin.dataset, kin.same, kin.shared) for kin in near_duplicates.similar_datasets(dataset)] == [
            (elsewhere, False, True)
        ]
        with pytest.raises(BudgetRefusedError, match="nearly the same table"):
            building.granted(dataset, administrator)


class TestAMovedTable:
    def moved(self, dataset: Dataset, owner) -> None:
        owner.execute("ALTER TABLE health.visits RENAME TO contacts")
        dataset.source.table = "contacts"
        dataset.source.save()

    def test_is_followed_on_an_administrators_word(self, elsewhere, owner, administrator):
        self.moved(elsewhere, owner)
        assert "leads to another table" in released(elsewhere).job.failure
        accepted(elsewhere)
        entry = AuditEntry.objects.get(action="followed a table", by=administrator)
        assert "reason: The same people." in entry.detail
        assert released(elsewhere).is_ready and Budget.of(elsewhere).total == 1

    def test_is_one_table_with_what_others_make_of_it_then(
        self, elsewhere, owner, administrator, other_curator
    ):
        self.moved(elsewhere, owner)
        accepted(elsewhere)
        theirs = connected(elsewhere.source, other_curator)
        assert [kin.dataset for kin in near_duplicates.similar_datasets(theirs)] == [elsewhere]

    def test_is_not_followed_to_a_table_with_other_columns(self, elsewhere, owner, administrator):
        self.moved(elsewhere, owner)
        owner.execute("ALTER TABLE health.contacts DROP age")
        with pytest.raises(services.DatasetError, match="lacks its columns"):
            accepted(elsewhere)

    def test_is_not_followed_to_the_table_of_another_dataset(
        self, elsewhere, connection, owner, curator, administrator
    ):
        owner.execute("CREATE TABLE health.others AS SELECT * FROM health.visits")
        other = SharedTable.objects.create(
            connection=connection, title="Other", schema="health", table="others"
        )
        dataset = connected(other, curator)
        other.table = "visits"
        other.save()
        dataset.source.refresh_from_db()
        with pytest.raises(services.DatasetError, match="another dataset"):
            accepted(dataset)


def test_the_session_is_held_to_reading(connection):
    """Whatever the server's own settings are: one snapshot, no writing, an end with the worker."""
    with postgres.reading(connection) as session:
        for name, value in {
            "transaction_read_only": "on",
            "transaction_isolation": "repeatable read",
            "statement_timeout": "20s",
            "client_connection_check_interval": "5s",
        }.items():
            session.cursor.execute(f"SHOW {name}")
            assert session.cursor.fetchone() == (value,)


def test_only_who_is_allowed_makes_a_dataset_of_it(visits, curator, other_curator):
    visits.connection.all_curators = False
    visits.connection.save()
    visits.connection.curators.add(curator)
    assert connected(visits, curator).has_records
    with pytest.raises(services.DatasetError, match="not offered"):
        attach_table.connect(Dataset(), visits, other_curator)


class TestBadInput(Refusals):
    def test_a_table_that_vanished(self, elsewhere, owner):
        owner.execute("DROP TABLE health.visits")
        assert "not there any more" in self.failed(elsewhere)

    def test_a_column_that_vanished(self, elsewhere, owner):
        owner.execute("ALTER TABLE health.visits RENAME age TO years")
        assert "no column age any more" in self.failed(elsewhere)

    def test_a_column_that_changed_its_type(self, elsewhere, owner):
        owner.execute("ALTER TABLE health.visits ALTER age TYPE text")
        assert "type of age changed" in self.failed(elsewhere)

    def test_a_query_that_runs_out_of_time(self, elsewhere, owner):
        owner.execute("ALTER TABLE health.visits RENAME TO all_visits")
        slow = "SELECT colour, age + length(pg_sleep(0.02)::text) AS age, patient FROM health.all_visits OFFSET 0"
        owner.execute(f"CREATE VIEW health.visits AS {slow}")
        self.accept(elsewhere)
        self.limited(elsewhere, seconds=1)
        assert "ran longer than the connection allows" in self.failed(elsewhere)

    def test_a_view_that_writes(self, elsewhere, owner):
        owner.execute("CREATE TABLE health.seen (age int)")
        owner.execute(
            """CREATE FUNCTION health.note(age int) RETURNS int LANGUAGE plpgsql SECURITY DEFINER AS
            $$ BEGIN INSERT INTO health.seen VALUES (age); RETURN age; END $$"""
        )
        owner.execute("ALTER TABLE health.visits RENAME TO all_visits")
        owner.execute(
            "CREATE VIEW health.visits AS SELECT colour, health.note(age) AS age, patient FROM health.all_visits"
        )
        self.accept(elsewhere)
        assert "would write" in self.failed(elsewhere)
        assert owner.execute("SELECT count(*) FROM health.seen").fetchall() == [(0,)]

    def test_a_value_that_the_database_stumbles_over_is_not_told(self, elsewhere, owner):
        owner.execute("ALTER TABLE health.visits RENAME TO all_visits")
        owner.execute(
            """CREATE VIEW health.visits AS SELECT colour, patient,
            (CASE WHEN age < 99 THEN age::text ELSE 'a secret' END)::int AS age FROM health.all_visits"""
        )
        self.accept(elsewhere)
        said = self.failed(elsewhere)
        assert "code is 22P02" in said and "secret" not in said

    def test_a_user_that_may_not_sign_in(self, elsewhere, owner):
        owner.execute(f"ALTER ROLE {READER} NOLOGIN")
        assert "refuses the user or its password" in self.failed(elsewhere)

    def test_a_wrong_password(self, elsewhere, monkeypatch):
        """Said by the server's own words: this machine's asks nobody for a password."""
        refused = 'connection failed: FATAL:  password authentication failed for user "reader"'

        def connect(**_where):
            raise psycopg.OperationalError(refused)

        monkeypatch.setattr(psycopg, "connect", connect)
        assert "refuses the user or its password" in self.failed(elsewhere)

    def test_a_server_whose_certificate_nobody_vouches_for(self, elsewhere, monkeypatch):
        monkeypatch.setenv("PGSSLROOTCERT", "/nowhere/root.crt")
        self.limited(elsewhere, encryption=Encryption.VERIFIED)
        assert "No encrypted connection" in self.failed(elsewhere)

    def test_a_database_that_is_not_there(self, elsewhere):
        self.limited(elsewhere, database="nowhere")
        assert "no such database" in self.failed(elsewhere)

    def test_a_connection_that_is_lost(self, elsewhere, owner):
        owner.execute("ALTER TABLE health.visits RENAME TO all_visits")
        owner.execute(
            """CREATE FUNCTION health.lose(age int) RETURNS int LANGUAGE plpgsql SECURITY DEFINER AS
            $$ BEGIN PERFORM pg_terminate_backend(pg_backend_pid()); PERFORM pg_sleep(1); RETURN age; END $$"""
        )
        owner.execute(
            "CREATE VIEW health.visits AS SELECT colour, health.lose(age) AS age, patient FROM health.all_visits"
        )
        self.accept(elsewhere)
        assert "was lost" in self.failed(elsewhere)

    def test_more_rows_than_are_allowed(self, elsewhere, owner):
        owner.execute("ANALYZE health.visits")
        self.limited(elsewhere, most_rows=299)
        said = self.failed(elsewhere)
        assert "more rows for this than the connection allows (299)" in said and "300" not in said

    def test_more_bytes_than_are_allowed(self, elsewhere, owner):
        """A table of 300 rows is stored in whole pages."""
        self.limited(elsewhere, most_bytes=8191)
        said = self.failed(elsewhere)
        assert "than the connection allows (8.0\xa0KB)" in said and "24.0" not in said

    def test_rights_that_were_taken_away(self, elsewhere, owner):
        owner.execute(f"REVOKE SELECT ON health.visits FROM {READER}")
        assert "may not read this table" in self.failed(elsewhere)

    def test_a_connection_that_leads_to_another_table(self, elsewhere, owner):
        owner.execute("CREATE TABLE health.others AS SELECT * FROM health.visits")
        elsewhere.source.table = "others"
        elsewhere.source.save()
        assert "leads to another table" in self.failed(elsewhere)

    def test_a_table_that_is_not_there_when_it_is_connected(self, connection, curator):
        table = SharedTable.objects.create(
            connection=connection, title="Nothing", schema="health", table="nothing"
        )
        dataset = connected(table, curator)
        assert dataset.state == Dataset.State.REFUSED and "not there" in dataset.conversion.failure
        assert dataset.can_be_read_again

    def test_a_second_statement_in_a_query_is_not_run(self, connection, curator, owner):
        query = "SELECT colour FROM health.visits) AS a; DROP TABLE health.visits; SELECT 1 FROM (SELECT 1"
        table = SharedTable.objects.create(connection=connection, title="Two", query=query)
        assert connected(table, curator).state == Dataset.State.REFUSED
        assert owner.execute("SELECT count(*) FROM health.visits").fetchall() == [(300,)]
