"""The conversion of an upload, run by a worker: read, check, store as Parquet, recognise what was seen before."""

from __future__ import annotations

import hashlib
import hmac
import logging
import traceback
from contextlib import suppress
from uuid import UUID

from celery.exceptions import SoftTimeLimitExceeded
from django.conf import settings
from django.core.files.storage import default_storage
from django.db import transaction
from django.utils.translation import gettext as _

from dpportal import jobs
from dpportal.datasets.models import Conversion, Dataset
from dpportal.datasets.rawdata import UploadFault, records
from dpportal.jobs import Claim, JobState, LostClaimError

log = logging.getLogger(__name__)


def convert(dataset_id: UUID) -> None:
    """Convert one upload, if no other worker has it. Errors end in the job's row, never in a message."""
    claim = jobs.claim(Conversion, dataset_id)
    if claim is not None:
        with suppress(LostClaimError):
            _attempt(Dataset.objects.get(pk=dataset_id), claim)


def _attempt(dataset: Dataset, claim: Claim) -> None:
    try:
        with claim.kept_alive():
            _convert(dataset, claim)
    except LostClaimError:
        raise
    except UploadFault as fault:
        log.warning("conversion %s refused: %s %s", dataset.pk, fault.code, fault.origin)
        _refuse(dataset, claim, fault.message)
    except SoftTimeLimitExceeded:
        _refuse(
            dataset, claim, _("Reading the file took too long and was stopped. Split it into smaller files.")
        )
    except Exception as error:
        # The exception's own text could quote a cell, so only its type and place are logged.
        place = traceback.extract_tb(error.__traceback__)[-1]
        log.error("conversion %s: %s at %s:%s", dataset.pk, type(error).__name__, place.name, place.lineno)
        claim.give_back()


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
    stored = records.convert(dataset, claim.advance)
    claim.step("checking")
    with transaction.atomic():
        claim.finish(JobState.DONE)
        # Two conversions of the same content at once: the unique fingerprint makes the later one start again.
        mark = fingerprint(stored.facts.content_digest)
        twin = Dataset.objects.filter(fingerprint=mark).exclude(pk=dataset.pk).order_by("created_at").first()
        Dataset.objects.filter(pk=dataset.pk).update(
            state=Dataset.State.DUPLICATE if twin else Dataset.State.STORED,
            duplicate_of=twin,
            table=stored.name,
            rows=stored.facts.rows,
            columns=[column.to_json() for column in stored.facts.columns],
            facts={
                "format": stored.facts.format,
                "delimiter": stored.facts.delimiter,
                "encoding": stored.facts.encoding,
            },
            fingerprint=mark,
            upload="",
        )
    default_storage.delete(dataset.upload)


def _refuse(dataset: Dataset, claim: Claim, message: str) -> None:
    with transaction.atomic():
        claim.finish(JobState.FAILED, message)
        Dataset.objects.filter(pk=dataset.pk).update(state=Dataset.State.REFUSED, upload="")
    default_storage.delete(dataset.upload)
