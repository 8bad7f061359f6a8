"""Uploads by pieces: begun, continued where they broke off, and read as what the upload page would have stored.

A piece that did not come whole is not kept. No row is locked while a file is written.
"""

from __future__ import annotations

from datetime import timedelta
from typing import BinaryIO, Protocol

from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext as _

from dpportal.accounts.models import User
from dpportal.datasets import quotas, records, sealing, services, upload_pieces
from dpportal.datasets.begun_uploads import BegunUpload
from dpportal.datasets.faults import DatasetError
from dpportal.datasets.models import Conversion, Dataset
from dpportal.jobs.claims import ACTIVE
from dpportal.platform import storage
from dpportal.platform.json_types import Json

# An upload that takes longer is given up; of one that is finished, so long it is known how it ended.
RETENTION = timedelta(hours=24)
MOST_PIECE_BYTES, MOST_PIECES = 64 * 2**20, 10_000
READ_BYTES = 1 << 20
# Ends the name of a piece's file.
PIECE = ".piece"


class Readable(Protocol):
    """What a piece is read from."""

    def read(self, size: int = ..., /) -> bytes:
        """So many bytes, fewer at the end."""
        ...


class OffsetError(DatasetError):
    """A piece that does not begin where the upload is; the message says where that is."""

    def __init__(self, offset: int) -> None:
        text = _("This upload is at byte %(offset)s. Send what follows from there.")
        super().__init__(text % {"offset": offset})


class TooMuchError(DatasetError):
    """A piece that leads beyond the size that was announced, or that is too large."""

    def __init__(self) -> None:
        text = _("This piece is larger than %(most)s bytes, or leads beyond the announced size.")
        super().__init__(text % {"most": MOST_PIECE_BYTES})


def begin(draft: Dataset, file_name: str, size: int, sha256: str, options: Json, by: User) -> BegunUpload:
    """Take an announcement of a file of `size` bytes, as if the file were there already. Raises DatasetError.

    It becomes a new dataset, called as the draft is.
    """
    upload = BegunUpload(owner=by, file_name=file_name, size=size, sha256=sha256, options=options)
    upload.name, upload.description = draft.name, draft.description
    upload.megabytes = quotas.megabytes(size)
    _require_space(2 * size)
    with transaction.atomic():
        quotas.require_room(by, upload.megabytes)
        upload.save(force_insert=True)
    return upload


def append(upload: BegunUpload, offset: int, source: Readable) -> BegunUpload:
    """Keep the piece that begins at this byte; the last one makes the dataset. Raises DatasetError.

    A finished upload takes nothing more, and an empty piece at its end tries again what the last one could not do.
    """
    if offset != upload.offset:
        raise OffsetError(upload.offset)
    if upload.size is not None and offset == upload.size and source.read(1):
        raise TooMuchError
    if upload.finished:
        return upload
    if offset < upload.size:
        _keep(upload, offset, source)
        upload.refresh_from_db()
    if upload.offset == upload.size:
        _finish(upload)
    return upload


def _keep(upload: BegunUpload, offset: int, source: Readable) -> None:
    name = storage.random_name(records.folder(upload.pk), PIECE)
    most = min(MOST_PIECE_BYTES, upload.size - offset)
    came = 0

    def write(target: BinaryIO) -> None:
        nonlocal came
        while came <= most and (read := source.read(READ_BYTES)):
            target.write(read)
            came += len(read)

    try:
        sealing.keep(name, write, is_new=True)
    except storage.StorageFault as fault:
        raise DatasetError(str(fault)) from None
    try:
        if came > most:
            raise TooMuchError
        _record(upload, offset, came, name)
    except BaseException:
        upload_pieces.delete([name])
        raise


@transaction.atomic
def _record(upload: BegunUpload, offset: int, came: int, name: str) -> None:
    """Add a piece that is stored, unless another one was faster."""
    current = BegunUpload.objects.select_for_update(no_key=True).filter(pk=upload.pk).first()
    if current is None or current.offset != offset:
        raise OffsetError(current.offset if current else 0)
    number = current.pieces.count()
    if number >= MOST_PIECES:
        raise DatasetError(_("This upload has too many pieces. Begin it again, and send larger ones."))
    current.pieces.create(number=number, stored=name)
    BegunUpload.objects.filter(pk=upload.pk).update(offset=offset + came)


def _finish(upload: BegunUpload) -> None:
    """Queue the conversion of the file, whose worker puts the pieces together."""
    _queue(upload, storage.random_name(records.folder(upload.pk), sealing.ORIGINAL))


@transaction.atomic
def _queue(upload: BegunUpload, name: str) -> None:
    # Its place is now the dataset's; a second request finds it taken.
    if not BegunUpload.objects.filter(pk=upload.pk, finished=False).update(finished=True):
        raise DatasetError(_("This file has arrived already."))
    dataset = Dataset(pk=upload.pk, name=upload.name, description=upload.description)
    services.queue_new(dataset, name, upload.file_name, upload.megabytes, upload.options, upload.owner)
    upload.finished = True


def give_up(upload: BegunUpload) -> None:
    """Delete what came, and free its place; a dataset that it has become stays."""
    pieces = list(upload.pieces.values_list("stored", flat=True))
    if BegunUpload.objects.filter(pk=upload.pk).delete()[0]:
        upload_pieces.delete(pieces)


def _require_space(more: int) -> None:
    try:
        storage.require_space(more)
    except storage.DiskFullError as full:
        raise DatasetError(str(full)) from None


def sweep() -> None:
    """Give up what was begun long ago, and forget what ended then; not what a worker has still to put together."""
    active = Conversion.objects.filter(state__in=ACTIVE).values("dataset_id")
    for upload in BegunUpload.objects.filter(created_at__lt=timezone.now() - RETENTION).exclude(
        pk__in=active
    ):
        give_up(upload)
