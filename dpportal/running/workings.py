"""What plans search for, by workers: asked for once, by what determines it, and kept for good; public facts alone."""

from __future__ import annotations

import logging
import traceback
from collections.abc import Sequence
from functools import partial
from typing import Any

from celery import shared_task
from celery.exceptions import SoftTimeLimitExceeded
from django.db import models
from django.utils.translation import gettext as _

from dpportal.running import jobs, questions
from dpportal.running.jobs import Claim, Job, JobState, LostClaimError
from dpportal.running.models import Heartbeat
from mechanisms.protocol import PlanError
from mechanisms.workings import NotWorkedOutError
from mechanisms.workings import work_out as search

log = logging.getLogger(__name__)

# Searches of plans that a longer job makes way for at a time.
MOST_BETWEEN = 8

TOO_LONG = "Working it out took longer than an hour. Choose fewer cells, queries or periods."


class Working(Job):
    """The result of a search that a plan needs; it depends on neither data nor the amount of a loss.

    key: the digest of the question, so that the same is searched once. answer: the result, as JSON.
    """

    key = models.CharField(primary_key=True, max_length=64)
    question = models.JSONField()
    answer = models.JSONField(null=True)

    def __str__(self) -> str:
        return f"Working {self.key[:12]}"


class Shelf:
    """Results of workers, for one request. awaited: the keys of those that are being worked out."""

    def __init__(self) -> None:
        self.awaited: list[str] = []
        self._known: dict[str, Any] = {}

    def result(self, name: str, version: int, arguments: Sequence[Any]) -> Any:
        asked = questions.Kind(name, version).asks(arguments=list(arguments))
        key = questions.key_of(asked)
        if key not in self._known:
            self._known[key] = self._answer(questions.ask(Working, asked, work_out))
        return self._known[key]

    def search_again(self, name: str, version: int, arguments: Sequence[Any]) -> Any:
        asked = questions.Kind(name, version).asks(arguments=list(arguments))
        self._known.pop(questions.key_of(asked), None)
        return self._answer(questions.ask_again(Working, asked, work_out))

    def _answer(self, question: Working) -> Any:
        key = question.key
        if question.state == JobState.DONE:
            return question.answer
        if not question.active:
            raise PlanError(question.failure)
        if key not in self.awaited:
            self.awaited.append(key)
        raise NotWorkedOutError(_("Its figures are being worked out."))

    @property
    def waits_in_vain(self) -> bool:
        """Whether no worker is there to work anything out."""
        return not Heartbeat.alive(Heartbeat.Kind.WORKER).exists()


def active(keys: Sequence[str]) -> list[str]:
    """Those that are still being worked out."""
    known = set(
        Working.objects.filter(pk__in=keys)
        .filter(state__in=(JobState.QUEUED, JobState.RUNNING))
        .values_list("pk", flat=True)
    )
    return [key for key in keys if key in known]


@shared_task
def work_out(key: str) -> None:
    """Search once, if no other worker does."""
    questions.work_out(Working, key, _attempt)


def work_out_waiting() -> None:
    """Do what waits, since a page waits for it: called between the steps of jobs that take minutes."""
    waiting = Working.objects.filter(state=JobState.QUEUED).order_by("queued_at")
    for key in list(waiting.values_list("pk", flat=True)[:MOST_BETWEEN]):
        work_out(key)


def forget_all() -> None:
    """Answers are searched for anew when they are needed: a plan that was made from some turned out to be outdated."""
    Working.objects.filter(state=JobState.DONE).delete()


def sweep() -> None:
    """Bring back searches whose worker or message was lost."""
    jobs.sweep(Working, work_out.delay, partial(questions.give_up, Working))


def _attempt(working: Working, claim: Claim) -> None:
    try:
        with claim.kept_alive():
            asked = working.question
            claim.write(answer=search(asked["kind"], asked["version"], asked["arguments"]))
        claim.finish(JobState.DONE)
        questions.forget_older(Working, asked)
    except LostClaimError:
        raise
    except PlanError as refusal:
        claim.finish(JobState.FAILED, str(refusal))
    except SoftTimeLimitExceeded:
        claim.finish(JobState.FAILED, _(TOO_LONG))
    except Exception as error:
        place = traceback.extract_tb(error.__traceback__)[-1]
        log.error("working %s: %s at %s:%s", working.key[:12], type(error).__name__, place.name, place.lineno)
        claim.give_back(error)
