"""After an erasure nothing that was read from the records is left in the database or on a page."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator

import pytest
from django.apps import apps
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client

from dpportal.datasets import derived, domain_fit, domain_fit_job, services
from dpportal.datasets.begun_uploads import BegunUpload
from dpportal.datasets.models import Dataset, Fit
from dpportal.datasets.near_duplicates import TableSketch
from dpportal.releases import execution
from dpportal.streams import job_execution, services as streams
from mechanisms.domain import Categorical
from tests.dpportal import building
from tests.dpportal.streams.building import open_stream

pytestmark = [pytest.mark.django_db, pytest.mark.slow]

# Rows of the table, those of each value, blank ones; rows of a period's file.
ROWS, RED, BLANK, FURTHER, FURTHER_RED = 48_611, 31_337, 4_242, 7_919, 5_381
NUMBERS = (ROWS, RED, ROWS - RED, BLANK, ROWS + BLANK, FURTHER, FURTHER_RED, FURTHER - FURTHER_RED)
TOLD = re.compile(r"(?<![\w.])(" + "|".join(f"{n}|{n:,}" for n in NUMBERS) + r")(?!\w)")
CANARY = "Zebedee Quixwold"
PAGES = (
    "",
    "reading/",
    "domain/",
    "unit/",
    "retention/",
    "fit/",
    "rows/",
    "description/",
    "ledger.csv",
    "record/",
)


def csv(rows: int, red: int, blank: int = 0) -> bytes:
    lines = ["colour,email", *[f"red,{CANARY}"] * red, *["blue,x"] * (rows - red), *[""] * blank]
    return ("\n".join(lines) + "\n").encode()


@pytest.fixture
def desk(client: Client, curator) -> Client:
    client.force_login(curator)
    return client


@pytest.fixture
def used(desk, administrator) -> Dataset:
    """Uploaded, looked at, released and counted in a stream; nothing is published."""
    dataset = building.granted(building.uploaded(desk, csv(ROWS, RED, BLANK)), administrator)
    services.declare(dataset, "colour", Categorical("colour", values=("red", "blue")))
    domain_fit.ask(dataset)
    domain_fit_job.FITS.run(dataset.pk)
    # Noise of 10,000 rows and more, so that no released number is the true one by chance.
    release = building.complete_draft(dataset, "0.0001")
    release.columns, release.people = ["colour"], None
    release.save()
    building.confirm(release)
    execution.RELEASES.run(release.pk)
    stream = open_stream(dataset, cells=[0], amount="0.0001")
    file = SimpleUploadedFile("more.csv", csv(FURTHER, FURTHER_RED))
    job_execution.STREAM_JOBS.run(streams.queue_records(stream, 1, file, by=dataset.owner).pk)
    assert stream.periods.count() == 1
    # Nothing is released with it: a new version, since the first one is kept.
    email = Categorical("email", values=(CANARY, "x"))
    services.declare_all(dataset, [email], filled=["email"])
    BegunUpload.objects.create(
        pk=dataset.pk, owner=dataset.owner, file_name="small.csv", size=ROWS, megabytes=1, finished=True
    )
    dataset.refresh_from_db()
    return dataset


def values() -> Iterator[tuple[str, str]]:
    """Every value of every row with its place, sealed ones opened."""
    for model in apps.get_models():
        for row in model._base_manager.all():
            for field in model._meta.concrete_fields:
                value = getattr(row, field.attname)
                yield f"{model.__name__}.{field.name}", json.dumps(value, default=str, ensure_ascii=False)


def telling() -> list[str]:
    return sorted({place for place, text in values() if TOLD.search(text) or CANARY in text})


def test_the_search_finds_what_there_is_before_and_nothing_after(used) -> None:
    assert {"Dataset.rows", "Dataset.facts", "BegunUpload.size", "AttributeDeclaration.declaration"} <= set(
        telling()
    )
    services.erase(used, used.owner)
    assert telling() == []
    used.refresh_from_db()
    assert used.facts == {"format": "csv"} and used.rows is None and used.megabytes == 0
    # Nothing declares the second one any more, and its name was read from the file.
    assert used.columns == [{"name": "colour"}, {"name": "column_2"}]
    assert used.column_looks == []
    assert not Fit.objects.exists()
    assert [a.column for a in used.current_domain().attributes.all()] == ["colour"]
    # By these the same people get no second budget.
    assert used.fingerprint and TableSketch.objects.filter(dataset=used).exists()


def test_no_page_tells_anything_of_erased_records(used, desk, administrator) -> None:
    services.erase(used, used.owner)
    release, stream = used.releases.get(), used.streams.get()
    addresses = [f"/datasets/{used.pk}/{page}" for page in PAGES]
    addresses += ["/datasets/", f"/releases/{release.pk}/", f"/releases/{release.pk}/compare/"]
    addresses += [f"/streams/{stream.pk}/"]
    seen = {address: desk.get(address, follow=True) for address in addresses}
    assert {answer.status_code for answer in seen.values()} <= {200, 404}
    assert [
        (address, TOLD.findall(_text(answer)))
        for address, answer in seen.items()
        if TOLD.search(_text(answer))
    ] == []
    assert [address for address, answer in seen.items() if CANARY in _text(answer)] == []
    home = _text(seen[f"/datasets/{used.pk}/"])
    assert "Rows" not in home and "None" not in home


def _text(answer) -> str:
    return (b"".join(answer.streaming_content) if answer.streaming else answer.content).decode()


def test_what_an_earlier_version_kept_goes_with_the_next_sweep(used) -> None:
    Dataset.objects.filter(pk=used.pk).update(state=Dataset.State.ERASED)
    derived.sweep()
    used.refresh_from_db()
    assert used.rows is None and set(used.facts) == {"format"}


def test_a_dataset_that_is_still_used_keeps_all(used) -> None:
    derived.sweep()
    used.refresh_from_db()
    assert used.rows == ROWS and used.facts["blank_rows"] == BLANK
