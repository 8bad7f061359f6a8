"""Questions that a worker answers without data, once: a row whose key is what was asked, with its answer."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping
from contextlib import suppress
from datetime import timedelta
from typing import Any, TypeVar

from django.db import transaction
from django.utils import timezone

from dpportal.running import jobs
from dpportal.running.jobs import Claim, Job, JobState, LostClaimError

RETRY_AFTER = timedelta(days=1)
Q = TypeVar("Q", bound=Job)


def key_of(asked: Mapping[str, Any]) -> str:
    return hashlib.sha256(json.dumps(asked, sort_keys=True).encode()).hexdigest()


def found(model: type[Q], asked: Mapping[str, Any]) -> Q | None:
    """The question, if it was asked, answered or not; one that failed counts for a day."""
    yesterday = timezone.now() - RETRY_AFTER
    known = model._base_manager.exclude(state=JobState.FAILED, finished_at__lt=yesterday)
    return known.filter(key=key_of(asked)).first()


def ask(model: type[Q], asked: Mapping[str, Any], task: Any) -> Q:
    """The question, which a task is to answer unless it was asked before."""
    # Looked up first, since a page asks every second and a transaction that may write locks SQLite.
    return found(model, asked) or _queued(model, asked, task)


@transaction.atomic
def _queued(model: type[Q], asked: Mapping[str, Any], task: Any) -> Q:
    key = key_of(asked)
    failed = model._base_manager.filter(key=key, state=JobState.FAILED)
    again = failed.update(state=JobState.QUEUED, attempts=0, failure="", finished_at=None)
    question, new = model._base_manager.get_or_create(key=key, defaults={"question": asked})
    if new or again:
        task.delay_on_commit(key)
    return question


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
