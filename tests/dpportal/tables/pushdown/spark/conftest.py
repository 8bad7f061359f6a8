import pytest

from dpportal.tables.connections.models import Connection
from dpportal.tables.engines.server import Encryption
from dpportal.tables.engines.spark import session as speaking
from tests.clusters import TOKEN
from tests.credentials import credential
from tests.dpportal.tables.pushdown.spark.twin import SparkTwin


@pytest.fixture(scope="session")
def spark(cluster, tmp_path_factory):
    """A table in the cluster, read in a session as a job has it."""
    connection = Connection(
        kind=Connection.Kind.SPARK,
        host="127.0.0.1",
        port=cluster.port,
        credential="spark",
        encryption=Encryption.NONE,
        seconds=300,
    )
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("DPPORTAL_CREDENTIAL_SPARK", credential(cluster.port, TOKEN, engine="spark"))
        with speaking.reading(connection) as session:
            yield SparkTwin(session, tmp_path_factory.mktemp("twins"))
