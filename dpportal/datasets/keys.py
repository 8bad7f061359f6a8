"""Each dataset's own key, with which all files of its records are sealed; stored wrapped by the master key.

Without it the files are noise: so erasing a dataset destroys its key first.
"""

from __future__ import annotations

from datetime import datetime
from uuid import UUID

from django.conf import settings
from django.db import models, transaction
from django.utils.translation import gettext as _

from dpportal.datasets import left_traces
from dpportal.datasets.begun_uploads import BegunUpload
from dpportal.datasets.models import Dataset
from dpportal.history import watched
from dpportal.history.watched import WatchedManager
from dpportal.platform.keys import UnsealError
from dpportal.platform.sealed_files import new_key
from dpportal.platform.sealing_faults import FileChangedFault, KeyMissingFault
from dpportal.platform.storage import StorageFault


class DatasetKey(models.Model):
    """The wrapped key of a dataset, which may be about to be created: its file is stored first.

    is_for_all: whether every file of its records is sealed, so that one that is not was put there by others.
    """

    dataset_id = models.UUIDField(primary_key=True, editable=False)
    wrapped = models.BinaryField()
    is_for_all = models.BooleanField(default=False)
    created_at = models.DateTimeField(auto_now_add=True)

    objects = WatchedManager()

    def __str__(self) -> str:
        return str(self.dataset_id)

    def unwrapped(self) -> bytes:
        """The key. Raises KeyMissingFault or FileChangedFault."""
        try:
            return settings.MASTER_KEYS.unseal(bytes(self.wrapped), bound_to=_name(self.dataset_id))
        except UnsealError as fault:
            raise (KeyMissingFault(fault.key) if fault.key else FileChangedFault()) from None


def key_of(dataset_id: UUID) -> DatasetKey | None:
    """A dataset's key; None if it never had one, or if that was destroyed."""
    return DatasetKey.objects.filter(pk=dataset_id).first()


def opened(dataset_id: UUID) -> bytes | None:
    """A dataset's key; None if it has none. Raises KeyMissingFault or FileChangedFault."""
    known = key_of(dataset_id)
    return None if known is None else known.unwrapped()


def for_writing(dataset_id: UUID, *, is_new: bool = False) -> bytes:
    """The key that seals a dataset's files, made at first use. is_new: it has no file yet.

    Raises KeyMissingFault.
    """
    known = key_of(dataset_id)
    if known is None:
        try:
            wrapped = settings.MASTER_KEYS.seal(new_key(), bound_to=_name(dataset_id))
        except UnsealError as fault:
            raise KeyMissingFault(fault.key) from None
        known = _stored_key(dataset_id, {"wrapped": wrapped, "is_for_all": is_new})
    return known.unwrapped()


@transaction.atomic
def _stored_key(dataset_id: UUID, values: dict[str, object]) -> DatasetKey:
    """The first key of a dataset. Raises StorageFault for an erased one, which gets none ever again."""
    row = Dataset.objects.select_for_update(no_key=True).filter(pk=dataset_id)
    if Dataset.State.ERASED in row.values_list("state", flat=True):
        raise StorageFault(_("The records of this dataset were deleted meanwhile."))
    known, is_new = DatasetKey.objects.get_or_create(pk=dataset_id, defaults=values)
    if is_new:
        watched.note_read(Dataset, [dataset_id])
    return known


def destroy(dataset_id: UUID) -> None:
    """Delete a dataset's key: what it sealed can never be opened again. For one transaction with what else goes."""
    DatasetKey.objects.filter(pk=dataset_id).delete()
    watched.note_read(Dataset, [dataset_id])
    left_traces.note(dataset_id)


@transaction.atomic
def forget_unused(before: datetime) -> None:
    """Delete old keys of datasets that were never created, as where an upload was refused."""
    unused = DatasetKey.objects.filter(created_at__lt=before).exclude(pk__in=Dataset.objects.values("pk"))
    for key in unused.exclude(pk__in=BegunUpload.objects.values("pk")):
        destroy(key.pk)


def rewrap(dataset_id: UUID) -> bool:
    """Wrap a key with the current master key; False if it is already. Raises UnsealError."""
    key = DatasetKey.objects.select_for_update().filter(pk=dataset_id).first()
    fresh = key and settings.MASTER_KEYS.resealed(bytes(key.wrapped), bound_to=_name(dataset_id))
    return bool(fresh) and bool(DatasetKey.objects.filter(pk=dataset_id).update(wrapped=fresh))


def all_is_sealed(dataset_id: UUID) -> None:
    """From now on a file of the dataset that is not sealed is refused."""
    DatasetKey.objects.filter(pk=dataset_id).update(is_for_all=True)


def _name(dataset_id: UUID) -> str:
    return f"key of dataset {dataset_id}"
