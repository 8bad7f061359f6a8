"""A worker whose memory folder is not the portal's, or cannot be written, takes no job and says why."""

from __future__ import annotations

import resource
import shutil
import time

import pytest
from django.core.cache import cache
from django.core.files.uploadedfile import SimpleUploadedFile

from dpportal.budgets import charge_journal, ledger
from dpportal.budgets.ledger import BudgetOnHoldError
from dpportal.jobs import claims, readiness
from dpportal.jobs.claims import JobState
from dpportal.jobs.heartbeat import HeartbeatThread, IdleTimer
from dpportal.jobs.models import Heartbeat
from dpportal.jobs.queues import WORK
from dpportal.platform import journal, storage
from dpportal.releases import execution, services
from dpportal.releases.models import ReleaseJob
from tests.dpportal import building

pytestmark = pytest.mark.django_db


def unmounted(folder):
    """The empty folder that a file system was mounted on."""
    shutil.rmtree(folder)
    folder.mkdir()


def of_another_portal(folder):
    journal.replace(journal.MARK, {"mark": "another one's"})


def not_to_be_written(folder):
    """As on a file system that is mounted for reading; whoever runs the tests may be allowed to write everywhere."""
    if (folder / journal.PARTS).exists():
        (folder / journal.PARTS).rmdir()
    (folder / journal.PARTS).touch()


FAULTS = {
    unmounted: "missing, or another one's",
    of_another_portal: "missing, or another one's",
    not_to_be_written: "cannot be reached",
}


@pytest.fixture(params=FAULTS, ids=lambda fault: fault.__name__.replace("_", " "))
def fault(request, memory_of_its_own, requested):
    """A memory that something is wrong with, after a release was requested; returns what is said of it."""
    request.param(memory_of_its_own)
    return FAULTS[request.param]


def test_no_job_is_taken_and_none_fails(fault, requested):
    assert not execution.RELEASES.run(requested.pk)
    job = ReleaseJob.objects.get()
    assert (job.state, job.attempts) == (JobState.QUEUED, 0)
    requested.charge.refresh_from_db()
    assert requested.charge.state == "reserved"


@pytest.mark.slow
def test_the_machine_is_named_to_administrators(fault, client, administrator):
    pulse = HeartbeatThread(Heartbeat.Kind.WORKER)
    pulse.beat()
    client.force_login(administrator)
    page = " ".join(client.get("/health/portal/").content.decode().split())
    assert f"its workers take none; what stops it stands beside them below: {pulse.name}" in page
    assert "takes no jobs" in page and Heartbeat.objects.get().obstacle in page.replace("&#x27;", "'")
    assert fault in Heartbeat.objects.get().obstacle
    assert "machine-hindered" in client.get("/health/").json()["troubles"]


@pytest.mark.slow
@pytest.mark.parametrize("what", ["memory", "files"])
def test_a_web_server_whose_own_machine_is_hindered_says_so(
    what, client, administrator, memory_of_its_own, settings, tmp_path
):
    """The workers' machines are well: nothing else tells of it before somebody confirms or uploads."""
    for kind in Heartbeat.Kind:
        HeartbeatThread(kind).beat()
    if what == "memory":
        not_to_be_written(memory_of_its_own)
    else:
        read_only(settings, tmp_path)
    readiness._latest.clear()
    cache.clear()
    client.force_login(administrator)
    assert client.get("/health/").json()["troubles"] == ["web-hindered"]
    assert 'dpportal_trouble{name="web-hindered"} 1.0' in client.get("/metrics").text
    page = " ".join(client.get("/health/portal/").content.decode().split())
    assert "On the machine that serves this page" in page and "Everything is as it should be" not in page
    assert readiness.obstacle() in page.replace("&#x27;", "'")


def test_nobody_is_hinted_at_jobs_that_no_living_worker_can_do(fault, requested):
    HeartbeatThread(Heartbeat.Kind.WORKER).beat()
    ReleaseJob.objects.update(hinted_at="2020-01-01T00:00Z")
    claims.sweep(ReleaseJob.objects.all(), lambda pk: pytest.fail("hinted"), execution.RELEASES.give_up)


def test_an_idle_worker_that_hears_of_no_job_is_not_taken_for_deaf(fault, requested):
    """Neither while its machine can do none, nor right after that, before the sweep has hinted again."""
    ReleaseJob.objects.update(queued_at="2020-01-01T00:00Z")
    idle = IdleTimer([WORK])
    idle.since = time.monotonic() - 1000
    assert not idle.deaf()
    readiness._latest[:] = [(time.monotonic(), "")]
    assert not idle.deaf()
    idle.since = time.monotonic() - 1000
    assert idle.deaf()


