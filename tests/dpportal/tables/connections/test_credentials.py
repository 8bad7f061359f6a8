"""A password goes to the server that its credential names, as encrypted as it says, and nowhere else."""

from __future__ import annotations

import json
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager

import pytest
from django.urls import reverse

from dpportal.accounts.models import AuditEntry
from dpportal.tables.connections import reachability
from dpportal.tables.connections.models import Connection
from dpportal.tables.engines import credentials
from dpportal.tables.engines.postgres import session as postgres
from dpportal.tables.faults import SourceFault
from tests.credentials import CLEARTEXT, ScramDoor, credential
from tests.dpportal.tables.connections.conftest import PASSWORD
from tests.dpportal.tables.connections.refusals import Failing, credential_follows
from tests.dpportal.tables.connections.ways import Way

REGISTER = "DPPORTAL_CREDENTIAL_REGISTER"


@pytest.fixture
def archive() -> Connection:
    return Connection(host="DB.example.org", port=5432, credential="register", encryption="require")


def refusal(connection: Connection) -> str:
    with pytest.raises(SourceFault) as raised:
        credentials.password(connection)
    assert PASSWORD not in raised.value.message
    return raised.value.code


class TestACredential:
    def test_is_given_to_its_own_server(self, archive, monkeypatch):
        monkeypatch.setenv(REGISTER, credential(5432, PASSWORD, "db.example.org", "require"))
        assert credentials.password(archive) == PASSWORD
        archive.encryption = "verify-full"
        assert credentials.password(archive) == PASSWORD

    @pytest.mark.parametrize(
        "change",
        [
            {"host": "evil.example.org"},
            {"host": "db.example.org,evil.example.org"},
            {"host": "/tmp"},
            {"port": 5433},
            {"encryption": "disable"},
            {"kind": "clickhouse"},
        ],
    )
    def test_is_given_to_no_other_and_no_less_encrypted(self, archive, monkeypatch, change):
        monkeypatch.setenv(REGISTER, credential(5432, PASSWORD, "db.example.org", "require"))
        for name, value in change.items():
            setattr(archive, name, value)
        assert refusal(archive) == "credential-for-another"

    @pytest.mark.parametrize(
        "stored",
        [
            PASSWORD,
            "12345",
            '"quoted"',
            "[]",
            '{"password": "only"}',
            credential(5432, PASSWORD, encryption="prefer"),
            json.dumps({"engine": "postgresql", "host": "h", "port": "5432", "encryption": "require"}),
            json.dumps(
                {"engine": "postgresql", "host": "h", "port": 5432, "encryption": "require", "pasword": "x"}
            ),
            json.dumps({"host": "h", "port": 5432, "encryption": "require", "password": PASSWORD}),
        ],
    )
    def test_that_does_not_say_for_whom_it_is_is_refused_with_the_remedy(self, archive, monkeypatch, stored):
        monkeypatch.setenv(REGISTER, stored)
        assert refusal(archive) == "credential-form"

    def test_can_be_a_file(self, archive, settings, monkeypatch, tmp_path):
        monkeypatch.delenv(REGISTER, raising=False)
        settings.CREDENTIALS_DIR = tmp_path
        (tmp_path / "register").write_text(credential(5432, PASSWORD, "db.example.org") + "\n")
        assert credentials.password(archive) == PASSWORD


@pytest.mark.postgres
class TestPostgreSQL(Failing):
    def test_that_asks_for_the_password_itself_does_not_get_it(self, connection, register):
        with closing(ScramDoor("127.0.0.1", 1, PASSWORD, CLEARTEXT)) as rogue:
            connection.port = rogue.port
            credential_follows(connection)
            with pytest.raises(SourceFault) as fault, postgres.reading(connection):
                pass
            assert fault.value.code == "sign-in" and "pg_hba.conf" in fault.value.message
            assert not any(PASSWORD.encode() in given for given in rogue.given)

    def test_that_asks_nobody_is_not_believed(self, connection, door):
        connection.port = door.beyond[1]
        credential_follows(connection)
        words = "asks for no password, or not by SCRAM-SHA-256"
        with pytest.raises(SourceFault, match=words) as fault, postgres.reading(connection):
            pass
        assert fault.value.code == "sign-in"

    def test_with_another_port_is_not_dialled_by_a_release(self, elsewhere):
        with closing(socket.create_server(("127.0.0.1", 0))) as listening:
            listening.setblocking(False)
            Connection.objects.update(port=listening.getsockname()[1])
            elsewhere.source.connection.refresh_from_db()
            assert "for another engine, host, port or encryption" in self.failed(elsewhere)
            with pytest.raises(BlockingIOError):
                listening.accept()


