"""The conversion of an upload, run by a worker: read, check, store as Parquet, recognise what was seen before."""

from __future__ import annotations

import hashlib
import hmac
import logging
import traceback
from contextlib import suppress
from dataclasses import asdict
from typing import Any
from uuid import UUID

from celery.exceptions import SoftTimeLimitExceeded
from django.conf import settings
from django.db import transaction
from django.utils.translation import gettext as _

from dpportal import storage
from dpportal.accounts import audit
from dpportal.connections.faults import SourceFault
from dpportal.datasets import likeness
from dpportal.datasets.likeness import Kin
from dpportal.datasets.models import Conversion, Dataset
from dpportal.datasets.rawdata import TableFacts, UploadFault, records
from dpportal.datasets.rawdata.sketch import Sketch
from dpportal.running import jobs
from dpportal.running.jobs import Claim, JobState, LostClaimError

log = logging.getLogger(__name__)


def convert(dataset_id: UUID) -> bool:
    """Convert one upload, if no other worker has it; returns whether it was there to be done.

    Errors end in the job's row, never in a message.
    """
    claim = jobs.claim(Conversion, dataset_id)
    if claim is None:
        return False
    with suppress(LostClaimError):
        _attempt(Dataset.objects.get(pk=dataset_id), claim)
    return True


def _attempt(dataset: Dataset, claim: Claim) -> None:
    try:
        with claim.kept_alive():
            (_connect if dataset.is_elsewhere else _convert)(dataset, claim)
    except LostClaimError:
        raise
    except UploadFault as fault:
        log.warning("conversion %s refused: %s %s", dataset.pk, fault.code, fault.origin)
        _refuse(dataset, claim, fault.message)
    except SourceFault as fault:
        log.warning("table elsewhere %s refused: %s", dataset.pk, fault.code)
        _refuse(dataset, claim, fault.message)
    except storage.StorageFault as fault:
        if claim.is_last_attempt:
            _refuse(dataset, claim, str(fault))
        else:
            claim.give_back()
    except SoftTimeLimitExceeded:
        _refuse(
            dataset, claim, _("Reading the file took too long and was stopped. Split it into smaller files.")
        )
    except Exception as error:
        # The exception's own text could quote a cell, so only its type and place are logged.
        place = traceback.extract_tb(error.__traceback__)[-1]
        log.error("conversion %s: %s at %s:%s", dataset.pk, type(error).__name__, place.name, place.lineno)
        claim.give_back(error)


def give_up(dataset_id: UUID, reason: str) -> None:
    """Close a conversion whose workers died every time."""
    claim = jobs.take_over_expired(Conversion, dataset_id)
    if claim is not None:
        _refuse(Dataset.objects.get(pk=dataset_id), claim, reason)


def fingerprint(content_digest: str) -> str:
    """The keyed fingerprint of a table's content: without the key, nobody can test a guess of the table."""
    return hmac.new(settings.FINGERPRINT_KEY.encode(), content_digest.encode(), hashlib.sha256).hexdigest()


def _convert(dataset: Dataset, claim: Claim) -> None:
    claim.step("reading")
    stored = records.convert(dataset, claim.advance, likeness.sketch_key())
    claim.step("checking")
    _check_same_table(dataset, stored.facts)
    mark = fingerprint(stored.facts.content_digest)
    kin = likeness.kin(dataset, mark, Sketch.from_bytes(stored.facts.sketch))
    with transaction.atomic():
        claim.finish(JobState.DONE)
        likeness.keep(dataset, stored.facts.sketch)
        _record(dataset, kin)
        Dataset.objects.filter(pk=dataset.pk).update(
            **_standing(dataset, mark),
            table=stored.name,
            rows=stored.facts.rows,
            columns=[column.to_json() for column in stored.facts.columns],
            facts=_told(stored.facts),
            options=stored.facts.options.to_json(),
        )
        _keep_declarations(dataset, [column.name for column in stored.facts.columns])
        if dataset.reading_frozen:  # nothing can change how the file is read, so it is not needed again
            Dataset.objects.filter(pk=dataset.pk).update(upload="")
            storage.delete_once_committed(dataset.upload)


def _connect(dataset: Dataset, claim: Claim) -> None:
    """Read the columns of a table that lies elsewhere. Its place is its fingerprint: one budget for one table."""
    claim.step("reading")
    found = records.look_elsewhere(dataset)
    mark = fingerprint(found.identity)
    kin = likeness.kin(dataset, mark, None, found.relations)
    with transaction.atomic():
        claim.finish(JobState.DONE)
        _record(dataset, kin)
        Dataset.objects.filter(pk=dataset.pk).update(
            **_standing(dataset, mark),
            columns=[{**column.to_json(), "type": found.types[column.name]} for column in found.columns],
            facts={
                "format": "elsewhere",
                "identity": found.identity,
                "definition": found.definition,
                "left_out": [asdict(column) for column in found.left_out],
            },
            relations=list(found.relations),
        )
        _keep_declarations(dataset, [column.name for column in found.columns])


def _standing(dataset: Dataset, mark: str) -> dict[str, Any]:
    """Whether a table is stored, or its owner has it already: of others' tables curators are told nothing.

    Two conversions of the same content at once: the unique fingerprint makes the later one start again.
    """
    own = Dataset.objects.filter(owner=dataset.owner, fingerprint=mark).exclude(pk=dataset.pk)
    twin = own.order_by("created_at").first()
    state = Dataset.State.DUPLICATE if twin else Dataset.State.STORED
    return {"state": state, "duplicate_of": twin, "fingerprint": mark}


def _record(dataset: Dataset, kin: list[Kin]) -> None:
    """Write down for administrators what a table is like; a line each time, so that nobody can tell from the time."""
    action = "uploaded a known table" if kin else "uploaded a new table"
    audit.record(dataset.owner, action, dataset, "; ".join(f"{k}: dataset {k.dataset.pk}" for k in kin))


def _check_same_table(dataset: Dataset, facts: TableFacts) -> None:
    """A dataset that was released from keeps its people: a file in its place must be the same table."""
    names = [column.name for column in facts.columns]
    if dataset.reading_frozen and ([c["name"] for c in dataset.columns], dataset.rows) != (names, facts.rows):
        raise UploadFault(
            "another-table",
            "This file has not the columns and rows of the table that the budget was granted for. Upload that table "
            "again as it was; for another table, make a new dataset.",
        )


def _keep_declarations(dataset: Dataset, names: list[str]) -> None:
    """After a file was read otherwise: forget what was declared of columns that it no longer has."""
    for version in dataset.domain_versions.filter(frozen=False):
        version.attributes.exclude(column__in=names).delete()
        for row in version.attributes.all():
            version.attributes.filter(pk=row.pk).update(position=names.index(row.column))
        if version.unit_column not in names:
            version.unit_column, version.max_rows = "", 1
            version.save(update_fields=["unit_column", "max_rows"])


def _told(facts: TableFacts) -> dict[str, Any]:
    """What the dataset's pages say of the file."""
    return {
        "format": facts.format,
        "sheets": [asdict(sheet) for sheet in facts.sheets],
        **asdict(facts.oddities),
    }


def _refuse(dataset: Dataset, claim: Claim, message: str) -> None:
    with transaction.atomic():
        claim.step("")  # how far it came says how large the file is
        claim.finish(JobState.FAILED, message)
        # A table that was stored before waits for its file on.
        waits = dataset.reading_frozen
        Dataset.objects.filter(pk=dataset.pk).update(
            state=Dataset.State.OUTDATED if waits else Dataset.State.REFUSED
        )
