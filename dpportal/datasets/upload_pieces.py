"""The pieces of an upload that has come: the worker that reads the file puts them together first."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from contextlib import suppress
from typing import BinaryIO

from django.core.files.storage import default_storage
from django.utils.translation import gettext as _

from dpportal.datasets import records, sealing
from dpportal.datasets.begun_uploads import BegunUpload, UploadPiece
from dpportal.datasets.models import Dataset
from dpportal.platform import storage
from dpportal.tables import UploadFault

READ_BYTES = 1 << 20


def join(dataset: Dataset) -> None:
    """Store what the pieces of a dataset's upload hold, one after the other, under the name that it has for its file.

    Nothing is done for a file that came in one. A worker that dies leaves the pieces, and the next one begins anew.
    Raises UploadFault where other bytes came than were announced, and StorageFault.
    """
    upload = BegunUpload.objects.filter(pk=dataset.pk).first()
    pieces = list(upload.pieces.values_list("stored", flat=True)) if upload else []
    if upload is None or not pieces:
        return

    def write(target: BinaryIO) -> None:
        digest = hashlib.sha256()
        for piece in pieces:
            with records.piece(piece) as file:
                while read := file.read(READ_BYTES):
                    digest.update(read)
                    target.write(read)
        if upload.sha256 and upload.sha256 != digest.hexdigest():
            raise UploadFault(
                "other-bytes", _("What came has another SHA-256 than was announced. Begin the upload again.")
            )

    sealing.keep(dataset.upload, write)
    UploadPiece.objects.filter(upload=upload).delete()
    delete(pieces)


def delete(names: Iterable[str]) -> None:
    """Delete files that no row names any more."""
    for name in names:
        with suppress(storage.StorageFault):  # the sweep deletes what no row names
            default_storage.delete(name)
