"""What load balancers and administrators are told of the portal."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.utils import timezone

from dpportal import health, storage
from dpportal.releases.models import ReleaseJob
from dpportal.releases.services import ReleaseError
from dpportal.running.heartbeat import Pulse
from dpportal.running.models import Heartbeat
from tests.dpportal import building

pytestmark = pytest.mark.django_db


@pytest.fixture
def _alive(db):
    for kind in Heartbeat.Kind:
        Pulse(kind).beat()


@pytest.mark.usefixtures("_alive")
def test_all_is_well(client):
    answer = client.get("/health/")
    assert answer.status_code == 200
    told = answer.json()
    assert (told["status"], told["troubles"], told["workers"], told["sweeps"]) == ("ok", [], 1, 1)
    assert told["free_disk_mb"] > 0


def test_without_processes_it_says_so_and_still_serves(client, requested):
    ReleaseJob.objects.update(queued_at=timezone.now() - timedelta(minutes=5))
    answer = client.get("/health/")
    told = answer.json()
    assert (answer.status_code, told["status"], told["troubles"]) == (
        200,
        "degraded",
        ["no-worker", "no-sweep"],
    )
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
        pulse = Pulse(Heartbeat.Kind.WORKER, worker[0], busy=lambda told=worker[1]: told)
        pulse.name = f"worker {number}"
        pulse.beat()
    assert list(health.measured().stuck_queues) == stuck


def test_an_administrator_sees_processes_clocks_and_failures(client, administrator, requested):
    Pulse(Heartbeat.Kind.WORKER).beat()
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
