"""An upload in pieces to a bucket: it goes on after the server was gone, and is the same bytes."""

from __future__ import annotations

import hashlib

import pytest

from dpportal.datasets import record_files
from dpportal.datasets.begun_uploads import UploadPiece
from dpportal.datasets.import_job import CONVERSIONS
from dpportal.datasets.models import Conversion, Dataset
from dpportal.jobs import claims
from tests.dpportal.api.calling import Program
from tests.dpportal.api.test_uploads import Sender

CONTENT = b"age,sex\n" + b"".join(b"%d,%s\n" % (i % 90, [b"m", b"f"][i % 2]) for i in range(3000))
THIRD = len(CONTENT) // 3


@pytest.fixture
def sender(curator) -> Sender:
    return Sender(Program(curator))


def sent(sender: Sender, place: str, begin: int, end: int) -> int:
    return int(sender.piece(place, begin, CONTENT[begin:end]).status_code)


@pytest.mark.slow
def test_an_upload_in_pieces_goes_on_after_the_bucket_was_gone_and_is_the_same_bytes(store, sender):
    begun = sender.begun(len(CONTENT), sha256=hashlib.sha256(CONTENT).hexdigest())
    place = begun["Location"]
    assert sent(sender, place, 0, THIRD) == 204
    [first] = UploadPiece.objects.values_list("stored", flat=True)
    assert store.names() == [first] and CONTENT[:20] not in (store.objects / first).read_bytes()
    store.stop()
    assert sent(sender, place, THIRD, 2 * THIRD) == 409
    assert sender.offset(place) == THIRD
    store.start()
    assert sent(sender, place, THIRD, 2 * THIRD) == 204
    assert sent(sender, place, 2 * THIRD, len(CONTENT)) == 204
    dataset = Dataset.objects.get()
    assert len(store.names()) == 3  # the request did not put them together
    assert CONVERSIONS.run(dataset.pk)
    dataset.refresh_from_db()
    assert dataset.state == Dataset.State.STORED
    assert sorted(store.names()) == sorted([dataset.upload, dataset.table])
    with record_files.opened(dataset.upload) as path, path.open("rb") as file:
        assert file.read() == CONTENT


@pytest.mark.slow
def test_a_bucket_that_is_gone_while_pieces_are_put_together_loses_none(store, sender):
    place = sender.begun(len(CONTENT))["Location"]
    assert sent(sender, place, 0, THIRD) == 204
    assert sent(sender, place, THIRD, len(CONTENT)) == 204
    dataset = Dataset.objects.get()
    store.stop()
    CONVERSIONS.run(dataset.pk)
    assert UploadPiece.objects.count() == 2
    store.start()
    Conversion.objects.update(lease_until=claims.db_ago(1), hinted_at=claims.db_ago(3600))
    claims.sweep(Conversion.objects.all(), lambda _pk: None, CONVERSIONS.give_up)
    assert CONVERSIONS.run(dataset.pk)
    assert Dataset.objects.get().state == Dataset.State.STORED and not UploadPiece.objects.exists()
