"""A server that forbids, is full, is gone, silent or slow in the midst of an upload, a count, a download, a result.

Nobody gets an error page; a job is tried again, or fails with words that name the remedy; nothing is drawn twice, and
what was reserved is paid or free again.
"""

from __future__ import annotations

import time

import pytest
from django.core.files.base import ContentFile
from django.core.files.storage import default_storage

from dpportal.datasets.import_job import CONVERSIONS
from dpportal.datasets.models import Dataset
from dpportal.jobs.claims import JobState
from dpportal.operations import sweeping
from dpportal.platform import storage
from dpportal.platform.bulkhead import SENDING, STORE
from dpportal.platform.objects import s3
from dpportal.releases import execution
from dpportal.releases.models import Release, ReleaseJob
from dpportal.streams import job_execution, services
from dpportal.streams.models import StreamJob
from tests.dpportal import building
from tests.dpportal.platform.objects.failing import (
    CUT,
    FORBIDS,
    GONE,
    HAS_A_FULL_DISK,
    IS_BUSY,
    IS_FULL,
    SILENT,
    TRICKLES,
    FailingServer,
)  # fmt: skip
from tests.dpportal.streams.building import open_stream

pytestmark = pytest.mark.django_db

CSV = b"colour,age\n" + b"".join(b"%s,%d\n" % ([b"red", b"green"][n % 2], n) for n in range(100))
# What is said of it.
ANSWERS = {
    FORBIDS: "refuses the portal",
    IS_FULL: "storage is full",
    HAS_A_FULL_DISK: "does not answer",
    IS_BUSY: "does not answer",
    GONE: "does not answer",
}
NAMES = {FORBIDS: "forbids", IS_FULL: "full", HAS_A_FULL_DISK: "full disk", IS_BUSY: "busy"}
faults = pytest.mark.parametrize("what", ANSWERS, ids=lambda what: NAMES.get(what, what))


@pytest.fixture
def tries(settings) -> int:
    """How often a job is tried; the next try may follow at once."""
    settings.JOB_ATTEMPTS, settings.JOB_LEASE_SECONDS = 2, 0
    return 2


def text_of(page) -> str:
    return " ".join(page.content.decode().replace("&#x27;", "'").split())


@pytest.mark.slow
@faults
def test_an_upload_is_refused_with_the_remedy(failing: FailingServer, client, curator, what):
    client.force_login(curator)
    failing.fails("PUT", "records", what)
    file = ContentFile(CSV, "small.csv")
    page = client.post("/datasets/new/", {**building.FORM, "file": file, "arrived": "whole"})
    assert page.status_code == 422 and ANSWERS[what] in text_of(page)
    assert not failing.files and not Dataset.objects.exists()


@pytest.mark.slow
@pytest.mark.sampled
@pytest.mark.parametrize("method", ["GET", "PUT"])
def test_a_reading_that_cannot_go_on_is_refused_with_the_remedy(failing, client, curator, tries, method):
    client.force_login(curator)
    building.sent(client, CSV)
    dataset = Dataset.objects.get()
    failing.fails(method, "records", FORBIDS)
    for _ in range(1 + tries):
        building.run_when_due(CONVERSIONS, dataset.pk)
    dataset.refresh_from_db()
    assert dataset.state == Dataset.State.REFUSED and ANSWERS[FORBIDS] in dataset.conversion.failure


@pytest.mark.slow
@pytest.mark.sampled
@pytest.mark.parametrize("what", [FORBIDS, GONE], ids=lambda what: NAMES.get(what, what))
def test_a_count_is_tried_again_and_fails_with_the_remedy_and_nothing_spent(failing, dataset, tries, what):
    release = building.requested_release(dataset)
    failing.fails("GET", "records", what)
    for _ in range(tries):
        building.run_when_due(execution.RELEASES, release.pk)
        assert ReleaseJob.objects.get().state == JobState.QUEUED and building.left(dataset) < 1
    building.run_when_due(execution.RELEASES, release.pk)
    release.refresh_from_db()
    assert (release.state, release.charge.state) == (Release.State.FAILED, "void")
    assert ANSWERS[what] in release.job.failure and building.left(dataset) == 1


@pytest.mark.slow
def test_a_count_whose_table_trickles_goes_on_with_the_next_try(failing, dataset, tries):
    release = building.requested_release(dataset)
    failing.fails("GET", "records", TRICKLES, times=1)
    for _ in range(tries):
        building.run_when_due(execution.RELEASES, release.pk)
    release.refresh_from_db()
    assert (release.state, release.job.attempts) == (Release.State.READY, 1)


