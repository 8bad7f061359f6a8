"""Questions that a worker answers without data, once: a row whose key is what was asked, with its answer."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Any

from dpportal.running import jobs
from dpportal.running.jobs import Claim, Job, JobState, LostClaimError


def key_of(asked: Mapping[str, Any]) -> str:
    return hashlib.sha256(json.dumps(asked, sort_keys=True).encode()).hexdigest()


def work_out(model: type[Job], key: str, attempt: Callable[[Any, Claim], None]) -> None:
    """Answer one question, if no other worker does."""
    claim = jobs.claim(model, key)
    if claim is not None:
        with suppress(LostClaimError):
            attempt(model._base_manager.get(pk=key), claim)


def give_up(model: type[Job], key: str, reason: str) -> None:
    """Close a question whose workers died every time."""
    claim = jobs.take_over_expired(model, key)
    if claim is not None:
        claim.finish(JobState.FAILED, reason)
