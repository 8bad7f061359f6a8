"""What load balancers and administrators are told of the portal."""

from __future__ import annotations

import socket
import threading
from datetime import timedelta
from ipaddress import ip_network

import pytest
from django.core.cache import cache
from django.core.management import call_command
from django.db import InterfaceError, InternalError, OperationalError
from django.utils import timezone
from psycopg.errors import IdleInTransactionSessionTimeout

from dpportal.jobs import broker
from dpportal.jobs.heartbeat import HeartbeatThread
from dpportal.jobs.models import Heartbeat
from dpportal.operations import health, restore_check, sweeping
from dpportal.platform import storage
from dpportal.releases.models import ReleaseJob
from dpportal.releases.services import ReleaseError
from tests.dpportal import building

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def _from_a_declared_network(settings):
    settings.METRICS_NETWORKS = (ip_network("127.0.0.0/8"),)


@pytest.fixture
def _alive(db):
    for kind in Heartbeat.Kind:
        HeartbeatThread(kind).beat()


@pytest.mark.usefixtures("_alive")
def test_all_is_well(client):
    answer = client.get("/health/")
    assert answer.status_code == 200
    told = answer.json()
    assert (told["ok"], told["troubles"], told["workers"], told["sweeps"]) == (True, [], 1, 1)
    assert told["free_disk_mb"] > 0


def test_without_processes_it_says_so_and_still_serves(client, requested):
    ReleaseJob.objects.update(queued_at=timezone.now() - timedelta(minutes=5))
    answer = client.get("/health/")
    told = answer.json()
    assert (answer.status_code, told["ok"], told["troubles"]) == (200, False, ["no-worker", "no-sweep"])
    assert 299 < told["queue_age_seconds"] < 330


@pytest.mark.usefixtures("_alive")
def test_a_queue_that_nobody_takes_from_is_told(client, requested):
    ReleaseJob.objects.update(queued_at=timezone.now() - timedelta(minutes=5))
    assert client.get("/health/").json()["troubles"] == ["queue-stuck"]


@pytest.mark.parametrize(
    ("releases", "conversions", "stuck"),
    [
        (None, None, []),
        ((["celery"], True), (["conversions"], False), []),
        ((["celery"], False), (["conversions"], True), ["celery"]),
        ((["conversions"], False), (["conversions"], False), ["celery"]),
        ((["celery"], True), (["celery", "conversions"], False), ["celery"]),
        ((["celery"], True), (["celery", "conversions"], True), []),
    ],
)
def test_a_queue_is_stuck_if_a_worker_that_listens_to_it_is_free_or_none_does(
    requested, releases, conversions, stuck
):
    ReleaseJob.objects.update(queued_at=timezone.now() - timedelta(minutes=5))
    for number, worker in enumerate(filter(None, (releases, conversions))):
        pulse = HeartbeatThread(Heartbeat.Kind.WORKER, worker[0], busy=lambda told=worker[1]: told)
        pulse.name = f"worker {number}"
        pulse.beat()
    assert list(health.measured().stuck_queues) == stuck


def test_an_administrator_sees_processes_clocks_and_failures(client, administrator, requested):
    HeartbeatThread(Heartbeat.Kind.WORKER).beat()
    Heartbeat.objects.update(own_clock=timezone.now() + timedelta(days=1))
    ReleaseJob.objects.update(state="failed", failure="The job took too long.", finished_at=timezone.now())
    client.force_login(administrator)
    page = client.get("/health/portal/").content.decode()
    assert "worker@" in page and "set this machine" in page and "The job took too long." in page
    assert "No sweep is alive" in page


def test_nobody_else_does(client, curator):
    assert client.get("/health/portal/").status_code == 302
    client.force_login(curator)
    assert client.get("/health/portal/").status_code == 404


@pytest.fixture
def _full(settings, monkeypatch):
    usage = storage.shutil.disk_usage(settings.DATA_DIR)
    monkeypatch.setattr(storage.shutil, "disk_usage", lambda _: usage._replace(free=1000))


@pytest.mark.usefixtures("_full")
def test_on_a_full_disk_nothing_new_is_begun(client, dataset):
    draft = building.complete_draft(dataset)
    with pytest.raises(ReleaseError, match="disk is nearly full"):
        building.confirm(draft)
    assert not ReleaseJob.objects.exists() and dataset.budgets.get().reserved == 0
    client.force_login(dataset.owner)
    from django.core.files.uploadedfile import SimpleUploadedFile

    form = {**building.FORM, "file": SimpleUploadedFile("small.csv", b"a\n1\n"), "arrived": "whole"}
    answer = client.post("/datasets/new/", form)
    assert answer.status_code == 422 and "disk is nearly full" in answer.content.decode()
    assert "disk-full" in health.measured().troubles


@pytest.mark.usefixtures("_alive")
def test_a_stranger_hears_yes_or_no(client, curator, administrator, settings):
    """From the free space of the disk anybody could read when somebody uploads, and how much."""
    settings.METRICS_NETWORKS = ()
    assert client.get("/health/").json() == {"ok": True}
    Heartbeat.objects.all().delete()
    assert client.get("/health/").json() == {"ok": False}
    client.force_login(curator)
    assert client.get("/health/").json() == {"ok": False}
    client.force_login(administrator)
    assert client.get("/health/").json()["troubles"] == ["no-worker", "no-sweep"]


