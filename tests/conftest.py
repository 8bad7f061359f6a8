"""Which servers this machine has. Where one is missing its tests are skipped with the reason; in CI they fail."""

import os

import psycopg
import pytest
import redis

POSTGRES_URL = os.environ.get("DPPORTAL_TEST_POSTGRES", "postgres://postgres@127.0.0.1:5432")
REDIS_URL = os.environ.get("DPPORTAL_TEST_REDIS", "redis://127.0.0.1:6379/5")


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


def _missing(reason: str) -> None:
    if os.environ.get("CI"):
        pytest.fail(reason)
    pytest.skip(reason)
