"""A dump of the database tells no count of the data: every value of every column is searched."""

from __future__ import annotations

import hashlib
import io
import re

import pytest
from django.core.files.storage import default_storage
from django.core.files.uploadedfile import SimpleUploadedFile
from django.core.management import call_command
from django.db import connection

from dpportal.datasets import domain_fit, domain_fit_job, records, services as datasets
from dpportal.datasets.models import Dataset
from dpportal.platform import storage
from dpportal.platform.records_guard import reading
from dpportal.releases import execution
from dpportal.streams import job_execution, services as streams
from mechanisms.domain import Categorical
from tests.dpportal import building
from tests.dpportal.streams.building import open_stream

pytestmark = [pytest.mark.django_db, pytest.mark.slow]

# Rows of the table, those of each value, and blank ones; rows of the further file, and what it adds.
ROWS, RED, BLANK = 48_611, 31_337, 4_242
FURTHER, FURTHER_RED, FURTHER_BLANK = 7_919, 5_381, 3_137
TELLING = (
    ROWS,
    RED,
    ROWS - RED,
    BLANK,
    ROWS + BLANK,
    FURTHER,
    FURTHER_RED,
    FURTHER_BLANK,
    FURTHER - FURTHER_RED,
)
# Not within a moment's digits, or a random name's, whose groups of four digits stand between hyphens.
TOLD = re.compile(r"(?<![\w.])(?<![0-9a-f]-)(" + "|".join(f"{n}|{n:,}" for n in TELLING) + r")(?!\w)")


def csv(rows: int, red: int, blank: int) -> bytes:
    return ("colour,note\n" + "red,x\n" * red + "blue,x\n" * (rows - red) + "\n" * blank).encode()


@pytest.fixture
def used(client, curator, administrator) -> Dataset:
    """A table that was uploaded, looked at, released and counted in a stream; nothing is published."""
    client.force_login(curator)
    dataset = building.granted(building.uploaded(client, csv(ROWS, RED, BLANK)), administrator)
    datasets.declare(dataset, "colour", Categorical("colour", values=("red", "blue")))
    release = building.complete_draft(dataset)
    release.columns, release.people = ["colour"], None
    release.save()
    domain_fit.ask(dataset)
    domain_fit_job.FITS.run(dataset.pk)
    building.confirm(release)
    execution.RELEASES.run(release.pk)
    # Noise of 100,000 rows, so that no published number is the true one by chance.
    stream = open_stream(dataset, cells=[0], amount="0.0001")
    file = SimpleUploadedFile("more.csv", csv(FURTHER, FURTHER_RED, FURTHER_BLANK))
    job = streams.queue_records(stream, 1, file, by=curator)
    job_execution.STREAM_JOBS.run(job.pk)
    assert stream.periods.count() == 1
    return dataset


def everything() -> list[str]:
    """Every value that the database has, as text."""
    with connection.cursor() as cursor:
        values: list[str] = []
        for table in connection.introspection.table_names(cursor):
            cursor.execute(f"SELECT * FROM {connection.ops.quote_name(table)}")
            values += [_text(value) for row in cursor.fetchall() for value in row]
    return values


def _text(value: object) -> str:
    return bytes(value).decode("latin-1") if isinstance(value, bytes | memoryview) else str(value)


def test_no_true_count_is_in_it(used):
    assert used.conversion.state == "done" and used.releases.get().state == "ready"
    assert not [value for value in everything() if TOLD.search(value)]
    assert used.rows == ROWS and used.facts["blank_rows"] == BLANK


def test_no_digest_of_what_is_secret_is_in_it(used):
    """Of true counts, tables and what was measured and not published: who guesses one could test the guess."""
    release = used.releases.get()
    secret = [
        release.true_counts,
        release.measurement,
        used.table,
        *release.artifacts.values_list("stored", flat=True),
    ]
    digests = {_digest(name) for name in secret}
    counts = records.stored_counts(release.true_counts)
    digests |= {hashlib.sha256(counts.tobytes()).hexdigest(), hashlib.sha256(str(ROWS).encode()).hexdigest()}
    assert RED in counts.tolist()
    assert not any(digest in value for digest in digests for value in everything())
    names = " ".join(_names(""))
    assert not any(digest in names for digest in digests)
    assert release.measurement_sha256 == _digest(release.measurement)


def test_what_django_dumps_is_sealed_too(used):
    dumped = io.StringIO()
    call_command("dumpdata", stdout=dumped)
    assert not TOLD.search(dumped.getvalue())


def _digest(name: str) -> str:
    with reading(), storage.local_path(name) as path:
        return storage.sha256(path)


def _names(folder: str) -> list[str]:
    directories, files = default_storage.listdir(folder)
    below = [name for directory in directories for name in _names(f"{folder}/{directory}".strip("/"))]
    return below + [f"{folder}/{file}" for file in files]