@pytest.mark.usefixtures("_alive")
def test_a_visitor_who_writes_a_declared_address_is_a_stranger(client, settings):
    settings.METRICS_NETWORKS = (ip_network("192.0.2.7"),)
    forged = {"X-Forwarded-For": "192.0.2.7"}
    assert client.get("/health/", headers=forged).json() == {"ok": True}
    settings.PROXIES = (ip_network("127.0.0.1"),)
    assert client.get("/health/", headers=forged).json()["workers"] == 1


class Stopped(Exception):  # noqa: N818 it ends the test's loop, and is no error
    pass


def _swept(monkeypatch, round_: object) -> None:
    """One round of the sweep's process, which does this."""

    def stop(_seconds):
        raise Stopped

    monkeypatch.setattr(sweeping, "sweep_jobs", round_)
    monkeypatch.setattr(sweeping, "sweep_files", lambda: None)
    monkeypatch.setattr("dpportal.management.commands.sweep.time.sleep", stop)
    with pytest.raises(Stopped):
        call_command("sweep")


def test_a_sweep_is_alive_once_it_has_swept(monkeypatch):
    _swept(monkeypatch, lambda: None)
    assert Heartbeat.alive("sweep").count() == 1


@pytest.mark.usefixtures("_alive")
def test_a_memory_that_does_not_answer_keeps_one_who_asks_and_no_other(client, monkeypatch):
    """A load balancer asks on, and each would take a thread of the web server."""
    looks, answers = threading.Event(), threading.Event()

    def hangs():
        looks.set()
        answers.wait(20)
        return restore_check.Findings([], [], [])

    cache.clear()
    monkeypatch.setattr(restore_check, "findings", hangs)
    first = threading.Thread(target=restore_check.lasting_troubles)
    first.start()
    assert looks.wait(20)
    try:
        assert client.get("/health/").json()["ok"]
        monkeypatch.setattr(restore_check, "SLOW_SECONDS", 0.0)
        assert client.get("/health/").json()["troubles"] == ["memory"]
    finally:
        answers.set()
        first.join()
    assert client.get("/health/").json()["ok"]


@pytest.mark.parametrize("kind", [OperationalError, InternalError, InterfaceError])
def test_a_sweep_whose_session_the_database_ended_goes_on(monkeypatch, caplog, kind):
    """PostgreSQL does that where a file system keeps a transaction waiting; Django has three names for it."""

    def ended():
        raise kind from IdleInTransactionSessionTimeout()

    _swept(monkeypatch, ended)
    assert "sweeping again in a moment" in caplog.text


def test_a_sweep_that_does_not_sweep_is_not_alive(monkeypatch):
    def fail():
        raise storage.StorageFault

    _swept(monkeypatch, fail)
    assert not Heartbeat.objects.exists() and "no-sweep" in health.measured().troubles


@pytest.mark.parametrize("fault", [storage.StorageFault, ValueError])
def test_a_sweep_that_cannot_look_through_the_files_says_so(client, administrator, monkeypatch, fault):
    """It keeps bringing back jobs, and is alive."""
    rounds = []

    def fail():
        raise fault

    def third(_seconds):
        rounds.append(1)
        if len(rounds) == 3:
            raise Stopped

    monkeypatch.setattr(sweeping, "sweep_jobs", lambda: None)
    monkeypatch.setattr(sweeping, "sweep_files", fail)
    monkeypatch.setattr("dpportal.management.commands.sweep.time.sleep", third)
    with pytest.raises(Stopped):
        call_command("sweep")
    [sweep] = Heartbeat.alive("sweep")
    assert "could not be looked through" in sweep.obstacle
    assert "machine-hindered" in health.measured().troubles


def test_a_room_whose_files_cannot_be_swept_keeps_no_other_from_it(curator, monkeypatch):
    """A file of one room that cannot be deleted is no reason to keep records beyond their day."""
    swept = []
    monkeypatch.setattr(sweeping.direct_upload, "sweep", lambda _folders: storage.default_storage.delete(""))
    monkeypatch.setattr(sweeping.retention, "sweep", lambda: swept.append(1))
    with pytest.raises(ValueError, match="name must be given"):
        sweeping.sweep_files()
    assert swept


@pytest.fixture
def _asked_now(settings, monkeypatch):
    cache.clear()
    settings.EMBEDDED = False
    monkeypatch.setattr(broker, "ANSWER_SECONDS", 0.2)


@pytest.mark.usefixtures("_alive", "_asked_now")
@pytest.mark.parametrize("address", ["redis://127.0.0.1:{}/0", "amqp://guest:guest@127.0.0.1:{}//"])
@pytest.mark.parametrize("is_silent", [False, True])
def test_a_broker_that_does_not_answer_is_told(client, settings, address, is_silent):
    with socket.create_server(("127.0.0.1", 0)) as server:
        settings.CELERY_BROKER_URL = address.format(server.getsockname()[1])
        if not is_silent:
            server.close()
        answer = client.get("/health/")
    assert (answer.status_code, answer.json()["troubles"]) == (200, ["no-broker"])


@pytest.mark.redis
@pytest.mark.usefixtures("_asked_now")
def test_a_broker_that_answers_is_no_trouble(settings, redis_url):
    settings.CELERY_BROKER_URL = redis_url
    assert broker.is_reachable()


def test_the_embedded_queue_is_its_folder(settings, tmp_path):
    cache.clear()
    settings.BROKER_DIR = tmp_path / "gone"
    assert not broker.is_reachable()
