"""`manage.py portal`: one real portal is started, loses its processes, is stopped and started again."""

import os
import re
import signal
from pathlib import Path

import httpx
import pytest

from dpportal.api.dpclient import Portal as Client, uploading
from tests.dpportal.portal_command import scripted
from tests.dpportal.portal_command.scripted import Browser
from tests.dpportal.portal_command.starting import (
    Portal,
    free_port,
    proportional_mb,
    refused,
    wait_until,
)

pytestmark = pytest.mark.worker


@pytest.fixture(scope="module")
def data(tmp_path_factory) -> Path:
    return tmp_path_factory.mktemp("portal") / "data"


@pytest.fixture(scope="module")
def portal(data):
    running = Portal(data, free_port())
    yield running
    running.end()


def kill_and_wait(portal: Portal, word: str) -> None:
    """Kill one of the three processes, and wait until another has its place."""
    [killed] = portal.children(word)
    os.kill(killed, signal.SIGKILL)
    wait_until(
        lambda: portal.children(word) not in ([], [killed]), f"the {word} process is back", portal.said
    )


def test_it_answers_when_it_says_so(portal):
    assert f"The portal is running at http://127.0.0.1:{portal.port}/" in portal.said()
    assert portal.answers()


def test_the_first_start_makes_two_people_and_shows_their_passwords(portal):
    assert [name for name, _hash in portal.passwords()] == ["administrator", "curator"]
    assert portal.said().count(" password ") == 2


def test_its_processes_share_what_they_loaded(portal):
    """Each of the seven alone would hold some 160 MB; the command line of a worker takes 25 MB more."""
    assert proportional_mb(portal.process.pid) < 340
    for worker in portal.children("celery"):
        maps = Path(f"/proc/{worker}/smaps_rollup").read_text()
        dirty = re.search(r"^Private_Dirty:\s+(\d+) kB", maps, re.MULTILINE)
        assert dirty is not None
        assert int(dirty[1]) / 1024 < 30


def test_the_database_belongs_to_its_owner_only(portal):
    assert portal.data.stat().st_mode & 0o077 == 0


def test_a_killed_web_server_is_back_on_its_port(portal):
    kill_and_wait(portal, "gunicorn")
    wait_until(portal.answers, "the web server answers again", portal.said)


def test_a_killed_worker_is_back_at_its_queue(portal):
    ready = portal.data / "worker.ready"
    ready.unlink()
    kill_and_wait(portal, "worker-1")
    wait_until(ready.exists, "the worker is ready again", portal.said)


def test_an_idle_worker_that_is_killed_does_not_end_the_others_work(portal):
    """Each worker takes from the queue itself; what one was about to take, another or the next one does."""
    for _ in range(3):
        kill_and_wait(portal, "worker-1")
    wait_until(
        lambda: portal.health()["workers"] >= 1 and not portal.health()["troubles"],
        "a worker is heard of again",
        portal.said,
    )


def test_messages_that_nobody_can_read_end_no_worker(portal):
    workers = portal.children("celery")
    for number in range(10):
        (portal.data / "broker" / f"0_{number}.celery.msg").write_bytes(b"")
    aside = portal.data / "broker" / "unreadable"
    wait_until(lambda: aside.exists() and len(list(aside.iterdir())) == 10, "they are set aside", portal.said)
    assert portal.children("celery") == workers


def test_a_script_with_the_client_alone_uploads_spends_publishes_and_reads_once(portal, tmp_path):
    assert len(scripted.SCRIPT.splitlines()) <= 40
    scripted.people(tmp_path)
    curator, administrator = Browser(portal, "curator"), Browser(portal, "administrator")
    page = curator.post("/account/tokens/", name="script", scope="administer", limit="1", days="7")
    token = re.search(r"dpp_[\w-]+", page)
    assert token is not None
    asked = scripted.ran(portal, token[0], tmp_path)
    assert "The budget is asked for" in asked.stderr, asked.stderr
    assert asked.stdout.startswith("ε 0.50 ") and "±" in asked.stdout
    dataset = re.search(r"/office/budgets/([0-9a-f-]{36})/", administrator.http.get("/office/").text)
    assert dataset is not None
    administrator.post(dataset[0], amount="0.5", reason="For the yearbook")
    first, second = (scripted.ran(portal, token[0], tmp_path) for _ in range(2))
    assert (first.returncode, second.returncode) == (0, 0), first.stderr + second.stderr
    assert "margin" in first.stdout and first.stdout.splitlines()[1:] == second.stdout.splitlines()[1:]
    ledger = curator.http.get(f"/datasets/{dataset[1]}/ledger.csv").text
    assert len(ledger.splitlines()) == 3  # a head, a grant, a charge


