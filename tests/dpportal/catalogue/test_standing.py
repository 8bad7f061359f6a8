"""Whoever checks a download reads what became of it since: withdrawn, replaced, or written anew."""

from __future__ import annotations

from pathlib import Path

import pytest
from django.core.files.storage import default_storage
from django.test import Client

from dpportal.catalogue.models import BundleCheck
from dpportal.datasets.models import Dataset
from dpportal.jobs.claims import db_ago
from dpportal.platform.signing import SigningKeys
from dpportal.publications.publishing import set_details
from dpportal.releases import execution, services, tasks
from dpportal.releases.models import Release
from dpportal.streams import services as stream_services
from dpportal.streams.execution import Update, publish
from dpportal.streams.models import SeriesBundle
from tests.dpportal import building
from tests.dpportal.catalogue.test_bundle_checks import sent
from tests.dpportal.releases.products.test_verified import downloaded
from tests.dpportal.streams.building import open_stream, with_files

pytestmark = [pytest.mark.slow, pytest.mark.django_db]


@pytest.fixture
def published(ready) -> Release:
    services.publish(ready, ready.created_by)
    return Release.objects.get(pk=ready.pk)


def remark(page: str) -> str:
    """What stands between the heading and the table."""
    return page.partition("<h1")[2].partition('<div class="table-frame"')[0]


def test_the_newest_files_have_no_remark(client: Client, published: Release, tmp_path: Path) -> None:
    assert "notice" not in remark(sent(client, downloaded(published, tmp_path).read_bytes()))


def test_a_withdrawn_release_is_said_to_be_one(client: Client, published: Release, tmp_path: Path) -> None:
    content = downloaded(published, tmp_path).read_bytes()
    services.withdraw(published, published.created_by, "A column was declared wrongly.")
    said = remark(sent(client, content))
    assert "It was withdrawn on" in said and f'href="{published.get_absolute_url()}"' in said
    assert "Nothing was changed" in said


def test_files_with_former_texts_and_a_newer_release_are_named(
    client: Client, published: Release, tmp_path: Path
) -> None:
    content = downloaded(published, tmp_path).read_bytes()
    Dataset.objects.update(name="Another name")
    tasks.sweep_words()
    execution.RELEASES.run(published.pk)
    said = remark(sent(client, content))
    assert "written anew since, with the same measurement" in said
    assert "notice" not in remark(sent(client, downloaded(published, tmp_path).read_bytes()))
    newer = building.requested_release(published.dataset)
    execution.RELEASES.run(newer.pk)
    newer.refresh_from_db()
    services.publish(newer, newer.created_by)
    set_details(newer, doi="", supersedes=published, by=newer.created_by)
    said = remark(sent(client, content))
    assert "A newer release replaces it." in said and f'href="{newer.get_absolute_url()}"' in said


def test_a_running_count_with_more_periods_is_said_to_have_them(client: Client, dataset, tmp_path) -> None:
    stream = open_stream(dataset)
    publish(stream.pk, [Update(1, (4,), "typed")])
    stream_services.publish(stream, stream.created_by)
    stream.refresh_from_db()
    with default_storage.open(with_files(stream).files[0].stored) as file:
        content = file.read()
    assert "notice" not in remark(sent(client, content))
    publish(stream.pk, [Update(2, (4,), "typed")])
    # Files of new periods are written once a while.
    SeriesBundle.objects.update(started_at=db_ago(3600), finished_at=db_ago(3600))
    with_files(stream)
    assert "periods were added" in remark(sent(client, content))


def test_what_was_never_public_has_no_remark(client: Client, ready: Release, tmp_path: Path) -> None:
    """Whoever has a file of a curator learns nothing that is not public."""
    content = downloaded(ready, tmp_path).read_bytes()
    Dataset.objects.update(name="Another name")
    tasks.sweep_words()
    execution.RELEASES.run(ready.pk)
    page = sent(client, content)
    assert "Nothing was changed" in page and "notice" not in remark(page)


def test_what_another_key_signed_has_no_remark(client, published, tmp_path, settings) -> None:
    content = downloaded(published, tmp_path).read_bytes()
    services.withdraw(published, published.created_by)
    settings.SIGNING_KEYS = SigningKeys("another key of at least so many characters as asked for")
    assert "notice" not in remark(sent(client, content))
    assert BundleCheck.objects.get().publication is None
