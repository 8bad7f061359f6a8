"""Where data, budget and noise come together: count, measure, commit, then post-process.

Nothing was revealed until the transaction that stores the measurement commits, and that same transaction spends
the reservation. A worker killed before it leaves a reservation and no release, and the job may run again; killed
after it, the job only repeats post-processing, which always gives the same bytes.
"""

from __future__ import annotations

import logging
import traceback
from contextlib import suppress
from uuid import UUID

import numpy as np
from celery.exceptions import SoftTimeLimitExceeded
from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext as _

from dpportal import storage
from dpportal.budgets import ledger
from dpportal.datasets.rawdata import records
from dpportal.releases import bundle, results
from dpportal.releases.models import Artifact, Release, ReleaseJob
from dpportal.releases.products import confirmed_plan, product_of
from dpportal.running import jobs
from dpportal.running.jobs import Claim, JobState, LostClaimError
from mechanisms.noise import Noise
from mechanisms.protocol import Measurement

log = logging.getLogger(__name__)

TOO_LONG = "The job took longer than an hour. Choose fewer cells or columns and release again."
NO_RECORDS = "The records of this dataset were deleted before the job began."


class JobFailedError(Exception):
    """The job cannot succeed however often it is tried; the message is for the curator."""


def execute(release_id: UUID) -> None:
    """Run one release's job, if no other worker has it. Errors end in the job's row, never in a message."""
    claim = jobs.claim(ReleaseJob, release_id)
    if claim is not None:
        with suppress(LostClaimError):
            _attempt(release_id, claim)


def _attempt(release_id: UUID, claim: Claim) -> None:
    try:
        with claim.kept_alive():
            if not Release.objects.filter(pk=release_id).exclude(measurement="").exists():
                measure(release_id, claim)
            finish(release_id, claim)
    except LostClaimError:
        raise
    except JobFailedError as failure:
        _fail(release_id, claim, str(failure))
    except SoftTimeLimitExceeded:
        _fail(release_id, claim, _(TOO_LONG))
    except Exception as error:
        # The exception's own text could quote data, so only its type and place are logged.
        place = traceback.extract_tb(error.__traceback__)[-1]
        log.error("release %s: %s at %s:%s", release_id, type(error).__name__, place.name, place.lineno)
        claim.give_back()


def measure(release_id: UUID, claim: Claim) -> None:
    """Count, draw the noise once, and commit measurement and charge together."""
    release = _release(release_id)
    if not release.dataset.has_records:
        raise JobFailedError(_(NO_RECORDS))
    product, plan, noise = product_of(release), confirmed_plan(release), Noise()
    claim.step("counting")
    counts = product.count(release, plan, noise.key())
    claim.step("measuring")
    measurement = product.measure(plan, counts, noise)
    commit(release, claim, counts, measurement)


def commit(release: Release, claim: Claim, counts: np.ndarray, measurement: Measurement) -> None:
    """Make the measurement a fact: its files are durable first, then one transaction points at them and spends."""
    kept = records.keep_counts(release.dataset_id, counts)
    with storage.scratch_folder() as scratch:
        path = scratch / "measurement.npy"
        np.save(path, measurement.values)
        name, digest = storage.keep_by_digest(path, f"releases/{release.pk}/measurement")
    assert release.charge is not None
    with transaction.atomic():
        claim.write(step="reconstructing")
        Release.objects.filter(pk=release.pk).update(
            state=Release.State.MEASURED,
            measurement=name,
            measurement_sha256=digest,
            true_counts=kept,
            measured_at=timezone.now(),
        )
        ledger.spend(release.charge)


def finish(release_id: UUID, claim: Claim) -> None:
    """Post-process the stored measurement, write the bundle and the curator's comparison."""
    release = _release(release_id)
    claim.step("reconstructing")
    made = results.reconstruct(release)
    claim.step("bundling")
    artifacts = bundle.write(made)
    results.keep_page(made)
    if release.dataset.has_records:
        true = records.kept_counts(release.true_counts)
        records.keep_comparison(release.dataset_id, release.pk, product_of(release).compare(made, true))
    with transaction.atomic():
        claim.finish(JobState.DONE)
        Artifact.objects.filter(release=release).delete()
        Artifact.objects.bulk_create(artifacts)
        Release.objects.filter(pk=release.pk).update(state=Release.State.READY)


def give_up(release_id: UUID, reason: str) -> None:
    """Close a job whose workers died every time."""
    claim = jobs.take_over_expired(ReleaseJob, release_id)
    if claim is not None:
        _fail(release_id, claim, reason)


def _fail(release_id: UUID, claim: Claim, reason: str) -> None:
    """Close the job with a reason; the reservation is void unless something was measured."""
    with transaction.atomic():
        claim.finish(JobState.FAILED, reason)
        unmeasured = Release.objects.filter(pk=release_id, state=Release.State.REQUESTED)
        if unmeasured.update(state=Release.State.FAILED):
            release = _release(release_id)
            assert release.charge is not None
            ledger.void(release.charge)


def _release(release_id: UUID) -> Release:
    return Release.objects.select_related("dataset", "domain_version", "charge").get(pk=release_id)
