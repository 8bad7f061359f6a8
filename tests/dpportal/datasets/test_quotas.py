"""How much one curator can put into the portal."""

from __future__ import annotations

import pytest
from django.core.files.base import ContentFile
from django.core.files.uploadedfile import SimpleUploadedFile

from dpportal.datasets import services
from dpportal.datasets.models import Conversion, Dataset
from dpportal.datasets.services import DatasetError

MEGABYTE = 2**20


def upload(by, size: int = 10) -> Dataset:
    return services.create_dataset(Dataset(name="table"), ContentFile(b"x" * size, "table.csv"), {}, by)


def read_all() -> None:
    Dataset.objects.update(state=Dataset.State.STORED)


def test_only_so_many_uploads_wait(curator, other_curator, settings):
    settings.WAITING_UPLOADS = 3
    for _ in range(3):
        upload(curator)
    with pytest.raises(DatasetError, match="3 of your uploads wait to be read"):
        upload(curator)
    upload(other_curator)
    read_all()
    upload(curator)


def test_only_so_much_is_kept_and_erasing_makes_room(curator, other_curator, settings):
    settings.CURATOR_BYTES = 3 * MEGABYTE
    first = upload(curator, MEGABYTE + 1)
    read_all()
    assert first.megabytes == 2
    with pytest.raises(DatasetError, match="would take more than 3"):
        upload(curator, MEGABYTE + 1)
    upload(other_curator, MEGABYTE + 1)
    upload(curator, MEGABYTE)
    Dataset.objects.filter(pk=first.pk).update(state=Dataset.State.ERASED)
    upload(curator, MEGABYTE + 1)


def test_nothing_of_a_refused_upload_is_kept(curator, settings, tmp_path):
    settings.CURATOR_BYTES = 0
    with pytest.raises(DatasetError):
        upload(curator)
    assert not Dataset.objects.exists() and not Conversion.objects.exists()


def test_the_form_says_it(curator, client, settings):
    settings.WAITING_UPLOADS = 0
    client.force_login(curator)
    sent = {"file": SimpleUploadedFile("t.csv", b"a\n1\n"), "name": "t", "arrived": "whole"}
    page = client.post("/datasets/new/", sent)
    assert page.status_code == 422
    assert "of your uploads wait to be read" in page.content.decode()
