"""Uploads that a browser sends to the storage itself: announced, bounded, finished or given up."""

from __future__ import annotations

import uuid
from collections.abc import Collection
from contextlib import suppress
from datetime import timedelta

from django.conf import settings
from django.core.files.storage import default_storage
from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext as _

from dpportal.accounts.models import User
from dpportal.datasets import quotas, records, sealing, services
from dpportal.datasets.faults import DatasetError
from dpportal.datasets.models import Dataset, DirectUpload
from dpportal.platform import storage
from dpportal.platform.json_types import Json

# An upload that takes longer is given up.
UNFINISHED_FOR = timedelta(hours=24)
CUT_SHORT = "The file did not arrive whole. Choose it and start again; nothing was kept."


def begin(draft: Dataset, file_name: str, size: int, options: Json, by: User) -> DirectUpload:
    """Take an announcement of a file of `size` bytes, as if the file were there already. Raises DatasetError.

    It becomes a new dataset, called as the draft is.
    """
    from dpportal.platform.objects import multipart

    upload = DirectUpload(owner=by, size=size, file_name=file_name, options=options)
    upload.megabytes = quotas.megabytes(size)
    upload.name, upload.description = draft.name, draft.description
    upload.stored = f"{records.folder(upload.pk)}/{uuid.uuid4()}{sealing.ORIGINAL}"
    try:
        upload.key = multipart.begin(upload.stored)
    except storage.StorageFault as fault:
        raise DatasetError(str(fault)) from None
    try:
        with transaction.atomic():
            quotas.require_room(by, upload.megabytes)
            upload.save()
    except DatasetError:
        with suppress(storage.StorageFault):  # the sweep tries again
            multipart.abort(upload.stored, upload.key)
        raise
    return upload


def address_of(upload: DirectUpload, number: int) -> str:
    """Where the browser puts one part. Raises ValueError if there is no such part."""
    from dpportal.platform.objects import multipart

    return multipart.signed(
        upload.stored, upload.key, number, multipart.FileParts(upload.size).bytes_of(number)
    )


def part_bytes(upload: DirectUpload) -> int:
    """How many bytes the browser sends in each part."""
    from dpportal.platform.objects import multipart

    return multipart.FileParts(upload.size).each


def finish(upload: DirectUpload) -> Dataset:
    """Make the file of its parts, and queue its conversion. Raises DatasetError; what came is deleted then."""
    from dpportal.platform.objects import multipart

    try:
        multipart.finish(upload.stored, upload.key, multipart.FileParts(upload.size))
        return _queued(upload)
    except storage.StorageFault as fault:
        raise DatasetError(str(fault)) from None
    except multipart.IncompleteUploadError:
        give_up(upload)
        raise DatasetError(_(CUT_SHORT)) from None
    except DatasetError:
        give_up(upload)
        raise


def _queued(upload: DirectUpload) -> Dataset:
    dataset = Dataset(pk=upload.pk, name=upload.name, description=upload.description)
    with transaction.atomic():
        # Its place is now the dataset's; a second request finds it taken.
        if not DirectUpload.objects.filter(pk=upload.pk).delete()[0]:
            raise DatasetError(_("This file has arrived already."))
        services.queue_new(
            dataset, upload.stored, upload.file_name, upload.megabytes, upload.options, upload.owner
        )
    return dataset


def give_up(upload: DirectUpload) -> None:
    """Delete what came, and free its place."""
    from dpportal.platform.objects import multipart

    if DirectUpload.objects.filter(pk=upload.pk).delete()[0]:
        with suppress(storage.StorageFault):  # the sweep tries again
            multipart.abort(upload.stored, upload.key)
            default_storage.delete(upload.stored)


def sweep(folders: Collection[str]) -> None:
    """Give up what was begun long ago, whether a row remembers it or not.

    The portal, too, sends large files in parts: a worker that is killed leaves those of a table in the bucket. folders:
    those of the portal, since a bucket may have another program's beside them.
    """
    latest = timezone.now() - UNFINISHED_FOR
    if settings.DIRECT_UPLOADS:
        for upload in DirectUpload.objects.filter(created_at__lt=latest):
            give_up(upload)
    if hasattr(default_storage, "abort_begun_before"):
        # An account that may not list them keeps nothing else from its turn.
        with suppress(storage.StorageFault):
            default_storage.abort_begun_before(latest, folders)
