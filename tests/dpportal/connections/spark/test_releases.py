"""A release of a table that stays in Spark, from the curator's choice to the bundle."""

from __future__ import annotations

import json
import threading
import time
from decimal import Decimal
from pathlib import Path

import pytest
from django.urls import reverse

from dpportal.budgets.models import Budget
from dpportal.connections.models import Connection, SharedTable
from dpportal.datasets import fitting, services
from dpportal.datasets.conversion import convert
from dpportal.datasets.models import Dataset
from dpportal.datasets.rawdata import records
from dpportal.releases.models import Release
from mechanisms.domain import Categorical, Integer
from tests import clusters
from tests.dpportal import building
from tests.dpportal.connections.conftest import connected
from tests.dpportal.connections.refusals import Refusals, released
from tests.dpportal.connections.spark.conftest import VISITS

pytestmark = pytest.mark.spark


def test_a_curator_releases_from_spark_what_the_upload_of_the_same_rows_counts(
    visits, client, curator, administrator
):
    client.force_login(curator)
    assert "Visits (Lake)" in client.get(reverse("datasets:elsewhere")).content.decode()
    client.post(reverse("datasets:elsewhere"), {"table": visits.pk, "name": ""})
    dataset = Dataset.objects.get()
    convert(dataset.pk)
    page = client.get(reverse("datasets:home", args=[dataset.pk])).content.decode()
    assert "no row comes here" in page and "map&lt;string,bigint&gt;" in page
    colour = Categorical("colour", values=("red", "green", "blue"))
    dataset.refresh_from_db()
    services.declare_all(dataset, [colour, Integer("age", lower=0, upper=99, width=10)])
    services.confirm_one_row(dataset, ["patient"], curator)
    theirs = released(building.granted(dataset, administrator))
    ours = released(building.granted(building.stored_dataset(curator), administrator))
    assert theirs.state == ours.state == Release.State.READY, theirs.job.failure
    found = records.kept_counts(theirs.true_counts)
    assert found.tolist() == records.kept_counts(ours.true_counts).tolist() and found.sum() == 300
    assert Budget.of(dataset).spent == Decimal("0.1")
    assert json.loads(theirs.read_from)["engine"].startswith("Spark 4.")
    assert [relation.rpartition("/")[2] for relation in dataset.relations] == ["spark_catalog.health.visits"]


def test_of_each_person_as_many_rows_count_as_declared(elsewhere):
    services.declare_unit(elsewhere, neighbours="add-remove", unit_column="patient", max_rows=2)
    assert records.kept_counts(released(elsewhere).true_counts).sum() == 60


def test_a_curator_sees_in_numbers_how_the_table_fits(elsewhere, client, curator):
    services.declare(elsewhere, "age", Integer("age", lower=10, upper=49, width=10))
    services.declare_unit(elsewhere, neighbours="add-remove", unit_column="patient", max_rows=4)
    client.force_login(curator)
    address = reverse("datasets:fit", args=[elsewhere.pk])
    client.post(address)
    fitting.look(elsewhere.pk)
    page = client.get(address).content.decode()
    assert all(f">{number}<" in page for number in (300, 30, 150, 180, 120))


def test_a_query_can_be_offered(lake, curator, register):
    query = "SELECT colour, age, patient FROM health.visits WHERE age < 50 -- young"
    table = SharedTable.objects.create(connection=lake, title="Young", query=query)
    dataset = connected(table, curator)
    assert [(c["name"], c["type"]) for c in dataset.columns] == [
        ("colour", "text"),
        ("age", "int4"),
        ("patient", "text"),
    ]


def test_a_connection_has_a_catalog_in_which_names_are_sought(lake, seen, curator):
    Connection.objects.update(database="spark_catalog")
    assert (
        connected(seen, curator).facts["identity"] == f"127.0.0.1:{lake.port}/spark_catalog table health.seen"
    )
    Connection.objects.update(database="nowhere")
    assert "not there" in connected(seen, curator).conversion.failure


def test_an_administrator_tests_a_connection(client, administrator, visits):
    SharedTable.objects.create(connection=visits.connection, title="Nothing", table="nothing", schema="")
    client.force_login(administrator)
    chosen = {"action": "test_connection", "_selected_action": [visits.connection_id]}
    answer = client.post(reverse("admin:connections_connection_changelist"), chosen, follow=True)
    said = " ".join(str(message) for message in answer.context["messages"])
    assert "Spark 4." in said and "Visits: 4 columns." in said
    assert "Nothing: The table is not there any more" in said


