"""Seals anew, with the key that the portal has now, whatever former keys sealed: columns, secrets of streams, memory,
the keys of datasets. Files of records that an earlier version left unsealed are sealed.

Each thing is sealed anew in a transaction of its own, while whoever writes it waits. So it can be interrupted, and
run again while the portal works.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from uuid import UUID

from django.apps import apps
from django.conf import settings
from django.db import models, transaction
from django.db.models import BinaryField, ExpressionWrapper, F

from dpportal.budgets import charge_journal as charges, charge_places
from dpportal.datasets import erasure_journal, keys, left_traces, records
from dpportal.datasets.keys import DatasetKey
from dpportal.datasets.models import Dataset
from dpportal.history import heads
from dpportal.platform import journal, storage
from dpportal.platform.sealed import SealedField
from dpportal.publications import withdrawal_journal
from dpportal.releases.models import Release
from dpportal.streams import period_imprints, period_journal as periods, vault
from dpportal.streams.models import SealedState, SealedSums, Stream

# Whose row is locked while what is remembered of it is sealed anew.
OWNERS: dict[str, tuple[type[models.Model], ...]] = {
    charges.FOLDER: (Dataset,),
    charge_places.FOLDER: (Dataset,),
    periods.FOLDER: (Stream,),
    withdrawal_journal.FOLDER: (Release, Stream),
    erasure_journal.FOLDER: (Dataset,),
}


def reseal() -> Counter[str]:
    """How many of each kind were sealed anew. Raises UnsealError, with the key that is missing."""
    done: Counter[str] = Counter()
    for field in sealed_fields():
        done[field.name_of_seal] = sum(
            _reseal_value(field, pk) for pk in field.model._base_manager.values_list("pk", flat=True)
        )
    done["secret states"] = sum(_reseal_state(pk) for pk in SealedState.objects.values_list("pk", flat=True))
    done["true sums"] = sum(_reseal_sums(pk) for pk in SealedSums.objects.values_list("pk", flat=True))
    done["keys of datasets"] = sum(_rewrap(pk) for pk in DatasetKey.objects.values_list("pk", flat=True))
    done["files of records"] = sum(_seal_files(pk) for pk in _with_plain_files())
    done["memory"] = sum(_reseal_memory(folder) for folder in OWNERS) + _reseal_single()
    left_traces.note()  # what the former keys sealed is to leave the database's own files, too
    return +done


def sealed_fields() -> Iterator[SealedField]:
    """Every sealed column of the portal."""
    for model in apps.get_models():
        yield from (field for field in model._meta.concrete_fields if isinstance(field, SealedField))


@transaction.atomic
def _reseal_value(field: SealedField, pk: object) -> bool:
    as_stored = ExpressionWrapper(F(field.name), output_field=BinaryField())
    row = field.model._base_manager.filter(pk=pk).select_for_update(of=("self",))
    [sealed] = row.annotate(as_stored=as_stored).values_list("as_stored", flat=True) or [None]
    fresh = sealed and settings.STREAM_KEYS.resealed(bytes(sealed), bound_to=field.name_of_seal)
    if not fresh:
        return False
    value = models.Value(fresh, output_field=BinaryField())
    field.model._base_manager.filter(pk=pk).update(**{field.name: value})
    return True


@transaction.atomic
def _reseal_state(pk: UUID) -> bool:
    """The stream's row is what its writers lock."""
    Stream.objects.select_for_update().get(pk=pk)
    row = SealedState.objects.filter(pk=pk).first()
    return row is not None and vault.reseal_state(row)


@transaction.atomic
def _reseal_sums(pk: int) -> bool:
    row = SealedSums.objects.select_related("period").filter(pk=pk).first()
    if row is None:
        return False
    stream = Stream.objects.select_for_update().get(pk=row.period.stream_id)
    with period_imprints.sums_changing(stream, [row.period.index]):
        return vault.reseal_sums(row)


@transaction.atomic
def _rewrap(pk: UUID) -> bool:
    return keys.rewrap(pk)


def _with_plain_files() -> list[UUID]:
    """The datasets of which a file may not be sealed, as those of earlier versions are not."""
    sealed = DatasetKey.objects.filter(is_for_all=True).values("pk")
    datasets = Dataset.objects.exclude(state=Dataset.State.ERASED).exclude(pk__in=sealed)
    return list(datasets.values_list("pk", flat=True))


def _seal_files(pk: UUID) -> int:
    """Seal what is not, each file in one step; then what is not sealed is refused, unless nothing was ever stored.

    A job that reads a file meanwhile may have to begin again.
    """
    done = 0
    for name in list(storage.names_under(records.folder(pk))):
        with suppress(FileNotFoundError):  # it went meanwhile
            done += records.seal(name)
    keys.all_is_sealed(pk)
    return done


def _reseal_memory(folder: str) -> int:
    done = 0
    for owner in journal.names(folder):
        for name in journal.names(f"{folder}/{owner}"):
            with transaction.atomic():
                for model in OWNERS[folder]:
                    model._base_manager.select_for_update().filter(pk=owner).values("pk").first()
                done += journal.reseal(f"{folder}/{owner}/{name}")
    return done


def _reseal_single() -> int:
    return sum(journal.reseal(name) for name in (journal.MARK, heads.NAME) if journal.holds(name))
