import pytest

from dpportal.tables.engines.clickhouse import session as speaking
from tests.clickhouses import PASSWORD, run
from tests.credentials import credential
from tests.dpportal.tables.connections.clickhouse.conftest import connection_to
from tests.dpportal.tables.pushdown.clickhouse.twin import ClickHouseTwin


@pytest.fixture(scope="session")
def clickhouse(clickhouse_server):
    """A table that is read in a session as a job has it, whatever the profile of its user says."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(
            "DPPORTAL_CREDENTIAL_REGISTER", credential(clickhouse_server.port, PASSWORD, engine="clickhouse")
        )
        with speaking.reading(connection_to(clickhouse_server)) as session:
            yield ClickHouseTwin(session, lambda statement: run(clickhouse_server, statement))