class TestBadInput(Refusals):
    def test_a_table_that_vanished(self, elsewhere, owner):
        owner("DROP VIEW health.seen")
        assert "not there any more" in self.failed(elsewhere)

    def test_a_column_that_vanished(self, elsewhere, owner):
        owner("CREATE OR REPLACE VIEW health.seen AS SELECT colour, patient FROM health.visits")
        assert "no column age any more" in self.failed(elsewhere)

    def test_a_column_that_changed_its_type(self, elsewhere, owner):
        owner(
            "CREATE OR REPLACE VIEW health.seen AS SELECT colour, patient, string(age) AS age FROM health.visits"
        )
        assert "type of age changed" in self.failed(elsewhere)

    def test_a_value_that_the_cluster_stumbles_over_is_not_told(self, elsewhere, owner, capfd):
        wrong = "int(CASE WHEN age < 99 THEN string(age) ELSE 'a secret' END) AS age"
        owner(f"CREATE OR REPLACE VIEW health.seen AS SELECT colour, patient, {wrong} FROM health.visits")
        said = self.failed(elsewhere)
        assert "code is CAST_INVALID_INPUT" in said and "secret" not in said
        assert "a secret" not in "".join(capfd.readouterr())

    def test_a_query_that_runs_out_of_time(self, elsewhere, owner):
        # It ends some day, since the cluster's tasks may go on for a while when nobody waits for them any more.
        long = "SELECT v.* FROM (SELECT * FROM health.visits LIMIT 1) AS v CROSS JOIN range(2000000) AS r"
        owner(f"CREATE OR REPLACE VIEW health.seen AS {long}")
        self.limited(elsewhere, seconds=2, most_rows=10**12)
        begun = time.monotonic()
        assert "ran longer than the connection allows" in self.failed(elsewhere)
        assert time.monotonic() - begun < 45

    def test_more_bytes_than_are_allowed(self, elsewhere):
        self.limited(elsewhere, most_bytes=100)
        assert "the connection allows 100\xa0bytes" in self.failed(elsewhere)

    def test_more_rows_than_are_allowed(self, elsewhere):
        self.limited(elsewhere, most_rows=299)
        assert "300 instead of 299" in self.failed(elsewhere)

    def test_a_wrong_token(self, elsewhere, monkeypatch):
        monkeypatch.setenv("DPPORTAL_CREDENTIAL_REGISTER", "wrong")
        assert "refuses the user or its password" in self.failed(elsewhere)

    def test_a_cluster_that_is_not_encrypted_as_declared(self, elsewhere):
        self.limited(elsewhere, encryption=Connection.Encryption.VERIFIED)
        assert "not as encrypted as it is declared" in self.failed(elsewhere)

    def test_a_client_that_is_not_installed(self, elsewhere, monkeypatch):
        monkeypatch.setitem(__import__("sys").modules, "pyspark.sql.connect.session", None)
        assert "requirements-spark.txt" in self.failed(elsewhere)

    def test_a_second_statement_in_a_query_is_not_run(self, lake, curator, owner):
        query = "SELECT colour FROM health.visits) AS a; DROP TABLE health.visits; SELECT 1 FROM (SELECT 1"
        table = SharedTable.objects.create(connection=lake, title="Two", query=query)
        assert connected(table, curator).state == Dataset.State.REFUSED
        assert owner("SELECT count(*) AS n FROM health.visits").toArrow().to_pylist() == [{"n": 300}]

    def test_a_cluster_that_is_killed_while_it_counts(self, lake, curator, administrator, tmp_path):
        query = f"SELECT v.* FROM ({VISITS}) AS v CROSS JOIN range(10000000000) AS r"
        with clusters.started(tmp_path, "local[2]") as other:
            lake.pk, lake.name, lake.port, lake.most_rows = None, "Other lake", other.port, 10**13
            lake.seconds = 600
            lake.save()
            table = SharedTable.objects.create(connection=lake, title="Endless", query=query)
            dataset = building.granted(connected(table, curator), administrator)
            threading.Thread(target=killed_while_it_counts, args=[other, tmp_path / "log"]).start()
            assert "was lost" in self.failed(dataset)


def killed_while_it_counts(cluster: clusters.Cluster, log: Path) -> None:
    """Kill a cluster once it shares rows out by their cells, which nothing but counting does."""
    deadline = time.monotonic() + 300
    while "Submitting ShuffleMapStage" not in log.read_text() and time.monotonic() < deadline:
        time.sleep(0.1)
    cluster.kill()
