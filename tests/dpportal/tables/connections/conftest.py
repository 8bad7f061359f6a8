"""A register of 300 rows in a real PostgreSQL, its own database, and a connection to it."""

from __future__ import annotations

import uuid
from contextlib import closing
from urllib.parse import urlsplit

import psycopg
import pytest
from psycopg import sql

from dpportal.datasets import attach_table, services
from dpportal.datasets.import_job import CONVERSIONS
from dpportal.datasets.models import Dataset
from dpportal.tables.connections.models import Connection, SharedTable
from dpportal.tables.engines.server import Encryption
from mechanisms.domain import Categorical, Integer
from tests.credentials import ScramDoor, credential
from tests.dpportal import building

# Roles are the server's, so each process of tests has its own.
READER = f"dpportal_reader_{uuid.uuid4().hex[:12]}"
PASSWORD = "only for reading"


@pytest.fixture(scope="session")
def register(postgres_url):
    """The address of a database that holds the small table as visits, some of it as persons; dropped afterwards."""
    name = f"dpportal_register_{uuid.uuid4().hex[:12]}"
    with psycopg.connect(f"{postgres_url}/postgres", autocommit=True) as server:
        server.execute(sql.SQL("CREATE DATABASE {}").format(sql.Identifier(name)))
        server.execute(f"CREATE ROLE {READER} LOGIN PASSWORD '{PASSWORD}'")
        yield f"{postgres_url}/{name}"
        server.execute(sql.SQL("DROP DATABASE {} WITH (FORCE)").format(sql.Identifier(name)))
        server.execute(f"DROP ROLE {READER}")


@pytest.fixture
def owner(register):
    """The database's owner, with the tables as they were."""
    with psycopg.connect(register, autocommit=True) as connection:
        connection.execute(f"ALTER ROLE {READER} LOGIN")
        connection.execute("DROP SCHEMA IF EXISTS health CASCADE")
        connection.execute("CREATE SCHEMA health")
        connection.execute(
            """CREATE TABLE health.visits AS SELECT (ARRAY['red', 'green', 'blue'])[i % 3 + 1] AS colour, i / 3 AS age,
            'p' || i / 10 AS patient, jsonb_build_object('i', i) AS notes FROM generate_series(0, 299) AS i"""
        )
        connection.execute(f"GRANT USAGE ON SCHEMA health TO {READER}")
        connection.execute(f"GRANT SELECT ON ALL TABLES IN SCHEMA health TO {READER}")
        connection.execute(f"ALTER DEFAULT PRIVILEGES IN SCHEMA health GRANT SELECT ON TABLES TO {READER}")
        yield connection


@pytest.fixture(scope="session")
def door(register):
    """The way to that server by which passwords are asked for."""
    at = urlsplit(register)
    with closing(ScramDoor(at.hostname, at.port or 5432, PASSWORD)) as door:
        yield door


@pytest.fixture
def connection(db, register, door, owner, monkeypatch) -> Connection:
    monkeypatch.setenv("DPPORTAL_CREDENTIAL_REGISTER", credential(door.port, PASSWORD))
    at = urlsplit(register)
    return Connection.objects.create(
        name="Register",
        host="127.0.0.1",
        port=door.port,
        database=at.path.strip("/"),
        user=READER,
        credential="register",
        encryption=Encryption.NONE,
        all_curators=True,
        seconds=20,
    )


@pytest.fixture
def visits(connection) -> SharedTable:
    return SharedTable.objects.create(connection=connection, title="Visits", schema="health", table="visits")


@pytest.fixture
def elsewhere(visits, curator, administrator) -> Dataset:
    """The curator's dataset of the visits, declared as the small upload is, with a budget of ε = 1."""
    return building.granted(connected(visits, curator), administrator)


def connected(table: SharedTable, curator, *, declared: bool = True) -> Dataset:
    dataset = attach_table.connect(Dataset(), table, curator)
    CONVERSIONS.run(dataset.pk)
    dataset.refresh_from_db()
    if declared and dataset.has_records:
        colour = Categorical("colour", values=("red", "green", "blue"))
        services.declare_all(dataset, [colour, Integer("age", lower=0, upper=99, width=10)])
        services.confirm_one_row(dataset, ["patient"], curator)
    return dataset
