"""Files in a bucket: private, encrypted as asked, streamed, deleted for good; a server that is gone is told of."""

from __future__ import annotations

import io
import tracemalloc
import zipfile
from datetime import timedelta
from pathlib import Path

import pandas as pd
import pytest
from django.core.exceptions import ImproperlyConfigured
from django.core.files.base import ContentFile, File
from django.core.files.storage import default_storage
from django.http import QueryDict
from django.test import Client

from dpportal.datasets import direct_upload, sealing, services
from dpportal.operations import sweeping
from dpportal.platform import storage
from dpportal.platform.objects.s3 import PrivateS3Storage
from dpportal.platform.records_guard import reading
from dpportal.releases import execution, going_public
from dpportal.releases.models import Release
from dpportal.releases.products import confirmed_plan, presenter_of
from dpportal.releases.products.shared import stored_estimates
from tests.dpportal import building
from tests.dpportal.releases.products import largest

MEGABYTE = 2**20
CSV = b"colour,age\n" + b"".join(b"%s,%d\n" % ([b"red", b"green"][n % 2], n) for n in range(100))


def test_what_is_kept_is_read_again_replaced_and_deleted(store, tmp_path: Path):
    for content in (b"old", b"new"):
        (tmp_path / "page.json").write_bytes(content)
        storage.keep(tmp_path / "page.json", "releases/a/page.json")
    assert store.names() == ["releases/a/page.json"]
    with storage.local_path("releases/a/page.json") as path:
        assert path.read_bytes() == b"new"
    assert not path.exists()
    storage.delete_all("releases/a")
    storage.delete_all("releases/never-there")
    assert store.names() == []


def test_every_file_is_private_and_encrypted_as_asked(store):
    sent = []
    client = default_storage.client
    client.meta.events.register("before-send.s3.PutObject", lambda request, **_: sent.append(request.headers))
    default_storage.save("uploads/a", ContentFile(b"x"))
    [headers] = sent
    assert headers["x-amz-acl"] == b"private"
    assert headers["x-amz-server-side-encryption"] == b"AES256"
    with pytest.raises(ValueError, match="no URL"):
        default_storage.url("uploads/a")


def test_a_public_bucket_is_refused(store):
    with pytest.raises(ImproperlyConfigured, match="default_acl must be private"):
        PrivateS3Storage(**store.options, default_acl="public-read")


@pytest.mark.slow
def test_a_large_file_is_never_in_memory(store, tmp_path: Path):
    large = tmp_path / "table.parquet"
    with large.open("wb") as file:
        file.truncate(80 * MEGABYTE)
    storage.keep(large, "records/a/table.parquet")
    tracemalloc.start()
    with reading(), storage.local_path("records/a/table.parquet") as path:
        assert path.stat().st_size == 80 * MEGABYTE
    _now, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    # A few parts are under way at a time; more of them where the disk is busy.
    assert peak < 32 * MEGABYTE


def test_a_file_that_is_not_there_is_no_fault_of_the_server(store):
    with pytest.raises(FileNotFoundError):
        default_storage.open("releases/none")
    with pytest.raises(FileNotFoundError):
        default_storage.get_modified_time("records/none")
    assert not default_storage.exists("records/none")


@pytest.mark.slow
@pytest.mark.django_db
def test_only_old_files_that_no_row_names_are_swept(store, monkeypatch):
    default_storage.save("records/a/orphan.parquet", ContentFile(b"x"))
    sweeping.sweep_files()
    assert store.names() == ["records/a/orphan.parquet"]
    monkeypatch.setattr(sweeping, "ORPHANS_AFTER", timedelta(seconds=-60))
    sweeping.sweep_files()
    assert store.names() == []


@pytest.mark.slow
def test_the_whole_life_of_a_table(store, curator, administrator, client):
    """Uploaded, read, released, downloaded, its bundle made anew, and erased."""
    client.force_login(curator)
    dataset = building.uploaded(client, CSV)
    assert dataset.has_records and dataset.rows == 100
    building.granted(building.stored_dataset(curator), administrator)
    release = building.requested_release(curator.datasets.get(name="Small table"))
    execution.RELEASES.run(release.pk)
    release.refresh_from_db()
    assert release.state == Release.State.READY
    check_download(client, release)
    digests = {a.name: a.sha256 for a in building.written_again(release)}
    assert digests == {a.name: a.sha256 for a in release.artifacts.all()}
    for table in (dataset, release.dataset):
        services.erase(table, curator)
    assert not [name for name in store.names() if name.startswith(("records", "uploads"))]


def check_download(client, release: Release) -> None:
    artifact = release.artifacts.get(name__endswith=".zip")
    answer = client.get(f"/releases/{release.pk}/download/{artifact.name}")
    content = b"".join(answer.streaming_content)
    assert int(answer["Content-Length"]) == len(content) == artifact.size
    assert zipfile.ZipFile(io.BytesIO(content)).testzip() is None


