"""What fails for good comes to an end, and what fails in one place keeps nothing else from its turn."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.conf import settings
from django.db import OperationalError
from django.utils import timezone
from psycopg.errors import QueryCanceled

from dpportal.datasets.models import Conversion
from dpportal.jobs import claims
from dpportal.jobs.claims import JobState
from dpportal.operations import sweeping
from dpportal.releases import execution, tasks
from dpportal.releases.models import Release, ReleaseJob
from tests.dpportal import building

pytestmark = pytest.mark.django_db


def refused(*_args) -> None:
    """As the database does with a statement that it never takes."""
    raise OperationalError from QueryCanceled()


def attempts(release: Release, number: int) -> ReleaseJob:
    for _ in range(number):
        execution.RELEASES.run(release.pk)
    claims.sweep(ReleaseJob.objects.all(), lambda pk: None, execution.RELEASES.give_up)
    return ReleaseJob.objects.get(pk=release.pk)


def test_a_statement_that_the_database_refuses_for_good_ends_the_job_after_an_hour(requested, monkeypatch):
    monkeypatch.setattr(execution, "measure", refused)
    job = attempts(requested, 2 * settings.JOB_ATTEMPTS)
    assert (job.state, job.attempts) == (JobState.RUNNING, 0)
    ReleaseJob.objects.update(started_at=timezone.now() - timedelta(hours=1))
    job = attempts(requested, settings.JOB_ATTEMPTS)
    assert job.state == JobState.FAILED and "database has refused this job" in job.failure
    requested.refresh_from_db()
    assert (requested.state, requested.charge.state) == ("failed", "void")


@pytest.mark.slow
def test_a_job_that_goes_on_after_all_says_nothing_of_it(requested, monkeypatch):
    with monkeypatch.context() as meanwhile:
        meanwhile.setattr(execution, "measure", refused)
        attempts(requested, 1)
    job = attempts(requested, 1)
    assert (job.state, job.failure) == (JobState.DONE, "")


@pytest.mark.parametrize("error", [RuntimeError, OperationalError])
def test_a_job_that_cannot_be_given_up_keeps_no_other_from_it(dataset, error):
    broken, other = (building.requested_release(dataset) for _ in range(2))
    past = timezone.now() - timedelta(hours=1)
    ReleaseJob.objects.update(state=JobState.RUNNING, attempts=settings.JOB_ATTEMPTS, lease_until=past)

    def give_up(pk, reason: str) -> None:
        if pk == broken.pk:
            raise error
        execution.RELEASES.give_up(pk, reason)

    claims.sweep(ReleaseJob.objects.all(), lambda pk: None, give_up)
    states = dict(ReleaseJob.objects.values_list("pk", "state"))
    assert states == {broken.pk: JobState.RUNNING, other.pk: JobState.FAILED}


def test_what_fails_of_one_kind_is_raised_after_all_others_had_their_turn(requested, monkeypatch):
    swept = []

    def sweep(rows, _hint, _give_up) -> None:
        if rows.model is Conversion:
            refused()
        swept.append(rows.model.__name__)

    monkeypatch.setattr(claims, "sweep", sweep)
    monkeypatch.setattr(tasks, "sweep", lambda: swept.append("releases"))
    with pytest.raises(OperationalError):
        sweeping.sweep_jobs()
    names = {"ReleaseJob", "StreamJob", "Fit", "SeriesBundle", "StoredQuestion", "BundleCheck"}
    assert {*names, "ValueChoice", "Delivery", "releases"} == set(swept)