@contextmanager
def closed_port(_connection: Connection) -> Iterator[int]:
    with closing(socket.create_server(("127.0.0.1", 0))) as free:
        port = int(free.getsockname()[1])
    yield port


@contextmanager
def silent_port(connection: Connection) -> Iterator[int]:
    with closing(Way(connection.port)) as way:
        way.ends.set()
        yield way.port


@contextmanager
def another_server(_connection: Connection) -> Iterator[int]:
    with closing(socket.create_server(("127.0.0.1", 0))) as server:

        def answer() -> None:
            near = server.accept()[0]
            near.recv(1000)
            near.sendall(b"HTTP/1.1 400 Bad Request\r\n\r\n")
            near.close()

        threading.Thread(target=answer, daemon=True).start()
        yield int(server.getsockname()[1])


@contextmanager
def wrong_password(connection: Connection) -> Iterator[int]:
    with closing(ScramDoor("127.0.0.1", connection.port, "another")) as door:
        yield door.port


@pytest.mark.postgres
@pytest.mark.parametrize("where", [closed_port, silent_port, another_server, wrong_password])
def test_a_test_answers_alike_in_words_and_time(client, administrator, connection, monkeypatch, where):
    monkeypatch.setattr(reachability, "ANSWER_SECONDS", 0.7)
    client.force_login(administrator)
    chosen = {"action": "test_connection", "_selected_action": [connection.pk]}
    with where(connection) as port:
        Connection.objects.update(port=port)
        connection.refresh_from_db()
        credential_follows(connection)
        begun = time.monotonic()
        answer = client.post(reverse("admin:connections_connection_changelist"), chosen)
        seconds = time.monotonic() - begun
    [message] = answer.wsgi_request._messages._queued_messages
    assert message.message == f"Register: {reachability.NO_SESSION}" and 0.7 <= seconds < 5
    assert AuditEntry.objects.get(action="tested a connection").detail == "no session (test)"


class TestAFileOfTheDataFolder:
    @pytest.fixture
    def file(self, settings, tmp_path, monkeypatch):
        # A variable would come first, as one does of a whole module's connection.
        monkeypatch.delenv(credentials.variable("register"), raising=False)
        settings.DATA_DIR, settings.CREDENTIALS_DIR = tmp_path, tmp_path / "credentials"
        settings.CREDENTIALS_DIR.mkdir()
        path = settings.CREDENTIALS_DIR / "register"
        path.write_text(credential(5432, PASSWORD, "db.example.org", "require"))
        (path.parent / ".nfs0001").write_text(PASSWORD)  # no credential's name
        return path

    def test_is_wrapped_when_the_portal_starts_and_opens_as_before(self, archive, file):
        assert credentials.password(archive) == PASSWORD
        credentials.wrap_all()
        assert PASSWORD not in file.read_text()
        wrapped = file.read_text()
        credentials.wrap_all()
        assert credentials.password(archive) == PASSWORD and file.read_text() == wrapped

    def test_in_another_ones_place_opens_nothing(self, archive, file):
        credentials.wrap_all()
        file.rename(file.with_name("other"))
        archive.credential = "other"
        assert refusal(archive) == "credential-missing"

    def test_stays_plain_where_the_site_named_the_folder(self, archive, file, settings):
        settings.DATA_DIR = file.parent / "data"
        credentials.wrap_all()
        assert PASSWORD in file.read_text() and credentials.password(archive) == PASSWORD