@pytest.mark.parametrize("token", ["", "dpp_guessed"])
def test_what_a_stranger_sends_to_the_api_is_refused_before_it_comes(portal, token):
    headers = {"Authorization": f"Bearer {token}"} if token else {}
    files = {"file": ("people.csv", b"age\n" * 2**18)}
    address = f"http://127.0.0.1:{portal.port}/api/v1/datasets"
    refused = httpx.post(address, files=files, headers=headers, timeout=60)
    assert refused.status_code == 413
    assert refused.headers["Content-Type"] == "application/problem+json" and refused.json()["status"] == 413


def test_an_upload_goes_on_after_the_web_server_was_killed(portal, tmp_path, monkeypatch):
    """Half of the pieces come before, half after; what came is the same bytes."""
    page = Browser(portal, "curator").post(
        "/account/tokens/", name="pieces", scope="administer", limit="1", days="7"
    )
    token = re.search(r"dpp_[\w-]+", page)
    assert token is not None
    content = b"age\n" + b"".join(b"%d\n" % (number % 90) for number in range(60_000))
    (tmp_path / "ages.csv").write_bytes(content)
    killed: list[int] = []
    send = uploading._Upload._send

    def breaking(upload: uploading._Upload) -> None:
        send(upload)
        if upload.offset > len(content) // 2 and not killed:
            killed.extend(portal.children("gunicorn"))
            os.kill(killed[0], signal.SIGKILL)

    monkeypatch.setattr(uploading, "PIECE_BYTES", 2**14)
    monkeypatch.setattr(uploading._Upload, "_send", breaking)
    with Client(f"http://127.0.0.1:{portal.port}", token[0]) as client:
        dataset = client.upload(tmp_path / "ages.csv", name="Ages")
    # The portal compared the SHA-256 that the client announced with that of what it put together.
    assert killed and dataset.state == "stored" and dataset.facts["columns"] == ["age"]


def test_a_token_that_only_reads_is_refused_before_its_file_comes(portal):
    page = Browser(portal, "curator").post(
        "/account/tokens/", name="reader", scope="read", limit="", days="7"
    )
    token = re.search(r"dpp_[\w-]+", page)
    assert token is not None
    files = {"file": ("people.csv", b"age\n" * 2**18)}
    address = f"http://127.0.0.1:{portal.port}/api/v1/datasets"
    refused = httpx.post(address, files=files, headers={"Authorization": f"Bearer {token[0]}"}, timeout=60)
    assert refused.status_code == 403 and "it is for “Read”" in refused.json()["detail"]
    assert refused.headers["Connection"] == "close"  # the door's answer: the view's would leave it open


def test_a_killed_sweep_is_back(portal):
    kill_and_wait(portal, "sweep")


def test_a_second_portal_on_the_same_port_is_told_so(portal, tmp_path):
    code, said = refused(tmp_path / "data", portal.port)
    assert code == 1
    assert said == (
        f"CommandError: Port {portal.port} on 127.0.0.1 cannot be used (Address already in use). "
        f"Stop what uses it, or choose another with --port {portal.port + 1}.\n"
    )


def test_ctrl_c_ends_everything_and_the_next_start_keeps_the_people(portal, data):
    started = [pid for word in ("gunicorn", "celery", "sweep") for pid in portal.children(word)]
    people = portal.passwords()
    assert portal.interrupt() == 0
    assert "Stopped. All data is kept" in portal.said()
    assert "ERROR" not in portal.said()
    assert [pid for pid in started if Path(f"/proc/{pid}").exists()] == []
    assert not portal.answers()

    again = Portal(data, portal.port)
    try:
        assert " password " not in again.said()
        assert again.passwords() == people
    finally:
        assert again.interrupt() == 0