@pytest.mark.slow
@pytest.mark.sampled
@pytest.mark.parametrize("place", ["counts-", "/measurement/"])
def test_a_measurement_that_cannot_be_stored_was_never_drawn(failing, dataset, tries, place):
    """The next try draws anew: of what the first one drew nothing was stored, or nothing that a row names."""
    release = building.requested_release(dataset)
    failing.fails("PUT", place, IS_FULL, times=1)
    execution.RELEASES.run(release.pk)
    release.refresh_from_db()
    assert (release.measurement, release.charge.state) == ("", "reserved")
    building.run_when_due(execution.RELEASES, release.pk)
    release.refresh_from_db()
    assert (release.state, release.charge.state) == (Release.State.READY, "spent")
    assert sum("/measurement/" in name for name in failing.files) == 1


@pytest.mark.slow
@pytest.mark.sampled
@pytest.mark.parametrize("place", ["/bundle/", "/page/", "comparison"])
def test_what_is_measured_is_finished_later_from_the_same_measurement(failing, dataset, tries, place):
    release = building.requested_release(dataset)
    failing.fails("PUT", place, IS_FULL, times=3 * tries)
    for _ in range(3 * tries):
        building.run_when_due(execution.RELEASES, release.pk)
    release.refresh_from_db()
    measured = release.measurement
    assert (release.state, release.charge.state) == (Release.State.MEASURED, "spent")
    assert (release.job.state, release.job.attempts) == (JobState.QUEUED, 0)
    building.run_when_due(execution.RELEASES, release.pk)
    release.refresh_from_db()
    assert (release.state, release.measurement) == (Release.State.READY, measured)


@pytest.mark.slow
@pytest.mark.sampled
@pytest.mark.parametrize("what", [FORBIDS, GONE, CUT, SILENT], ids=str)
def test_a_page_whose_files_cannot_be_had_says_so(failing, ready, client, what):
    client.force_login(ready.created_by)
    artifact = ready.artifacts.get(name__endswith=".zip")
    pages = {
        "/page/": f"/releases/{ready.pk}/",
        "comparison": f"/releases/{ready.pk}/compare/",
        "records": f"/datasets/{ready.dataset_id}/rows/",
    }
    if what != CUT:  # a download that is cut has begun
        pages["bundle"] = f"/releases/{ready.pk}/download/{artifact.name}"
    for key, address in pages.items():
        failing.fails("GET", key, what)
        page = client.get(address)
        assert page.status_code == 503, address
        assert ANSWERS.get(what, "does not answer") in text_of(page)


@pytest.mark.slow
@pytest.mark.sampled
@pytest.mark.parametrize("what", [CUT, TRICKLES])
def test_a_download_that_is_cut_or_trickles_ends(failing, ready, client, what, monkeypatch):
    client.force_login(ready.created_by)
    artifact = ready.artifacts.get(name__endswith=".zip")
    failing.fails("GET", "bundle", what)
    answer = client.get(f"/releases/{ready.pk}/download/{artifact.name}")
    with pytest.raises(storage.StorageFault):
        b"".join(answer.streaming_content)


# Sent in one piece, and more than the system takes before the server has read it.
LARGER_THAN_BUFFERS = 15 * 2**19


@pytest.fixture
def _hasty(failing, monkeypatch, settings) -> None:
    """A pace that 1 MB a second does not keep, however much of a file the system takes at once; answers have time."""
    pause = s3.READ_SECONDS
    monkeypatch.setattr(s3, "READ_SECONDS", 30)
    settings.STORAGES = {**settings.STORAGES}
    assert default_storage.client  # made now
    monkeypatch.setattr(s3, "READ_SECONDS", pause)
    monkeypatch.setattr(s3, "SLOWEST_BYTES_A_SECOND", 16 * 2**20)


