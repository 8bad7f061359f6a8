"""Which servers this machine has, which tests are quick, and how a run is shared out among its processors.

Where a server is missing its tests are skipped with the reason; in CI they fail.
"""

from __future__ import annotations

import gc
import os
import shutil
from collections.abc import Generator, Iterator

import psycopg
import pytest
import redis
from kombu import Connection
from xdist.remote import Producer
from xdist.scheduler import LoadScopeScheduling

from mechanisms.noise import guard
from tests import clickhouses, clusters, nightly, quick_lane
from tests.clusters import Cluster

POSTGRES_URL = os.environ.get("DPPORTAL_TEST_POSTGRES", "postgres://postgres@127.0.0.1:5432")
REDIS_URL = os.environ.get("DPPORTAL_TEST_REDIS", "redis://127.0.0.1:6379/5")
RABBITMQ_URL = os.environ.get("DPPORTAL_TEST_RABBITMQ", "amqp://guest:guest@127.0.0.1:5672")
# Tests whose ids hold one of these share what takes long to make, portals, a cluster, a list of all tests or the syntax
# trees of the project; they stay together in one process.
SHARED = (
    "/spark/",
    "/clickhouse/",
    "tests/browser/",
    "tests/dpportal/crashes/test_buckets.py",
    "tests/dpportal/portal_command/test_runs.py",
    "tests/dpportal/test_architecture.py",
    "tests/dpportal/serving/test_slow_visitors.py",
    "tests/dpportal/serving/test_proxies.py",
    "tests/test_lanes.py",
    "[SQLite and filesystem",
    "[PostgreSQL and Redis",
)
# One process of tests on each processor leaves none for the threads of matrix products.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """What is imported and collected lives to the end: no search for garbage goes through it, the last one neither.

    Tests draw noise wherever they need some; the portals that they start as processes do not.
    """
    guard._is_closed = False
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.enable()


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    nightly.leave_to_the_night(config, items)
    quick_lane.mark(items)
    if "PYTEST_XDIST_WORKER" in os.environ:
        # The last tests are short, so that all processes end at about the same time.
        items.sort(key=quick_lane.is_hurried)


def pytest_xdist_auto_num_workers(config: pytest.Config) -> int:
    """Two processes for each processor: the slow tests, which come first, wait for browsers, servers and workers.

    Quick ones wait for nothing, and each further process imports and collects everything anew.
    """
    return (os.cpu_count() or 1) * (1 if config.getoption("-m") == "quick" else 2)


def pytest_xdist_make_scheduler(config: pytest.Config, log: Producer) -> Sharing:
    return Sharing(config, log)


class Sharing(LoadScopeScheduling):
    """Hands out tests one by one to whichever process is free, and those that share a portal at once."""

    def _split_scope(self, nodeid: str) -> str:
        return next((shared for shared in SHARED if shared in nodeid), nodeid)


@pytest.fixture(scope="session")
def postgres_url() -> str:
    """The address of a PostgreSQL server, without a database, on which databases can be made."""
    try:
        psycopg.connect(f"{POSTGRES_URL}/postgres", connect_timeout=3).close()
    except psycopg.OperationalError:
        _missing(f"no PostgreSQL answers at {POSTGRES_URL}; set DPPORTAL_TEST_POSTGRES")
    return POSTGRES_URL


@pytest.fixture(scope="session")
def redis_url() -> str:
    """The address of a Redis database that the tests may empty."""
    try:
        redis.Redis.from_url(REDIS_URL, socket_connect_timeout=3).ping()
    except redis.RedisError:
        _missing(f"no Redis answers at {REDIS_URL}; set DPPORTAL_TEST_REDIS")
    return REDIS_URL


@pytest.fixture(scope="session")
def rabbitmq_url() -> str:
    """The address of a RabbitMQ server whose queues of the portal the tests may delete."""
    try:
        Connection(RABBITMQ_URL, connect_timeout=3).connect().close()
    except OSError:
        _missing(f"no RabbitMQ answers at {RABBITMQ_URL}; set DPPORTAL_TEST_RABBITMQ")
    return RABBITMQ_URL


@pytest.fixture(scope="session")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    """Spark of two threads, at night of two workers that are processes; it answers by Spark Connect."""
    if reason := clusters.lacking():
        _missing(reason)
    master = clusters.TWO_WORKERS if nightly.NIGHTLY else clusters.TWO_THREADS
    with clusters.started(tmp_path_factory.mktemp("spark"), master) as found:
        yield found


@pytest.fixture(scope="session")
def clickhouse_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[clickhouses.Server]:
    """ClickHouse's engine, which answers by HTTP."""
    if reason := clickhouses.lacking():
        _missing(reason)
    with clickhouses.started(tmp_path_factory.mktemp("clickhouse")) as found:
        yield found


@pytest.fixture(scope="session")
def rscript() -> str:
    """The program that runs R."""
    found = shutil.which("Rscript")
    if found is None:
        _missing("R is not installed: its package r-base-core is missing")
    assert found is not None
    return found


def _missing(reason: str) -> None:
    if os.environ.get("CI"):
        pytest.fail(reason)
    pytest.skip(reason)
