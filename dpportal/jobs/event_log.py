"""What the log says of jobs, so that an operator can follow one: its id, attempt, seconds and end; never data."""

from __future__ import annotations

import logging
import traceback
from functools import partial
from typing import TYPE_CHECKING

from django.db import transaction

from dpportal.platform.json_types import Json

if TYPE_CHECKING:
    from dpportal.jobs.claims import Claim

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
    """A worker has ended a job; logged after the commit. outcome: the job's state, or what comes next."""
    transaction.on_commit(partial(_say_ended, claim, outcome))


def fault_of(error: BaseException) -> str:
    """An unexpected error's type and place. Its text is left out, since it could quote data."""
    place = traceback.extract_tb(error.__traceback__)[-1]
    return f"{type(error).__name__} at {place.name}:{place.lineno}"


def refusal_of(error: BaseException) -> str:
    """Why a job was refused, in names of the code alone: its class, its code and its origin, where it has these."""
    names = (type(error).__name__, getattr(error, "code", ""), getattr(error, "origin", ""))
    return " ".join(str(name) for name in names if name)


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


def _facts(claim: Claim) -> Json:
    return {"job_kind": claim.kind, "job_id": str(claim.pk), "attempt": claim.attempt}
