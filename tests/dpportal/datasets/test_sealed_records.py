"""What lies on the disk of people's records: nothing that can be read without the master key."""

from __future__ import annotations

import hashlib
import io
import json
import os
from collections.abc import Iterator
from decimal import Decimal
from pathlib import Path

import openpyxl
import pytest
from django.conf import settings
from django.core.files.storage import default_storage
from django.core.files.uploadedfile import SimpleUploadedFile
from django.db import connection
from django.test import Client

from dpportal.budgets import ledger
from dpportal.datasets import domain_fit_job, keys, records, sealing, services
from dpportal.datasets.import_job import CONVERSIONS
from dpportal.datasets.models import Conversion, Dataset, Fit
from dpportal.history.canonical import canonical
from dpportal.jobs import claims
from dpportal.jobs.announcements import AnnouncedJob, announced
from dpportal.jobs.sealed_failure import WHY_DELETED, RecordsJob
from dpportal.operations import reseal
from dpportal.platform import sealing_faults
from dpportal.platform.keyed import signing_keys
from dpportal.platform.keys import Keyring
from dpportal.platform.sealed_files import MARK
from dpportal.platform.storage import StorageFault
from dpportal.releases import execution
from dpportal.releases.models import Release, ReleaseJob
from dpportal.streams import job_execution
from dpportal.streams.models import StreamJob
from dpportal.value_choices import services as value_choices
from dpportal.value_choices.execution import CHOICES
from mechanisms.domain import Categorical, Integer
from mechanisms.verify.finding import State
from mechanisms.verify.receipt import as_file, check
from tests.dpportal import building
from tests.dpportal.streams import building as streams

WHY = "Row 48,612 has 1 field."
DELTA = Decimal("0.000001")
CANARY = "Zebedee Quixwold"
ROWS = "".join(f"{colour},{age},{CANARY}\n" for colour, age in [("red", 31), ("blue", 44)] * 60)
CSV = f"colour,age,name\n{ROWS}{CANARY},50,{CANARY}\n".encode()


@pytest.fixture
def desk(client: Client, curator) -> Client:
    client.force_login(curator)
    return client


def sheet() -> bytes:
    book, packed = openpyxl.Workbook(), io.BytesIO()
    for line in CSV.decode().splitlines():
        book.active.append(line.split(","))
    book.save(packed)
    return packed.getvalue()


def declared(dataset: Dataset, administrator) -> Dataset:
    colour = Categorical("colour", values=("red", "blue"))
    services.declare_all(dataset, [colour, Integer("age", lower=0, upper=99, width=10)])
    return building.granted(dataset, administrator)


def bytes_on_disk() -> Iterator[tuple[Path, bytes]]:
    for folder in (settings.DATA_DIR, settings.MEMORY_DIR):
        for place, _folders, names in os.walk(folder):
            for name in names:
                yield Path(place) / name, (Path(place) / name).read_bytes()


def values_in_database() -> Iterator[bytes]:
    with connection.cursor() as cursor:
        for table in connection.introspection.table_names(cursor):
            cursor.execute(f'SELECT * FROM "{table}"')
            for row in cursor.fetchall():
                yield from (bytes(v) if isinstance(v, (bytes, memoryview)) else str(v).encode() for v in row)


def assert_no_canary() -> None:
    marks = [CANARY.encode(encoding) for encoding in ("utf-8", "utf-16-le")]
    assert [path for path, content in bytes_on_disk() if any(mark in content for mark in marks)] == []
    assert not any(mark in value for value in values_in_database() for mark in marks)