@pytest.mark.slow
@pytest.mark.django_db
@pytest.mark.slow
def test_readers_pages_fetch_the_numbers_of_a_release_once(store, curator, administrator, monkeypatch):
    """However often strangers ask; of many releases, the last stay."""
    release = building.requested_release(building.granted(building.stored_dataset(curator), administrator))
    execution.RELEASES.run(release.pk)
    release.refresh_from_db()
    going_public.publish(release, curator)
    stored_estimates._copies.clear()
    fetched, own = [], storage.local_path
    monkeypatch.setattr(storage, "local_path", lambda name: fetched.append(name) or own(name))
    visitor, address = Client(), release.get_absolute_url()
    for query in ("", "?x=1", "explore/?pick-in-0=1", "explore/?pick-in-0=2"):
        assert visitor.get(f"{address}{query}").status_code == 200
    assert fetched == [release.measurement]
    monkeypatch.setattr(stored_estimates._copies, "most", 1)
    with stored_estimates.measured(release) as known, stored_estimates.measured(release) as again:
        assert again is known
    stored_estimates._copies.clear()
    for _again in range(2):
        with stored_estimates.measured(release) as values:
            assert values.tolist() == known.tolist()
    assert fetched == [release.measurement] * 3 and not stored_estimates._copies


@pytest.mark.slow
@pytest.mark.django_db
def test_sums_of_answers_fetch_the_answers_of_a_release_once(store, dataset, monkeypatch):
    """However often strangers ask; nothing lies among temporary files afterwards."""
    release = largest.answers(dataset, 10, 'identity("age")', map(str, range(10)))
    stored = release.artifacts.get(name="answers.csv").stored
    with storage.local_path(stored) as path:
        answers = pd.read_csv(path)["answer"]
    stored_estimates._copies.clear()
    fetched, own = [], storage.local_path
    monkeypatch.setattr(storage, "local_path", lambda name: fetched.append(name) or own(name))
    presenter, plan = presenter_of(release), confirmed_plan(release)
    for text, times in (("1%2B2", (1, 1)), ("2-1", (-1, 1)), ("1%2B2", (1, 1))):
        shown = presenter.explore(release, plan, QueryDict(f"sum={text}"))["combination"]
        assert shown["estimate"] == times[0] * answers[0] + times[1] * answers[1]
    assert fetched == [stored]
    stored_estimates._copies.clear()


def test_no_name_tells_anything(store, curator, client):
    client.force_login(curator)
    building.sent(client, CSV)
    [name] = store.names()
    assert "small" not in name and name.endswith(sealing.ORIGINAL)


@pytest.mark.slow
def test_a_server_that_is_gone_keeps_nothing_and_says_so(store, curator, client):
    client.force_login(curator)
    kept = building.stored_dataset(curator)
    store.stop()
    file = ContentFile(CSV, "small.csv")
    sent = client.post("/datasets/new/", {**building.FORM, "file": file, "arrived": "whole"})
    assert sent.status_code == 422 and "does not answer" in sent.content.decode()
    page = client.get(f"/datasets/{kept.pk}/rows/")
    assert page.status_code == 503 and "does not answer" in page.content.decode()
    with pytest.raises(services.DatasetError, match="as soon as it does"):
        services.erase(kept, curator)
    store.start()
    assert store.names()
    sweeping.sweep_files()
    assert store.names() == []


@pytest.mark.slow
def test_a_release_fails_with_the_reason_when_the_server_stays_away(store, dataset, settings):
    settings.JOB_ATTEMPTS, settings.JOB_LEASE_SECONDS = 2, 0
    release = building.requested_release(dataset)
    store.stop()
    for _ in range(3):
        building.run_when_due(execution.RELEASES, release.pk)
    release.refresh_from_db()
    assert (release.state, release.charge.state) == (Release.State.FAILED, "void")
    assert "does not answer" in release.job.failure
    assert building.left(release.dataset) == 1


def test_a_file_cut_short_is_a_fault(store, tmp_path):
    default_storage.save("records/a", File(io.BytesIO(b"x" * 8 * MEGABYTE), "a"))
    with reading(), default_storage.open("records/a") as file:
        file.read(1)
        store.stop()
        with pytest.raises(storage.StorageFault):
            file.read()


@pytest.mark.slow
@pytest.mark.django_db
def test_the_parts_of_a_file_that_a_killed_worker_sent_are_swept(store, monkeypatch):
    """Where browsers send nothing themselves, too: what was erased would lie there in parts for ever."""
    client = default_storage.client
    place = {"Bucket": default_storage.bucket_name, "Key": "records/a/table.parquet"}
    begun = client.create_multipart_upload(**place)["UploadId"]
    client.upload_part(**place, UploadId=begun, PartNumber=1, Body=b"red,20\n")
    sweeping.sweep_files()
    assert client.list_parts(**place, UploadId=begun)["Parts"]
    monkeypatch.setattr(direct_upload, "UNFINISHED_FOR", timedelta(seconds=-5))
    sweeping.sweep_files()
    with pytest.raises(client.exceptions.ClientError):
        client.list_parts(**place, UploadId=begun)


def test_only_what_the_portal_began_itself_is_given_up(store, monkeypatch):
    """A bucket may have another program's files beside the portal's."""
    client, bucket = default_storage.client, default_storage.bucket_name
    for name in ("records/a/table.parquet", "payroll/backup.tar", "recordsofothers/x"):
        client.create_multipart_upload(Bucket=bucket, Key=name)
    monkeypatch.setattr(direct_upload, "UNFINISHED_FOR", timedelta(seconds=-60))
    sweeping._give_up_uploads()
    left = {each["Key"] for each in client.list_multipart_uploads(Bucket=bucket)["Uploads"]}
    assert left == {"payroll/backup.tar", "recordsofothers/x"}