def test_a_worker_that_holds_a_message_waits_for_a_lease_at_most(fault, settings):
    settings.JOB_LEASE_SECONDS = 0.2
    begun = time.monotonic()
    readiness.wait()
    assert 0.2 <= time.monotonic() - begun < 20


@pytest.mark.slow
def test_it_goes_on_once_the_memory_is_back(memory_of_its_own, requested):
    aside = memory_of_its_own.rename(memory_of_its_own.with_name("aside"))
    assert not execution.RELEASES.run(requested.pk)
    aside.rename(memory_of_its_own)
    assert not execution.RELEASES.run(requested.pk)  # asked again a few seconds later
    readiness._latest.clear()
    assert execution.RELEASES.run(requested.pk)
    requested.refresh_from_db()
    assert requested.state == "ready"


def test_a_reservation_that_was_given_back_meanwhile_is_void_once_the_memory_is_back(
    memory_of_its_own, requested
):
    not_to_be_written(memory_of_its_own)
    services.cancel(requested)
    budget = requested.dataset.budgets.get()
    assert budget.reserved
    (memory_of_its_own / journal.PARTS).unlink()
    execution.void_left()
    budget.refresh_from_db()
    assert not budget.reserved and not budget.spent


def test_a_job_that_is_given_up_waits_where_it_cannot_be_known_whether_it_measured(
    memory_of_its_own, requested
):
    unmounted(memory_of_its_own)
    ReleaseJob.objects.update(state=JobState.RUNNING, attempts=3, lease_until="2020-01-01T00:00Z")
    execution.RELEASES.give_up(requested.pk, "Given up.")
    job = ReleaseJob.objects.get()
    assert (job.state, job.step) == (JobState.QUEUED, claims.ON_HOLD)


def test_a_memory_that_is_lost_while_a_job_measures_puts_it_off(memory_of_its_own, requested, monkeypatch):
    def lost(*arguments):
        unmounted(memory_of_its_own)
        return honest(*arguments)

    honest = execution.keep
    monkeypatch.setattr(execution, "keep", lost)
    execution.RELEASES.run(requested.pk)
    job = ReleaseJob.objects.get()
    assert (job.state, job.step, job.failure) == (JobState.QUEUED, claims.ON_HOLD, "")
    assert list(memory_of_its_own.iterdir()) == []


def test_pages_confirm_nothing_meanwhile(fault, dataset):
    if fault == FAULTS[not_to_be_written]:
        pytest.skip("a reservation is not remembered outside the database")
    with pytest.raises(BudgetOnHoldError, match="memory"):
        building.confirm(building.complete_draft(dataset))
    with pytest.raises(BudgetOnHoldError, match="memory"):
        ledger.require_complete(dataset)


def read_only(settings, tmp_path):
    """A folder in which nobody can make a file, whoever runs the tests."""
    (tmp_path / "files").touch()
    files = {**settings.STORAGES["default"], "OPTIONS": {"location": tmp_path / "files"}}
    settings.STORAGES = {**settings.STORAGES, "default": files}


def test_a_machine_whose_files_cannot_be_written_waits_and_is_named(requested, settings, tmp_path):
    read_only(settings, tmp_path)
    for _ in range(settings.JOB_ATTEMPTS):
        assert not execution.RELEASES.run(requested.pk)
    job = ReleaseJob.objects.get()
    assert (job.state, job.attempts) == (JobState.QUEUED, 0)
    HeartbeatThread(Heartbeat.Kind.WORKER).beat()
    assert f"No file can be written in {tmp_path}" in Heartbeat.objects.get().obstacle


def test_an_upload_to_a_folder_that_cannot_be_written_says_so(client, curator, settings, tmp_path):
    client.force_login(curator)
    read_only(settings, tmp_path)
    file = SimpleUploadedFile("small.csv", b"colour\nred\n")
    page = client.post("/datasets/new/", {**building.FORM, "file": file, "arrived": "whole"})
    assert page.status_code == 422 and "file storage does not answer" in page.content.decode()


def test_a_disk_that_takes_files_and_no_content_stops_the_machine(memory_of_its_own):
    """As one that is full, or of which the portal's account may use no more; here its files may have no length."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, before[1]))
    try:
        said = charge_journal.obstacle(), storage.obstacle()
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert "cannot be reached" in said[0] and "No file can be written" in said[1]
    assert not charge_journal.obstacle() and not storage.obstacle()
    assert not [*(memory_of_its_own / journal.PARTS).iterdir()]
