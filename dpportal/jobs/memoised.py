"""Questions that a worker answers once, without data: a row has the question's digest as its key, and the answer."""

from __future__ import annotations

import logging
from abc import abstractmethod
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, ClassVar

from django.db import models, transaction
from django.utils import timezone
from django.utils.translation import gettext as _

from dpportal.jobs import claims, event_log
from dpportal.jobs.claims import Claim, Job, JobState
from dpportal.jobs.clock import database_now
from dpportal.jobs.runner import JobKind
from dpportal.platform.json_digest import json_digest
from dpportal.platform.json_types import Json
from dpportal.platform.stored_texts import translated
from mechanisms.deferred_search import PendingSearchError
from mechanisms.protocol import PlanError

log = logging.getLogger(__name__)

RETRY_AFTER = timedelta(days=1)
# A row's first fence is one of so many: the millisecond in which it was made.
FENCES = 2**30


@dataclass(frozen=True)
class Topic:
    """A subject of questions. name: the stored name of its answers, which stays when code is renamed.

    version: is raised whenever answers change or are written in another way, so that no older answer is taken.
    """

    name: str
    version: int

    def asks(self, **what: object) -> Json:
        """A question on this topic."""
        return {"kind": self.name, "version": self.version, **what}


def key_of(question: Mapping[str, object]) -> str:
    """The digest of a question. Raises ValueError for a question without kind or version."""
    if not {"kind", "version"} <= question.keys():
        raise ValueError("a question has a kind and a version; see Topic")
    return json_digest(question)


def _first_fence() -> int:
    """Of a row: another one than a row of the same question had that was deleted before."""
    return int(1000 * database_now().timestamp()) % FENCES


class StoredQuestion(Job):
    """A question and its answer, which depends on no data.

    key: the digest of the question, so that the same is answered once. answered_by: the name of the QuestionKind.
    answer: as JSON, in the shape that its kind says; some kinds write partial answers.
    """

    key = models.CharField(primary_key=True, max_length=64)
    answered_by = models.CharField(max_length=40, db_index=True)
    question = models.JSONField()
    answer = models.JSONField(null=True)

    def __str__(self) -> str:
        return f"{translated(self.answered_by)} {self.key[:12]}"

    @property
    def is_what_its_key_says(self) -> bool:
        """Whether the question is the one that the key stands for, so that the answer is not another's."""
        return self.key == json_digest(self.question)


def swapped() -> Iterator[str]:
    """The keys of questions that are not what their keys say: somebody wrote them past the portal."""
    for stored in StoredQuestion._base_manager.order_by("pk").iterator(chunk_size=100):
        if not stored.is_what_its_key_says:
            yield stored.key


class QuestionKind(JobKind[StoredQuestion]):
    """Questions of one kind: asked often, answered once.

    Neither question nor answer depends on data. waiting: the message until the answer is there. keeps_older: whether
    answers of earlier versions stay, since stored keys still name them.
    """

    model = StoredQuestion
    waiting: ClassVar[str] = "It is being worked out."
    keeps_older: ClassVar[bool] = False

    @abstractmethod
    def version_of(self, question: Json) -> int | None:
        """The version of this code's answers to such a question; None if it has no answer."""

    @abstractmethod
    def answer(self, question: Json, claim: Claim) -> object:
        """Work the answer out, as JSON."""

    def work(self, job: StoredQuestion, claim: Claim) -> None:
        """Answer a question of this code's version. A question of another version is deleted; its page asks again.

        An answer or failure of this code must not be stored under the other version.
        """
        if job.question.get("version") != self.version_of(job.question):
            self.jobs().filter(pk=job.pk, fence=claim.fence).delete()
            event_log.ended(claim, "forgotten")
            return
        claim.write(answer=self.answer(job.question, claim))
        claim.finish(JobState.DONE)
        if not self.keeps_older:
            self._forget_older(job.question)

    def jobs(self) -> models.QuerySet[StoredQuestion]:
        return StoredQuestion._base_manager.filter(answered_by=self.name)

    def answer_of(self, stored: StoredQuestion | None) -> Any:
        """The answer. Raises PendingSearchError until it is there, PlanError where there can be none."""
        if stored is None or stored.active:
            raise PendingSearchError(_(self.waiting))
        if stored.state != JobState.DONE:
            raise PlanError(stored.failure)
        return stored.answer

    def look_up(self, question: Mapping[str, object]) -> StoredQuestion | None:
        """The stored question, answered or not; None if it was never asked, or failed more than a day ago."""
        yesterday = timezone.now() - RETRY_AFTER
        known = self.jobs().exclude(state=JobState.FAILED, finished_at__lt=yesterday)
        stored = known.filter(key=key_of(question)).first()
        return stored if stored and self.is_own(stored) else None

    def is_own(self, stored: StoredQuestion) -> bool:
        """Whether a row that has the key of a question is that question, of this kind."""
        return stored.answered_by == self.name and stored.is_what_its_key_says

    def ask(self, question: Mapping[str, object]) -> StoredQuestion:
        """The stored question; queues it for a worker unless it was asked before."""
        # Looked up first, since a page asks every second and a transaction that may write locks SQLite.
        return self.look_up(question) or self._queued(question)

    @transaction.atomic
    def ask_again(self, question: Mapping[str, object]) -> StoredQuestion:
        """The stored question, queued once more if it had an answer: one that could not be read."""
        key = key_of(question)
        if self._queue_again(key, JobState.DONE):
            self.hint_on_commit(key)
        return self.jobs().get(pk=key)

    @transaction.atomic
    def _queued(self, question: Mapping[str, object]) -> StoredQuestion:
        key = key_of(question)
        self._forget_swapped(key)
        again = self._queue_again(key, JobState.FAILED)
        # A row that was deleted meanwhile is made anew under the same key, where a late worker's claim must not hold.
        stored, new = StoredQuestion._base_manager.get_or_create(
            key=key, defaults={"question": question, "answered_by": self.name, "fence": _first_fence()}
        )
        if new or again:
            self.hint_on_commit(key)
        return stored

    def _forget_swapped(self, key: str) -> None:
        """Delete a row that somebody put under this key past the portal."""
        for stored in StoredQuestion._base_manager.filter(pk=key):
            if not self.is_own(stored):
                log.error("stored question %s is not what its key says: it is asked anew", stored.pk)
                stored.delete()

    def _queue_again(self, key: str, state: JobState) -> bool:
        return bool(self.jobs().filter(pk=key, state=state).update(**claims.reset_fields()))

    def _forget_older(self, question: Json) -> None:
        """Delete answers on the same topic that nobody asks for any more."""
        older = {"question__kind": question["kind"], "question__version__lt": question["version"]}
        self.jobs().filter(**older).delete()
