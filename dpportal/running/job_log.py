"""What the log says of jobs, so that an operator can follow one: its id, attempt, seconds and end; never data."""

from __future__ import annotations

import logging
from functools import partial
from typing import TYPE_CHECKING, Any

from django.db import transaction

if TYPE_CHECKING:
    from dpportal.running.jobs import Claim

log = logging.getLogger("dpportal.jobs")


def begun(claim: Claim) -> None:
    """A worker has taken a job."""
    log.info(
        "job began: kind=%s id=%s attempt=%d",
        claim.kind,
        claim.pk,
        claim.attempt,
        extra={**_facts(claim), "event": "job-began"},
    )


def ended(claim: Claim, outcome: str) -> None:
    """The worker is done with it; written once the database has it, too. outcome: its state, or what comes next."""
    transaction.on_commit(partial(_say_ended, claim, outcome))


def _say_ended(claim: Claim, outcome: str) -> None:
    seconds = round(claim.elapsed, 3)
    log.info(
        "job ended: kind=%s id=%s attempt=%d outcome=%s seconds=%.3f",
        claim.kind,
        claim.pk,
        claim.attempt,
        outcome,
        seconds,
        extra={**_facts(claim), "event": "job-ended", "outcome": outcome, "seconds": seconds},
    )


def _facts(claim: Claim) -> dict[str, Any]:
    return {"job_kind": claim.kind, "job_id": str(claim.pk), "attempt": claim.attempt}
