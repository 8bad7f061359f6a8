"""The look at the fit, run by a worker: its answer goes to a file beside the records, and nowhere else."""

from __future__ import annotations

import logging
import traceback
from contextlib import suppress
from uuid import UUID

from celery.exceptions import SoftTimeLimitExceeded
from django.utils.translation import gettext as _

from dpportal.connections.faults import SourceFault
from dpportal.datasets.models import Dataset, DomainVersion, Fit
from dpportal.datasets.rawdata import records
from dpportal.running import jobs
from dpportal.running.jobs import Claim, JobState, LostClaimError
from dpportal.running.questions import Kind, key_of
from mechanisms.domain import Domain

log = logging.getLogger(__name__)

FIT = Kind("fit", 2)


def asked_of(dataset: Dataset, version: DomainVersion, domain: Domain) -> str:
    """The digest of all that a fit depends on: table, reading options, declarations, whose rows belong together."""
    return key_of(
        FIT.asks(
            table=dataset.table,
            options=records.options_of(dataset).settled().to_json(),
            domain=domain.to_json(),
            persons=[version.unit_column, version.max_rows, version.ignore_case],
        )
    )


def look(dataset_id: UUID) -> None:
    """Work out one dataset's fit, if no other worker does. Errors end in the job's row, never in a message."""
    claim = jobs.claim(Fit, dataset_id)
    if claim is not None:
        with suppress(LostClaimError):
            _attempt(Dataset.objects.get(pk=dataset_id), claim)


def give_up(dataset_id: UUID, reason: str) -> None:
    """Close a look whose workers died every time."""
    claim = jobs.take_over_expired(Fit, dataset_id)
    if claim is not None:
        claim.finish(JobState.FAILED, reason)


def _attempt(dataset: Dataset, claim: Claim) -> None:
    try:
        with claim.kept_alive():
            _look(dataset, claim)
    except LostClaimError:
        raise
    except SourceFault as fault:
        claim.finish(JobState.FAILED, fault.message)
    except SoftTimeLimitExceeded:
        claim.finish(
            JobState.FAILED,
            _("The look took too long and was stopped. Declare fewer columns and look again."),
        )
    except Exception as error:
        # The exception's own text could quote a cell, so only its type and place are logged.
        place = traceback.extract_tb(error.__traceback__)[-1]
        log.error("fit %s: %s at %s:%s", dataset.pk, type(error).__name__, place.name, place.lineno)
        claim.give_back(error)


def _look(dataset: Dataset, claim: Claim) -> None:
    version = dataset.current_domain()
    if version is None or not dataset.has_records:
        if dataset.state == Dataset.State.ERASED:
            records.erase(dataset)  # an attempt that died may have written after the records were erased
        claim.finish(JobState.CANCELLED)
        return
    claim.step("looking")
    domain = version.domain()
    asked = asked_of(dataset, version, domain)
    found = records.fit(dataset, version, domain, claim.advance)
    records.keep_fit(dataset.pk, asked, found)
    # Who erases first says so and then deletes: a file that came after that is deleted here.
    if not Dataset.objects.filter(pk=dataset.pk, state=Dataset.State.STORED).exists():
        records.forget_fit(dataset.pk, asked)
    claim.write(asked=asked)
    claim.finish(JobState.DONE)
