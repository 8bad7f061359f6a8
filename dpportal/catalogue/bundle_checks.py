"""Downloads that visitors have checked: a worker looks at the file once, and nothing of it is kept."""

from __future__ import annotations

import json
from typing import ClassVar
from uuid import UUID

from django.core.files import File
from django.core.files.storage import default_storage
from django.db import transaction
from django.db.models import Q
from django.utils.translation import gettext as _

from dpportal.catalogue import bundle_verifier, standing
from dpportal.catalogue.bundle_verifier import CheckRefusedError
from dpportal.catalogue.models import BundleCheck
from dpportal.jobs import queues
from dpportal.jobs.claims import ACTIVE, Claim, JobState
from dpportal.jobs.clock import db_ago
from dpportal.jobs.runner import JobKind, register
from dpportal.platform import storage
from dpportal.platform.keyed import keyed

FOLDER = "checks"
MOST_BYTES = 64 * 2**20
# What was found is shown for so long. From one network, so many count at a time; of all together, so many wait.
RETENTION_SECONDS, FROM_NETWORK, MOST_WAITING = 900.0, 10, 20


class TooManyChecksError(Exception):
    """No more checks are taken now; the message is for whoever asked."""


class BundleChecks(JobKind[BundleCheck]):
    """Checks of downloads, in a queue of their own."""

    name = "BundleCheck"
    model = BundleCheck
    # Nothing waits for strangers, and how long they wait says nothing of others; one at a time of each network.
    queues: ClassVar = {queues.CHECKS: Q()}
    to_owner, singly = "network", True
    too_long = "The check took longer than a job may. Check the download on your own machine."
    refusals = (CheckRefusedError,)

    def work(self, job: BundleCheck, claim: Claim) -> None:
        claim.step("checking")
        with storage.local_path(job.file) as path:
            job.findings = bundle_verifier.findings(path)
            signed = standing.signed(path, job.findings)
        job.state, (job.publication, job.release_sha256) = JobState.DONE, signed or (None, "")
        names = ("findings", "publication", "release_sha256")
        claim.finish(JobState.DONE, seal=_seal(job), **{name: getattr(job, name) for name in names})
        default_storage.delete(job.file)

    def close(self, job: BundleCheck, claim: Claim, reason: str) -> None:
        job.state, job.failure = JobState.FAILED, reason
        claim.finish(JobState.FAILED, reason, seal=_seal(job))
        default_storage.delete(job.file)


CHECKS = register(BundleChecks())


def ask(file: File[bytes], network: str) -> BundleCheck:
    """Keep a download until a worker has checked it. network: see `addresses.client_network`.

    Raises TooManyChecksError.
    """
    forget()
    if BundleCheck.objects.filter(state__in=ACTIVE).count() >= MOST_WAITING:
        raise TooManyChecksError(_("Many downloads are being checked already. Try again in a few minutes."))
    if network and BundleCheck.objects.filter(network=network).count() >= FROM_NETWORK:
        raise TooManyChecksError(
            _("From your network many downloads were checked. Try again in a quarter of an hour.")
        )
    check = BundleCheck(network=network)
    check.file = default_storage.save(_file_name(check.pk), file)
    with transaction.atomic():
        check.save()
        CHECKS.hint_on_commit(check.pk)
    return check


def find(pk: UUID) -> BundleCheck | None:
    """A check of the last quarter of an hour; none where its row says something else than the worker found."""
    check = BundleCheck.objects.filter(pk=pk, asked_at__gte=db_ago(RETENTION_SECONDS)).first()
    is_another = check and (check.file != _file_name(pk) or not (check.active or check.seal == _seal(check)))
    return None if is_another else check


def _file_name(pk: UUID) -> str:
    return f"{FOLDER}/{pk}.zip"


def _seal(check: BundleCheck) -> str:
    """A keyed digest of what was found, or why nothing was."""
    findings = [check.findings, check.publication, check.release_sha256]
    parts = ["bundle check", check.pk, check.state, check.failure, *findings]
    return keyed(json.dumps(parts, sort_keys=True, default=str).encode()).hexdigest()


def forget() -> None:
    """Delete what was found long ago, with files that nobody looked at meanwhile."""
    for check in BundleCheck.objects.filter(asked_at__lt=db_ago(RETENTION_SECONDS)):
        default_storage.delete(check.file)
        check.delete()


def stored_names() -> set[str]:
    """Files that wait."""
    return set(BundleCheck.objects.values_list("file", flat=True))