@pytest.mark.slow
def test_no_canary_is_on_the_disk_or_in_the_database_from_upload_to_download(desk, administrator) -> None:
    dataset = building.sent(desk, CSV)
    assert_no_canary()
    CONVERSIONS.run(dataset.pk)
    Dataset.objects.filter(pk=dataset.pk).update(unit_declared=True)
    dataset.refresh_from_db()
    assert_no_canary()
    declared(dataset, administrator)
    desk.post(f"/datasets/{dataset.pk}/fit/")
    domain_fit_job.FITS.run(dataset.pk)
    assert_no_canary()
    release = building.requested_release(dataset)
    execution.RELEASES.run(release.pk)
    release = Release.objects.get(pk=release.pk)
    assert release.is_ready
    assert desk.get(f"/releases/{release.pk}/compare/").status_code == 200
    assert desk.get(f"/releases/{release.pk}/download/{release.artifacts.first().name}").status_code == 200
    assert_no_canary()
    names = default_storage.listdir(records.folder(dataset.pk))[1]
    assert {Path(name).suffix for name in names} >= {".parquet", ".npy", ".json"}
    assert all(
        path.read_bytes().startswith(MARK)
        for path in Path(default_storage.path(records.folder(dataset.pk))).iterdir()
    )


@pytest.mark.slow
def test_no_canary_of_a_workbook_is_on_the_disk(desk) -> None:
    file = SimpleUploadedFile("small.xlsx", sheet())
    desk.post("/datasets/new/", {**building.FORM, "file": file, "arrived": "whole"})
    dataset = Dataset.objects.get()
    assert Path(default_storage.path(dataset.upload)).read_bytes().startswith(MARK)
    CONVERSIONS.run(dataset.pk)
    dataset.refresh_from_db()
    assert dataset.has_records
    assert records.first_rows(dataset, 1) == [["red", "31", CANARY]]
    assert_no_canary()


@pytest.mark.slow
def test_no_canary_of_a_file_of_a_period_is_on_the_disk(desk, administrator) -> None:
    dataset = declared(building.uploaded(desk, CSV), administrator)
    stream = streams.open_stream(dataset)
    file = SimpleUploadedFile("march.csv", CSV)
    desk.post(f"/streams/{stream.pk}/add/records/", {"index": "1", "file": file})
    assert StreamJob.objects.exclude(file="").exists()
    assert_no_canary()
    job_execution.STREAM_JOBS.run(StreamJob.objects.exclude(file="").get().pk)
    assert_no_canary()


def stored(dataset: Dataset) -> Path:
    return Path(default_storage.path(dataset.table))


