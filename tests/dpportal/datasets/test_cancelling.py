"""A file that is being read can be let go, and read again or removed."""

from __future__ import annotations

import pytest
from django.core.files.storage import default_storage
from django.test import Client
from django.urls import reverse

from dpportal.accounts.models import AuditEntry
from dpportal.datasets import records, services
from dpportal.datasets.import_job import CONVERSIONS
from dpportal.datasets.models import Conversion, Dataset
from dpportal.jobs import claims
from dpportal.platform import storage
from dpportal.tables import ReadOptions
from tests.dpportal import building

pytestmark = pytest.mark.django_db


@pytest.fixture
def desk(client, curator) -> Client:
    client.force_login(curator)
    return client


@pytest.fixture
def waiting(desk) -> Dataset:
    """An upload that no worker has taken yet."""
    return building.sent(desk, b"colour,age\nred,1\n")


def press(desk: Client, name: str, dataset: Dataset) -> Dataset:
    assert desk.post(reverse(f"datasets:{name}", args=[dataset.pk])).status_code == 302
    dataset.refresh_from_db()
    return dataset


def test_the_page_asks_before_it_cancels_and_says_what_to_do_after(desk, waiting):
    page = desk.get(reverse("datasets:home", args=[waiting.pk])).content.decode()
    assert "Stop reading this file?" in page
    press(desk, "cancel", waiting)
    assert waiting.state == "cancelled"
    page = desk.get(reverse("datasets:home", args=[waiting.pk])).content.decode()
    assert "was cancelled" in page and "Read it again" in page and "Remove from the list" in page
    assert AuditEntry.objects.filter(action="cancelled reading").count() == 1


def test_a_worker_that_was_reading_finds_its_claim_lost(desk, waiting):
    claim = claims.claim(Conversion, waiting.pk)
    assert claim is not None
    claim.advance(3, 10)
    press(desk, "cancel", waiting)
    with pytest.raises(claims.LostClaimError):
        claim.advance(4, 10)
    assert claims.claim(Conversion, waiting.pk) is None
    assert (waiting.conversion.progress, waiting.conversion.progress_total) == (0, 0)


@pytest.mark.slow
def test_what_was_cancelled_is_read_again(desk, waiting):
    old = claims.claim(Conversion, waiting.pk)
    assert old is not None
    press(desk, "cancel", waiting)
    press(desk, "read_again", waiting)
    assert waiting.state == "converting"
    with pytest.raises(claims.LostClaimError):
        old.advance(4, 10)
    CONVERSIONS.run(waiting.pk)
    waiting.refresh_from_db()
    assert (waiting.state, waiting.rows) == ("stored", 1)


def test_what_was_cancelled_is_removed_with_its_file(desk, waiting):
    press(desk, "cancel", waiting)
    desk.post(reverse("datasets:remove", args=[waiting.pk]))
    assert not Dataset.objects.exists()
    assert not default_storage.exists(waiting.upload)


@pytest.mark.slow
def test_of_an_upload_that_is_removed_no_file_is_left(desk, curator):
    """A second copy was read, and has a table of its own."""
    building.uploaded(desk, b"colour,age\nred,1\n")
    second = building.uploaded(desk, b"colour,age\nred,1\n")
    folder = records.folder(second.pk)
    assert [*storage.names_under(folder)]
    services.remove(second, curator)
    assert not [*storage.names_under(folder)]


@pytest.mark.slow
def test_with_a_budget_it_is_not_removed_but_its_records_are(desk, administrator):
    dataset = building.granted(building.uploaded(desk, b"colour,age\nred,1\n"), administrator)
    services.change_parse_options(dataset, ReadOptions(header=False), dataset.owner)
    press(desk, "cancel", dataset)
    press(desk, "remove", dataset)
    assert dataset.state == "cancelled"
    press(desk, "erase", dataset)
    assert dataset.state == "erased"


def test_what_has_ended_cannot_be_cancelled(desk, dataset):
    press(desk, "cancel", dataset)
    assert dataset.state == "stored"
    press(desk, "read_again", dataset)
    assert dataset.state == "stored"


def test_nobody_cancels_what_is_not_theirs(desk, waiting, other_curator):
    desk.force_login(other_curator)
    assert desk.post(reverse("datasets:cancel", args=[waiting.pk])).status_code == 404
