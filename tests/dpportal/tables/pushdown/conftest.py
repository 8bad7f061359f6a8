import pytest

from tests.dpportal.tables.pushdown import twins


@pytest.fixture(scope="session")
def postgres(postgres_url):
    with twins.postgres(postgres_url) as twin:
        yield twin


@pytest.fixture(scope="session")
def duck():
    with twins.duck() as twin:
        yield twin
