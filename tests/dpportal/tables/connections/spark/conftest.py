"""The register of 300 rows in a real Spark cluster, and a connection to it."""

from __future__ import annotations

from typing import Any

import pytest

from dpportal.datasets.models import Dataset
from dpportal.tables.connections.models import Connection, SharedTable
from dpportal.tables.engines.server import Encryption
from dpportal.tables.engines.spark import session as speaking
from tests.clusters import TOKEN, Cluster
from tests.credentials import credential
from tests.dpportal import building
from tests.dpportal.tables.connections.conftest import connected

VISITS = """SELECT element_at(array('red', 'green', 'blue'), CAST(id % 3 + 1 AS INT)) AS colour,
    CAST(id DIV 3 AS INT) AS age, concat('p', id DIV 10) AS patient, map('i', id) AS notes FROM range(300)"""


@pytest.fixture(scope="session")
def register(cluster: Cluster) -> Cluster:
    """The cluster with the small table as visits."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("DPPORTAL_CREDENTIAL_REGISTER", credential(cluster.port, TOKEN, engine="spark"))
        with speaking.reading(connection_to(cluster)) as session:
            session.spark.sql("CREATE SCHEMA health")
            session.spark.sql(f"CREATE TABLE health.visits USING parquet AS {VISITS}")
            session.spark.sql("ANALYZE TABLE health.visits COMPUTE STATISTICS")
    return cluster


def connection_to(cluster: Cluster, **fields: Any) -> Connection:
    known: dict[str, Any] = {
        "name": "Lake",
        "kind": Connection.Kind.SPARK,
        "host": "127.0.0.1",
        "port": cluster.port,
        "credential": "register",
        "encryption": Encryption.NONE,
        "all_curators": True,
        "seconds": 60,
    }
    return Connection(**{**known, **fields})


@pytest.fixture
def connection(db, register, monkeypatch) -> Connection:
    monkeypatch.setenv("DPPORTAL_CREDENTIAL_REGISTER", credential(register.port, TOKEN, engine="spark"))
    connection = connection_to(register)
    connection.full_clean()
    connection.save()
    return connection


@pytest.fixture
def owner(connection):
    """Runs statements as whoever may write, and has the view of the visits as it was."""
    with speaking.reading(connection) as session:
        session.spark.sql("CREATE OR REPLACE VIEW health.seen AS SELECT * FROM health.visits")
        yield session.spark.sql


@pytest.fixture
def visits(connection) -> SharedTable:
    return SharedTable.objects.create(connection=connection, title="Visits", schema="health", table="visits")


@pytest.fixture
def seen(connection, owner) -> SharedTable:
    return SharedTable.objects.create(connection=connection, title="Seen", schema="health", table="seen")


@pytest.fixture
def elsewhere(seen, curator, administrator) -> Dataset:
    """The curator's dataset of a view of the visits, with a budget of ε = 1."""
    return building.granted(connected(seen, curator), administrator)