@pytest.mark.slow
@pytest.mark.usefixtures("_hasty")
def test_a_store_that_takes_a_file_at_a_trickle_is_refused_and_told_as_one_that_does_not_answer(
    failing, client, curator
):
    client.force_login(curator)
    failing.fails("PUT", "records", TRICKLES)
    file = ContentFile(CSV + b"red,1\n" * (LARGER_THAN_BUFFERS // 6), "large.csv")
    page = client.post("/datasets/new/", {**building.FORM, "file": file, "arrived": "whole"})
    assert page.status_code == 422 and "does not answer" in text_of(page)
    assert not failing.files and not Dataset.objects.exists()


def test_no_file_however_large_may_take_longer_than_the_sweep_leaves_a_file_that_no_row_names():
    assert s3.longest_seconds(8 * 2**30) < sweeping.ORPHANS_AFTER.total_seconds()


@pytest.mark.slow
@pytest.mark.usefixtures("_hasty")
def test_a_result_that_a_store_takes_at_a_trickle_is_stored_with_the_next_try(failing):
    failing.fails("PUT", "a", TRICKLES, times=1)
    content = b"x" * LARGER_THAN_BUFFERS
    with pytest.raises(storage.StorageFault):
        default_storage.save("a", ContentFile(content))
    assert default_storage.save("a", ContentFile(content)) == "a" and failing.files["a"] == content


@pytest.mark.slow
def test_a_reader_who_pauses_is_not_taken_for_a_slow_server(failing, monkeypatch):
    default_storage.save("a", ContentFile(b"x" * 3 * s3.READ_BYTES))
    with default_storage.open("a") as file:
        first = file.read(1)
        time.sleep(2 * s3.READ_SECONDS)
        assert len(first + file.read()) == 3 * s3.READ_BYTES


@pytest.mark.slow
@pytest.mark.sampled
@pytest.mark.parametrize("what", [FORBIDS, CUT])
def test_a_file_of_periods_is_tried_again_and_fails_with_the_remedy(failing, dataset, tries, what):
    stream = open_stream(dataset)
    job = queued(stream)
    failing.fails("GET", "records", what)
    for _ in range(1 + tries):
        building.run_when_due(job_execution.STREAM_JOBS, job.pk)
    job.refresh_from_db()
    assert job.state == JobState.FAILED and ANSWERS.get(what, "does not answer") in job.failure
    assert not stream.periods.exists()


def queued(stream) -> StreamJob:
    file = ContentFile(b"period,count\n1,5\n2,3\n", "counts.csv")
    return services.queue_counts(stream, file, {}, stream.created_by, confirmed=True)


@pytest.mark.slow
@pytest.mark.parametrize("read", [True, False], ids=["published", "given up"])
@pytest.mark.django_db(transaction=True)
def test_a_file_of_true_counts_that_cannot_be_deleted_is_swept(failing, dataset, tries, read, monkeypatch):
    job = queued(open_stream(dataset))
    failing.fails("DELETE", ".update", FORBIDS)
    if read:
        job_execution.STREAM_JOBS.run(job.pk)
    else:
        failing.fails("GET", ".update", FORBIDS)
        for _ in range(1 + tries):
            building.run_when_due(job_execution.STREAM_JOBS, job.pk)
    job.refresh_from_db()
    assert job.state == (JobState.DONE if read else JobState.FAILED)
    assert any(name.endswith(".update") for name in failing.files)
    failing.faults.clear()
    monkeypatch.setattr(sweeping, "ORPHANS_AFTER", -sweeping.ORPHANS_AFTER)
    sweeping.sweep_files()
    assert not any(name.endswith(".update") for name in failing.files)


@pytest.mark.slow
def test_a_silent_server_holds_few_of_the_web_s_threads(failing, ready, client, monkeypatch, settings):
    """As many pages as may wait do; whoever comes then is told at once, and needs no answer of the server."""
    client.force_login(ready.created_by)
    failing.fails("GET HEAD", "", SILENT)
    monkeypatch.setattr(s3, "READ_SECONDS", 60)
    settings.STORAGES = {**settings.STORAGES}  # made anew, with that patience
    monkeypatch.setattr(STORE, "seconds", 0.05)
    failing.asked.clear()
    STORE.close()
    try:
        pages = [client.get(f"/datasets/{ready.dataset_id}/rows/") for _ in range(STORE.places + 1)]
    finally:
        STORE.open()
    assert {page.status_code for page in pages} == {503}
    until = time.monotonic() + 60  # the last one may still be on its way to the server
    while len(failing.asked) < STORE.places and time.monotonic() < until:
        time.sleep(0.01)
    assert len(failing.asked) == STORE.places


def test_an_upload_that_a_store_never_acknowledges_holds_no_thread_of_the_web(
    failing, client, curator, monkeypatch, settings
):
    client.force_login(curator)
    failing.fails("PUT", "records", SILENT)
    monkeypatch.setattr(s3, "READ_SECONDS", 60)
    settings.STORAGES = {**settings.STORAGES}  # made anew, with that patience
    monkeypatch.setattr(s3, "longest_seconds", lambda _size: 0.5)
    SENDING.close()
    try:
        file = ContentFile(CSV, "small.csv")
        page = client.post("/datasets/new/", {**building.FORM, "file": file, "arrived": "whole"})
    finally:
        SENDING.open()
    assert page.status_code == 422 and "does not answer" in text_of(page)
    assert not Dataset.objects.exists()
