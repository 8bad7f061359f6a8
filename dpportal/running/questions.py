"""Questions that a worker answers without data, once: a row whose key is what was asked, with its answer."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, TypeVar

from django.db import models, transaction
from django.utils import timezone

from dpportal.running import jobs
from dpportal.running.jobs import Claim, Job, JobState, LostClaimError

RETRY_AFTER = timedelta(days=1)
Q = TypeVar("Q", bound=Job)


@dataclass(frozen=True)
class Kind:
    """What is asked. name: what answers are stored under, for good, whatever the code is called.

    version: counts up whenever answers change or are written in another way: those of older code are then not taken.
    """

    name: str
    version: int

    def asks(self, **what: Any) -> dict[str, Any]:
        """A question of this kind."""
        return {"kind": self.name, "version": self.version, **what}


def key_of(asked: Mapping[str, Any]) -> str:
    """Raises ValueError for a question that says neither what is asked nor in which version."""
    if not {"kind", "version"} <= asked.keys():
        raise ValueError("a question has a kind and a version; see Kind")
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
    again = _queue_again(model, key, JobState.FAILED)
    question, new = model._base_manager.get_or_create(key=key, defaults={"question": asked})
    if new or again:
        task.delay_on_commit(key)
    return question


@transaction.atomic
def ask_again(model: type[Q], asked: Mapping[str, Any], task: Any) -> Q:
    """The question, queued once more if it had an answer, which could not be read."""
    key = key_of(asked)
    if _queue_again(model, key, JobState.DONE):
        task.delay_on_commit(key)
    return model._base_manager.get(pk=key)


def _queue_again(model: type[Job], key: str, state: JobState) -> bool:
    ended = model._base_manager.filter(pk=key, state=state)
    return bool(ended.update(**jobs.from_the_beginning()))


def forget_older(model: type[Job], question: Mapping[str, Any]) -> None:
    """Delete answers of this kind that nobody asks for any more, and those from before there were kinds."""
    older = models.Q(question__kind=question["kind"], question__version__lt=question["version"])
    model._base_manager.filter(older | models.Q(question__kind__isnull=True)).delete()


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
