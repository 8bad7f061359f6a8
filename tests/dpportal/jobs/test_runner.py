"""One runner for every kind of job: what each declares, and what the runner does with what ends an attempt."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Any

import pytest
from celery.exceptions import SoftTimeLimitExceeded
from django.apps import apps
from django.conf import settings
from django.utils import timezone
from kombu.exceptions import OperationalError

from dpportal.jobs import claims, runner
from dpportal.jobs.claims import Claim, Job, JobState
from dpportal.jobs.clock import db_ago
from dpportal.jobs.memoised import QuestionKind, StoredQuestion, Topic, key_of
from dpportal.jobs.runner import kinds, register, run_job
from dpportal.jobs.time_limits import limited
from dpportal.platform.sealing_faults import FileGoneFault
from dpportal.platform.storage import StorageFault
from dpportal.releases.execution import RELEASES
from mechanisms.deferred_search import PendingSearchError
from mechanisms.protocol import PlanError
from tests.dpportal import building

pytestmark = pytest.mark.django_db
QUESTION = Topic("sum", 1).asks(terms=[1, 2])


class Sums(QuestionKind):
    """A kind that is declared here alone."""

    name = "Sum"
    waiting = "It is being added up."
    too_long = "It took longer than an hour."
    refusals = (PlanError,)

    def version_of(self, question: Mapping[str, Any]) -> int:
        return 1

    def answer(self, question: Mapping[str, Any], claim: Claim) -> Any:
        return sum(question["terms"])


@pytest.fixture
def sums(monkeypatch) -> Sums:
    monkeypatch.setattr(runner, "_kinds", dict(runner._kinds))
    return register(Sums())


def ends_with(sums: Sums, monkeypatch, error: Exception, *, long_after: bool = True) -> StoredQuestion:
    """The question after an attempt that an exception ended; long_after: later than an hour after the first."""

    def fail(*_args: object) -> Any:
        raise error

    stored = sums.ask(QUESTION)
    with monkeypatch.context() as broken:
        broken.setattr(Sums, "answer", fail)
        sums.jobs().update(hinted_at=db_ago(1))
        building.run_when_due(sums, stored.key) if long_after else sums.run(stored.key)
    stored.refresh_from_db()
    return stored


def test_a_kind_is_one_declaration(sums):
    stored = sums.ask(QUESTION)
    assert sums in kinds() and list(sums.jobs()) == [stored]
    with pytest.raises(PendingSearchError, match="added up"):
        sums.answer_of(stored)
    run_job("Sum", stored.key)
    assert sums.answer_of(sums.ask(QUESTION)) == 3 and sums.jobs().count() == 1


def test_every_job_there_is_has_a_kind_that_is_swept_and_watched():
    concrete = {model for model in apps.get_models() if issubclass(model, Job)}
    assert concrete == {kind.model for kind in kinds()}
    assert len({kind.name for kind in kinds()}) == len(kinds())
    assert all(kind.too_long for kind in kinds())


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (PlanError("Ask for less."), "Ask for less."),
        (SoftTimeLimitExceeded(), Sums.too_long),
        (FileGoneFault(), str(FileGoneFault())),
    ],
)
def test_what_no_further_attempt_can_help_closes_a_job_in_words(sums, monkeypatch, error, said):
    stored = ends_with(sums, monkeypatch, error)
    assert (stored.state, stored.failure, stored.attempts) == (JobState.FAILED, said, 1)


def test_the_time_of_a_job_ends_that_job_however_long_another_one_between_its_steps_took(sums, monkeypatch):
    """The inner one is given back, for an attempt with a time of its own; the outer one ends in its own words."""
    inner = Topic("sum", 1).asks(terms=[3])
    monkeypatch.setattr(Claim, "elapsed", 3200.0)  # of both, by now

    def answer(_sums: Sums, question: Mapping[str, Any], _claim: Claim) -> Any:
        if question == inner:
            time.sleep(30)
        return sums.run(sums.ask(inner).key)

    with monkeypatch.context() as slow, limited(0.5, 60):
        slow.setattr(Sums, "answer", answer)
        sums.run(sums.ask(QUESTION).key)
    outer, stored = (sums.jobs().get(key=key_of(question)) for question in (QUESTION, inner))
    assert (outer.state, outer.failure) == (JobState.FAILED, Sums.too_long)
    assert (stored.state, stored.failure) == (JobState.RUNNING, "") and stored.lease_until <= timezone.now()
    sums.run(stored.key)
    assert sums.answer_of(sums.ask(inner)) == 3


def test_a_storage_that_does_not_answer_is_said_after_the_last_attempt(sums, monkeypatch):
    for _ in range(settings.JOB_ATTEMPTS):
        assert ends_with(sums, monkeypatch, StorageFault()).state == JobState.QUEUED
    stored = ends_with(sums, monkeypatch, StorageFault())
    assert stored.state == JobState.FAILED and "file storage does not answer" in stored.failure


def test_a_storage_that_is_away_for_minutes_uses_up_no_attempt(sums, monkeypatch):
    for seconds in (0, 2, 4, 8, 16, 32, 64, 128):
        sums.jobs().filter(started_at__isnull=False).update(started_at=db_ago(seconds))
        stored = ends_with(sums, monkeypatch, StorageFault(), long_after=False)
        assert (stored.state, stored.attempts) == (JobState.QUEUED, 0)
        pause = (stored.hinted_at - timezone.now()).total_seconds()
        assert min(60, max(2, seconds)) - 2 < pause < min(60, max(2, seconds)) + 10


def test_a_message_that_comes_too_early_begins_nothing(sums):
    stored = sums.ask(QUESTION)
    claims.claim(StoredQuestion, stored.key).postpone(3600)
    assert not sums.run(stored.key)
    stored.refresh_from_db()
    assert (stored.state, stored.attempts) == (JobState.QUEUED, 0)


def test_the_log_names_why_and_quotes_nothing(sums, monkeypatch, caplog):
    ends_with(sums, monkeypatch, RuntimeError("secret"))
    ends_with(sums, monkeypatch, PlanError("secret"))
    assert "RuntimeError at fail" in caplog.text and "refused: PlanError" in caplog.text
    assert "secret" not in caplog.text


@pytest.mark.django_db(transaction=True)
def test_a_queue_that_is_down_keeps_nothing_from_being_committed(sums, monkeypatch):
    def down(*_args: object, **_options: object) -> None:
        raise OperationalError

    monkeypatch.setattr(run_job, "apply_async", down)
    sums.ask(QUESTION)
    assert sums.jobs().get().state == JobState.QUEUED


def test_a_message_for_a_job_that_is_gone_does_nothing(requested):
    pk = requested.pk
    RELEASES.jobs().filter(pk=pk).delete()
    run_job("ReleaseJob", str(pk))
    run_job("Working", "gone")
