"""A release of a table that stays in Spark, from the curator's choice to the bundle."""

from __future__ import annotations

import threading
import time
from contextlib import closing
from pathlib import Path

import pytest

from dpportal.datasets import records, services
from dpportal.datasets.models import Dataset
from dpportal.tables.connections.models import Connection, SharedTable
from dpportal.tables.engines import definitions
from dpportal.tables.engines.spark import session as spark
from dpportal.tables.faults import SourceFault
from mechanisms.domain import Categorical, Integer
from tests import clusters
from tests.credentials import credential
from tests.dpportal import building
from tests.dpportal.tables.connections import refusals
from tests.dpportal.tables.connections.conftest import connected
from tests.dpportal.tables.connections.products import summary_counts_what_an_upload_does
from tests.dpportal.tables.connections.refusals import ByExtra, Failing, credential_follows, released
from tests.dpportal.tables.connections.registers import Register
from tests.dpportal.tables.connections.spark.conftest import VISITS
from tests.dpportal.tables.connections.ways import Way

pytestmark = pytest.mark.spark


class TestRegister(Register):
    """In Spark."""

    engine, mapped = "Spark 4.", "map<string,bigint>"


def test_a_summary_counts_what_an_upload_does(elsewhere):
    summary_counts_what_an_upload_does(elsewhere)


def test_a_view_is_known_by_the_table_that_it_reads(elsewhere):
    assert [relation.rpartition("/")[2] for relation in elsewhere.relations] == [
        "spark_catalog.health.visits"
    ]


def test_a_connection_has_a_catalog_in_which_names_are_sought(connection, seen, curator):
    Connection.objects.update(database="spark_catalog")
    assert (
        connected(seen, curator).facts["identity"]
        == f"127.0.0.1:{connection.port}/spark_catalog table health.seen"
    )
    Connection.objects.update(database="nowhere")
    assert "not there" in connected(seen, curator).conversion.failure


class TestAChange(Failing):
    @pytest.mark.parametrize(
        "instead",
        ["SELECT * FROM health.others", "SELECT v.* FROM health.visits AS v CROSS JOIN range(5)"],
        ids=["another table", "five of each row"],
    )
    def test_of_a_view_within_a_view(self, connection, curator, administrator, owner, instead):
        owner("CREATE OR REPLACE VIEW health.others AS SELECT * FROM health.visits")
        owner("CREATE OR REPLACE VIEW health.inner_seen AS SELECT * FROM health.visits WHERE age >= 0")
        owner("CREATE OR REPLACE VIEW health.seen AS SELECT colour, age, patient FROM health.inner_seen")
        table = SharedTable.objects.create(
            connection=connection, title="Inner", schema="health", table="seen"
        )
        dataset = building.granted(connected(table, curator), administrator)
        assert released(dataset).is_ready
        owner(f"CREATE OR REPLACE VIEW health.inner_seen AS {instead}")
        release = released(dataset)
        assert "health.inner_seen is defined in another way" in release.job.failure

    def test_of_a_table_of_which_no_row_is_read_yet(self, connection, curator, owner):
        """Its condition is false until a day that comes, so the optimised plan names no table."""
        query = "SELECT colour, age, patient FROM health.visits WHERE current_date() > DATE'2200-01-01'"
        table = SharedTable.objects.create(connection=connection, title="Later", query=query)
        dataset = connected(table, curator)
        assert dataset.facts["definition"].keys() == {"query", "spark_catalog.health.visits"}
        assert [relation.rpartition("/")[2] for relation in dataset.relations] == [
            "spark_catalog.health.visits"
        ]


SHIFTS = {
    **refusals.SHIFTS,
    "sample": "SELECT colour, age FROM health.visits TABLESAMPLE (10 PERCENT)",
    "rows": "SELECT colour, explode(array(1, age)) AS age FROM health.visits",
    "volatile": "SELECT colour, age FROM health.visits WHERE rand() < 0.5",
    "place": "SELECT colour, age FROM health.visits WHERE _metadata.row_index < 10",
}


