"""The register of 300 rows in ClickHouse's engine, and a connection to it."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import pytest

from dpportal.datasets.models import Dataset
from dpportal.tables.connections.models import Connection, SharedTable
from dpportal.tables.engines.server import Encryption
from tests.clickhouses import PASSWORD, Server, run
from tests.credentials import credential
from tests.dpportal import building
from tests.dpportal.tables.connections.conftest import connected

VISITS = """SELECT ['red', 'green', 'blue'][number % 3 + 1] AS colour, toInt32(intDiv(number, 3)) AS age,
    concat('p', toString(intDiv(number, 10))) AS patient, map('i', number) AS notes FROM numbers(300)"""


def connection_to(server: Server, **fields: Any) -> Connection:
    known: dict[str, Any] = {
        "name": "Warehouse",
        "kind": Connection.Kind.CLICKHOUSE,
        "host": "127.0.0.1",
        "port": server.port,
        "user": "reader",
        "credential": "register",
        "encryption": Encryption.NONE,
        "all_curators": True,
        "seconds": 60,
    }
    return Connection(**{**known, **fields})


@pytest.fixture
def owner(clickhouse_server) -> Callable[[str], bytes]:
    """Runs statements as whoever may write, and has the tables as they were."""
    run(clickhouse_server, "DROP DATABASE IF EXISTS health")
    run(clickhouse_server, "CREATE DATABASE health")
    run(clickhouse_server, f"CREATE TABLE health.visits ENGINE = MergeTree ORDER BY age AS {VISITS}")
    return partial(run, clickhouse_server)


@pytest.fixture
def connection(db, clickhouse_server, owner, monkeypatch) -> Connection:
    monkeypatch.setenv(
        "DPPORTAL_CREDENTIAL_REGISTER", credential(clickhouse_server.port, PASSWORD, engine="clickhouse")
    )
    connection = connection_to(clickhouse_server)
    connection.full_clean()
    connection.save()
    return connection


@pytest.fixture
def visits(connection) -> SharedTable:
    return SharedTable.objects.create(connection=connection, title="Visits", schema="health", table="visits")


@pytest.fixture
def elsewhere(visits, curator, administrator) -> Dataset:
    """The curator's dataset of the visits, declared as the small upload is, with a budget of ε = 1."""
    return building.granted(connected(visits, curator), administrator)
