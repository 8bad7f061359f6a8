"""Searches of plans, done by workers: each once, stored by its public arguments for good."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any
from urllib.parse import urlencode

from dpportal.jobs.claims import ACTIVE, Claim, JobState
from dpportal.jobs.memoised import QuestionKind, StoredQuestion, Topic, key_of
from dpportal.jobs.models import Heartbeat
from dpportal.jobs.runner import register
from dpportal.platform.json_types import Json
from mechanisms.deferred_search import is_known, work_out as search
from mechanisms.protocol import PlanError

# How many searches a long job does between two of its steps.
MOST_BETWEEN = 8


class Searches(QuestionKind):
    """Searches that a plan needs. answer: the result, which depends on neither data nor the amount of a loss."""

    name = "Working"
    too_long = "Working it out took longer than an hour. Choose fewer cells, queries or periods."
    waiting = "Its figures are being worked out."
    refusals = (PlanError,)

    def version_of(self, question: Json) -> int | None:
        version = int(question.get("version", 0))
        return version if is_known(question.get("kind", ""), version) else None

    def answer(self, question: Json, claim: Claim) -> object:
        return search(question["kind"], question["version"], question["arguments"])


SEARCHES = register(Searches())


class SearchResults:
    """Results of workers, for one request. awaited: the keys of searches that still run."""

    def __init__(self) -> None:
        self.awaited: list[str] = []
        self._known: Json = {}

    def result(self, name: str, version: int, arguments: Sequence[object]) -> Any:
        question = Topic(name, version).asks(arguments=list(arguments))
        key = key_of(question)
        if key not in self._known:
            self._known[key] = self._answer(SEARCHES.ask(question))
        return self._known[key]

    def search_again(self, name: str, version: int, arguments: Sequence[object]) -> Any:
        question = Topic(name, version).asks(arguments=list(arguments))
        self._known.pop(key_of(question), None)
        return self._answer(SEARCHES.ask_again(question))

    def _answer(self, stored: StoredQuestion) -> Any:
        if stored.active and stored.key not in self.awaited:
            self.awaited.append(stored.key)
        return SEARCHES.answer_of(stored)

    @property
    def awaited_query(self) -> str:
        """The query string with which a page asks for the searches that still run."""
        return urlencode({"key": self.awaited}, doseq=True)

    @property
    def waits_in_vain(self) -> bool:
        """Whether no worker lives that could do a search."""
        return not Heartbeat.alive(Heartbeat.Kind.WORKER).exists()


def active(keys: Sequence[str]) -> list[str]:
    """The keys of searches that still run."""
    searches = SEARCHES.jobs().filter(pk__in=keys, state__in=ACTIVE)
    known = set(searches.values_list("pk", flat=True))
    return [key for key in keys if key in known]


def work_out_waiting() -> None:
    """Do waiting searches, since pages wait for them; called between the steps of jobs that take minutes."""
    waiting = SEARCHES.jobs().filter(state=JobState.QUEUED).order_by("queued_at")
    for key in list(waiting.values_list("pk", flat=True)[:MOST_BETWEEN]):
        SEARCHES.run(key)


def forget_all() -> None:
    """Delete all answers, so that they are searched for again: a plan that was made from some was outdated."""
    SEARCHES.jobs().filter(state=JobState.DONE).delete()