@pytest.mark.parametrize("shift", SHIFTS)
def test_a_row_that_decides_on_others_is_refused(connection, curator, owner, shift):
    table = SharedTable.objects.create(connection=connection, title=shift, query=SHIFTS[shift])
    assert str(definitions.SHIFTS[shift]) in connected(table, curator, declared=False).conversion.failure


class TestFilesByTheirPath(Failing):
    """Of which one row could make a column another type, and so have a release fail."""

    def test_a_folder_s_name_does_not_decide_on_others(
        self, connection, curator, administrator, owner, tmp_path
    ):
        def write(ward: str) -> None:
            rows = "SELECT 'red' AS colour, CAST(id AS INT) AS age FROM range(30)"
            owner(f"INSERT OVERWRITE DIRECTORY '{tmp_path}/wards/ward={ward}' USING parquet {rows}")

        write("01")
        query = f"SELECT ward, colour, age FROM parquet.`{tmp_path}/wards`"
        table = SharedTable.objects.create(connection=connection, title="Wards", query=query)
        dataset = connected(table, curator, declared=False)
        services.declare_all(
            dataset, [Categorical("ward", values=("01", "02")), Integer("age", lower=0, upper=99)]
        )
        building.granted(dataset, administrator)
        write("2b")
        version = dataset.current_domain()
        domain = version.domain().project(["ward"])
        assert records.count(dataset, version, domain, b"").tolist() == [30, 0, 30]

    @pytest.mark.parametrize("kind", ["json", "csv"])
    def test_types_that_are_found_in_the_rows_need_a_word(self, connection, curator, owner, tmp_path, kind):
        owner(f"INSERT OVERWRITE DIRECTORY '{tmp_path}/people' USING {kind} SELECT 'red' AS colour, 7 AS age")
        query = f"SELECT * FROM {kind}.`{tmp_path}/people`"
        fields = {"connection": connection, "query": query}
        table = SharedTable.objects.create(title="People", **fields)
        assert (
            str(definitions.SHIFTS["found"]) in connected(table, curator, declared=False).conversion.failure
        )
        signed = SharedTable.objects.create(title="Signed", vouched="One program writes it.", **fields)
        assert connected(signed, curator, declared=False).state == Dataset.State.STORED


class TestADayOfAPartitionedTable(Failing):
    @pytest.fixture
    def day(self, connection, curator, administrator, owner) -> Dataset:
        owner("DROP TABLE IF EXISTS health.days")
        owner("CREATE TABLE health.days (colour string, age int, day int) USING parquet PARTITIONED BY (day)")
        owner(
            "INSERT INTO health.days SELECT 'red', CAST(id DIV 10 % 100 AS INT), CAST(id % 10 AS INT) FROM range(10000)"
        )
        owner("ANALYZE TABLE health.days COMPUTE STATISTICS")
        query = "SELECT colour, age FROM health.days WHERE day = 3"
        table = SharedTable.objects.create(connection=connection, title="Day", query=query)
        dataset = connected(table, curator, declared=False)
        services.declare_all(dataset, [Integer("age", lower=0, upper=99, width=10)])
        return building.granted(dataset, administrator)

    def test_is_allowed_as_what_it_reads(self, day):
        version = day.current_domain()
        self.limited(day, most_rows=1500)
        assert records.count(day, version, version.domain(), b"").tolist() == [100] * 10
        self.limited(day, most_rows=500)
        with pytest.raises(SourceFault, match=r"than the connection allows \(500\)"):
            records.count(day, version, version.domain(), b"")


def asleep(seconds: int) -> str:
    """A query of one row, which takes so long on however fast a machine, and can be ended before."""
    sleeps = f"reflect('java.lang.Thread', 'sleep', {seconds}000L) = 'null'"
    return f"SELECT colour, if({sleeps}, age, 0) AS age, patient FROM (SELECT * FROM health.visits LIMIT 1)"