@pytest.mark.slow
def test_an_altered_byte_spends_nothing_and_says_what_to_do(desk, administrator) -> None:
    dataset = declared(building.uploaded(desk, CSV), administrator)
    whole = bytearray(stored(dataset).read_bytes())
    whole[len(whole) // 2] ^= 1
    stored(dataset).write_bytes(whole)
    with pytest.raises(sealing_faults.FileChangedFault, match="from a backup"):
        records.first_rows(dataset, 1)
    release = building.requested_release(dataset)
    for _attempt in range(4):
        building.run_when_due(execution.RELEASES, release.pk)
    release.refresh_from_db()
    assert "was changed since the portal wrote it" in release.job.failure
    assert building.left(dataset) == 1


@pytest.mark.slow
def test_a_plain_file_in_place_of_a_sealed_one_is_refused(desk) -> None:
    dataset = building.uploaded(desk, CSV)
    stored(dataset).write_bytes(b"PAR1 anything PAR1")
    with pytest.raises(sealing_faults.FileChangedFault):
        records.first_rows(dataset, 1)


@pytest.mark.slow
def test_a_file_of_an_earlier_version_still_opens(dataset) -> None:
    assert records.first_rows(dataset, 1) == [["red", "0"]]
    sealing.keep_json(f"{records.folder(dataset.pk)}/fit-0.json", {})
    assert records.first_rows(dataset, 1) == [["red", "0"]]


@pytest.mark.slow
def test_without_the_master_key_nothing_is_lost_and_the_page_says_what_to_do(desk) -> None:
    dataset = building.uploaded(desk, CSV)
    kept = settings.MASTER_KEYS
    settings.MASTER_KEYS = Keyring(missing=kept.current)
    try:
        page = desk.get(f"/datasets/{dataset.pk}/rows/")
        assert page.status_code == 503 and kept.current in page.content.decode()
        assert kept.current in sealing_faults.obstacle()
        with pytest.raises(sealing_faults.KeyMissingFault):
            records.first_rows(dataset, 1)
    finally:
        settings.MASTER_KEYS = kept
    assert records.first_rows(dataset, 1)


@pytest.mark.slow
def test_a_new_master_key_wraps_the_same_keys(desk) -> None:
    dataset = building.uploaded(desk, CSV)
    kept = settings.MASTER_KEYS
    old, new = "old" * 20 + "12345", "new" * 20 + "12345"
    key = kept.unseal(bytes(keys.key_of(dataset.pk).wrapped), bound_to=f"key of dataset {dataset.pk}")
    wrapped = Keyring(old).seal(key, bound_to=f"key of dataset {dataset.pk}")
    keys.DatasetKey.objects.update(wrapped=wrapped)
    try:
        settings.MASTER_KEYS = Keyring(new, old)
        assert records.first_rows(dataset, 1)
        assert keys.rewrap(dataset.pk) and not keys.rewrap(dataset.pk)
        settings.MASTER_KEYS = Keyring(new)
        assert records.first_rows(dataset, 1)
    finally:
        settings.MASTER_KEYS = kept


@pytest.mark.slow
def test_erasing_destroys_the_key_and_gives_a_receipt_that_verifies(desk, administrator) -> None:
    dataset = building.uploaded(desk, CSV)
    copy, wrapped = stored(dataset).read_bytes(), bytes(keys.key_of(dataset.pk).wrapped)
    desk.post(f"/datasets/{dataset.pk}/erase/")
    assert keys.key_of(dataset.pk) is None
    receipt = desk.get(f"/datasets/{dataset.pk}/erasure.json")
    facts = json.loads(receipt.content)["receipt"]
    assert facts["by"] == "curator" and facts["dataset"] == str(dataset.pk)
    named = " ".join(facts["stays"])
    assert all(word in named for word in ("fingerprint", "encrypted sample", "published", "backups"))
    assert facts["key"] == {"destroyed": True, "sha256_when_wrapped": hashlib.sha256(wrapped).hexdigest()}
    [table] = [each for each in facts["files"] if each["name"] == dataset.table]
    # A row more makes a file longer, so a receipt that is handed on says no length.
    assert table == {"name": dataset.table, "sha256_of_first_48_bytes": hashlib.sha256(copy[:48]).hexdigest()}
    assert check(receipt.content, settings.SIGNING_KEYS.public[0]).state is State.HOLDS
    assert check(receipt.content.replace(b"curator", b"somebody"), None).state is State.FAILED
    assert check(receipt.content, "00" * 32).state is State.FAILED
    for begun in (b'{"receipt": {"by": "nobody"},', b'{"backups": "erased, too",'):
        assert check(receipt.content.replace(b"{", begun, 1)).state is State.FAILED
    # Receipts of earlier versions say nothing of what stays.
    earlier = {name: fact for name, fact in facts.items() if name != "stays"}
    document = as_file(earlier, signing_keys().sign(canonical(earlier)))
    assert check(document, settings.SIGNING_KEYS.public[0]).state is State.HOLDS
    assert "Download the signed receipt" in desk.get(f"/datasets/{dataset.pk}/").content.decode()


@pytest.mark.slow
def test_reseal_seals_what_an_earlier_version_left_plain(dataset) -> None:
    rows = records.first_rows(dataset, 3)
    done = reseal.reseal()
    assert done["files of records"] == 1
    assert stored(dataset).read_bytes().startswith(MARK)
    assert records.first_rows(dataset, 3) == rows
    assert reseal.reseal()["files of records"] == 0
    stored(dataset).write_bytes(b"PAR1 anything PAR1")
    with pytest.raises(sealing_faults.FileChangedFault):
        records.first_rows(dataset, 1)


@pytest.mark.slow
def test_an_upload_that_came_past_the_portal_is_sealed_by_the_job_that_reads_it(desk) -> None:
    dataset = building.sent(desk, CSV)
    came = Path(default_storage.path(dataset.upload))
    came.write_bytes(CSV)
    CONVERSIONS.run(dataset.pk)
    dataset.refresh_from_db()
    assert dataset.has_records and not came.exists()
    assert Path(default_storage.path(dataset.upload)).read_bytes().startswith(MARK)
    assert_no_canary()


@pytest.mark.slow
@pytest.mark.parametrize("what", ["changed", "without a key"])
def test_true_counts_that_cannot_be_opened_keep_no_release_from_its_end(requested, what) -> None:
    """They were measured and paid for; only the comparison is missing."""
    execution.measure(requested.pk, claims.claim(ReleaseJob, requested.pk))
    requested.refresh_from_db()
    if what == "changed":
        path = Path(default_storage.path(requested.true_counts))
        path.write_bytes(path.read_bytes()[:-1] + b"?")
    else:
        keys.destroy(requested.dataset_id)
    ReleaseJob.objects.update(state="queued", lease_until=None)
    building.run_when_due(execution.RELEASES, requested.pk)
    requested.refresh_from_db()
    assert (requested.state, requested.job.state) == (Release.State.READY, "done")
    assert records.comparison(requested.dataset_id, requested.pk) is None


@pytest.mark.slow
def test_an_erased_dataset_gets_no_key_again(desk, administrator) -> None:
    dataset = declared(building.uploaded(desk, CSV), administrator)
    services.erase(dataset, dataset.owner)
    with pytest.raises(StorageFault, match="deleted meanwhile"):
        keys.for_writing(dataset.pk)
    assert keys.key_of(dataset.pk) is None


@pytest.mark.slow
def test_why_a_file_was_refused_is_sealed(client, curator):
    """Its last line is at fault, so the number in it is how many rows there are."""
    client.force_login(curator)
    content = b"colour,age\n" + b"red,30\n" * 3002 + b"Source: the register\n"
    conversion = building.uploaded(client, content).conversion
    assert "Row 3,004" in conversion.failure
    with connection.cursor() as cursor:
        cursor.execute("SELECT * FROM datasets_conversion")
        assert not [value for value in cursor.fetchone() if "3,004" in str(value)]
    again = type(conversion).objects.get(pk=conversion.pk)
    assert again.failure == conversion.failure


@pytest.mark.slow
def test_why_jobs_failed_is_sealed_and_goes_with_the_records(curator, administrator):
    dataset = building.stored_dataset(curator)
    terms = ledger.GrantTerms(delta=DELTA)
    ledger.grant(dataset, Decimal(9), definition="pure", reason="x", by=administrator, terms=terms)
    jobs = list(failed_jobs(dataset, WHY))
    assert [job.failure for job in jobs] == [WHY] * len(jobs)
    assert {type(job) for job in jobs} == {*announced(), *RecordsJob.__subclasses__()} - {AnnouncedJob}
    assert not any(WHY.encode() in value for value in values_in_database())
    services.erase(dataset, curator)
    left = [kept.failure for job in jobs for kept in type(job).objects.filter(pk=job.pk)]
    assert left == [WHY_DELETED] * len(announced()) + [""]  # that of the upload; how rows fitted is forgotten


def failed_jobs(dataset: Dataset, why: str) -> Iterator[RecordsJob]:
    """One of every kind that reads records, closed with that reason."""
    plan = value_choices.plan_of(dataset, Decimal("0.1"), DELTA)
    reviewed = value_choices.reviewed_as(dataset, "colour", plan)
    choice = value_choices.request(dataset, "colour", plan, reviewed=reviewed, by=dataset.owner)
    stream = streams.requested_stream(dataset, amount="0.1")
    begun = {
        execution.RELEASES: building.requested_release(dataset).pk,
        CHOICES: choice.pk,
        job_execution.STREAM_JOBS: stream.jobs.get().pk,
    }
    for kind, pk in begun.items():
        claim = claims.claim(kind.model, pk)
        kind.close(kind.row(pk), claim, why)
        yield kind.row(pk)
    for model in (Fit, Conversion):
        yield model.objects.update_or_create(dataset=dataset, defaults={"state": "failed", "failure": why})[0]