class TestBadInput(ByExtra):
    client, extra = "pyspark.sql.connect.session", "requirements-spark.txt"

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
        self.accept(elsewhere)
        said = self.failed(elsewhere)
        assert "code is CAST_INVALID_INPUT" in said and "secret" not in said
        assert "a secret" not in "".join(capfd.readouterr())

    def test_a_query_that_runs_out_of_time(self, elsewhere, owner):
        owner(f"CREATE OR REPLACE VIEW health.seen AS {asleep(120)}")
        self.accept(elsewhere)
        self.limited(elsewhere, seconds=2, most_rows=10**12)
        begun = time.monotonic()
        assert "ran longer than the connection allows" in self.failed(elsewhere)
        assert time.monotonic() - begun < 120

    @pytest.mark.parametrize("step", ["_plan", "_expected"])
    def test_a_step_that_no_interruption_ends_in_time(self, elsewhere, monkeypatch, step):
        """It comes between two calls, and what follows would be counted late."""
        original = getattr(spark.SparkReadSession, step)

        def late(*args: object) -> object:
            found = original(*args)
            time.sleep(2.1)
            return found

        monkeypatch.setattr(spark.SparkReadSession, step, late)
        self.limited(elsewhere, seconds=2)
        assert "ran longer than the connection allows" in self.failed(elsewhere)

    def test_a_cluster_that_is_gone_without_a_word(self, connection, curator, administrator, monkeypatch):
        """Is not waited for longer than a query may take, nor are the interruptions that do not reach it."""
        monkeypatch.setattr(spark, "PATIENCE_SECONDS", 2)
        # No longer than it takes: no interruption reaches it, and it keeps the cluster from what comes next.
        query = asleep(20)
        with closing(Way(connection.port)) as way:
            connection.port, connection.most_rows = way.port, 10**13
            connection.save()
            credential_follows(connection)
            table = SharedTable.objects.create(connection=connection, title="Long", query=query, vouched="x")
            dataset = building.granted(connected(table, curator), administrator)
            self.limited(dataset, seconds=8)

            def last_before_it_counts(*_expected: object) -> None:
                threading.Timer(1, way.ends.set).start()

            monkeypatch.setattr(spark, "check", last_before_it_counts)
            begun = time.monotonic()
            assert "ran longer than the connection allows" in self.failed(dataset)
            assert way.ends.is_set() and time.monotonic() - begun < 60

    def test_a_wrong_token(self, elsewhere, monkeypatch):
        port = elsewhere.source.connection.port
        monkeypatch.setenv("DPPORTAL_CREDENTIAL_REGISTER", credential(port, "wrong", engine="spark"))
        assert "refuses the user or its password" in self.failed(elsewhere)

    def test_a_second_statement_in_a_query_is_not_run(self, connection, curator, owner):
        query = "SELECT colour FROM health.visits) AS a; DROP TABLE health.visits; SELECT 1 FROM (SELECT 1"
        table = SharedTable.objects.create(connection=connection, title="Two", query=query)
        assert connected(table, curator).state == Dataset.State.REFUSED
        assert owner("SELECT count(*) AS n FROM health.visits").toArrow().to_pylist() == [{"n": 300}]

    def test_a_cluster_that_is_killed_while_it_counts(self, endless, tmp_path):
        query = f"SELECT v.* FROM ({VISITS}) AS v CROSS JOIN range(10000000000) AS r"
        with clusters.started(tmp_path, clusters.TWO_WORKERS) as other:
            dataset = endless(other.port, query)
            threading.Thread(target=killed_while_it_counts, args=[other, tmp_path / "log"]).start()
            assert "was lost" in self.failed(dataset)


def killed_while_it_counts(cluster: clusters.Cluster, log: Path) -> None:
    """Kill a cluster once it shares rows out by their cells, which nothing but counting does."""
    deadline = time.monotonic() + 300
    while "Submitting ShuffleMapStage" not in log.read_text() and time.monotonic() < deadline:
        time.sleep(0.1)
    cluster.kill()
