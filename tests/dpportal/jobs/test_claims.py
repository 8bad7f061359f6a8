"""Jobs: claims, fences, leases, attempts, the sweep, cancelling, resuming, and what is confirmed twice."""

import datetime as dt
from datetime import timedelta
from decimal import Decimal
from pathlib import Path

import pytest
from django.conf import settings
from django.core.files.storage import default_storage
from django.db import InternalError, OperationalError
from django.utils import timezone
from psycopg.errors import AdminShutdown, IdleInTransactionSessionTimeout, LockNotAvailable

from dpportal.budgets.ledger import BudgetRefusedError
from dpportal.budgets.models import Budget
from dpportal.datasets import services as dataset_services
from dpportal.datasets.models import Dataset
from dpportal.jobs import claims
from dpportal.jobs.claims import JobState, LostClaimError
from dpportal.jobs.models import Heartbeat
from dpportal.jobs.runner import run_job
from dpportal.releases import drafts, execution, services
from dpportal.releases.models import Artifact, Release, ReleaseJob
from dpportal.releases.services import ReleaseError
from mechanisms.domain import Integer
from tests.dpportal.building import a_worker_lives, complete_draft, confirm

TENTH = Decimal("0.1")


def job_of(release: Release) -> ReleaseJob:
    return ReleaseJob.objects.get(pk=release.pk)


def parts(release: Release) -> tuple[Decimal, Decimal]:
    """(spent, reserved)"""
    budget = Budget.objects.get(dataset=release.dataset)
    return budget.spent, budget.reserved


def end_lease(release: Release) -> None:
    ReleaseJob.objects.filter(pk=release.pk).update(lease_until=timezone.now() - timedelta(seconds=1))


def hinted_long_ago(release: Release) -> None:
    ReleaseJob.objects.filter(pk=release.pk).update(hinted_at=timezone.now() - timedelta(days=1))


def swept(give_up=execution.RELEASES.give_up) -> list:
    """Sweep; returns the jobs that were hinted at."""
    hints: list = []
    claims.sweep(ReleaseJob.objects.all(), hints.append, give_up)
    return hints


class TestClaims:
    def test_a_queued_job_is_claimed_with_a_lease(self, requested, settings):
        claim = claims.claim(ReleaseJob, requested.pk)
        job = job_of(requested)
        assert (job.state, job.attempts, job.fence, claim.fence) == (JobState.RUNNING, 1, 1, 1)
        assert job.lease_until > timezone.now() + timedelta(seconds=settings.JOB_LEASE_SECONDS - 10)

    def test_a_claimed_job_is_not_claimed_again(self, requested):
        claims.claim(ReleaseJob, requested.pk)
        assert claims.claim(ReleaseJob, requested.pk) is None
        assert job_of(requested).attempts == 1

    def test_after_its_lease_a_job_is_claimed_with_a_higher_fence(self, requested):
        claims.claim(ReleaseJob, requested.pk)
        end_lease(requested)
        assert claims.claim(ReleaseJob, requested.pk).fence == 2

    @pytest.mark.parametrize("state", [JobState.DONE, JobState.FAILED, JobState.CANCELLED])
    def test_an_ended_job_is_not_claimed(self, requested, state):
        ReleaseJob.objects.filter(pk=requested.pk).update(state=state)
        assert claims.claim(ReleaseJob, requested.pk) is None

    def test_nothing_is_claimed_a_fourth_time(self, requested):
        for _ in range(3):
            assert claims.claim(ReleaseJob, requested.pk)
            end_lease(requested)
        assert claims.claim(ReleaseJob, requested.pk) is None

    def test_the_first_start_is_kept(self, requested):
        claims.claim(ReleaseJob, requested.pk)
        first = job_of(requested).started_at
        end_lease(requested)
        claims.claim(ReleaseJob, requested.pk)
        assert job_of(requested).started_at == first


class TestFence:
    @pytest.mark.parametrize(
        "write",
        [
            lambda claim: claim.step("counting"),
            lambda claim: claim.advance(1, 2),
            lambda claim: claim.renew(),
            lambda claim: claim.release_lease(),
            lambda claim: claim.finish(JobState.DONE),
        ],
        ids=["step", "advance", "renew", "give back", "finish"],
    )
    def test_whoever_lost_the_claim_writes_nothing(self, requested, write):
        late = claims.claim(ReleaseJob, requested.pk)
        end_lease(requested)
        claims.claim(ReleaseJob, requested.pk).step("measuring")
        before = ReleaseJob.objects.filter(pk=requested.pk).values().get()
        with pytest.raises(LostClaimError):
            write(late)
        assert ReleaseJob.objects.filter(pk=requested.pk).values().get() == before

    def test_a_late_worker_neither_measures_nor_spends(self, requested):
        late = claims.claim(ReleaseJob, requested.pk)
        end_lease(requested)
        claims.claim(ReleaseJob, requested.pk)
        with pytest.raises(LostClaimError):
            execution.measure(requested.pk, late)
        requested.refresh_from_db()
        assert (requested.measurement, parts(requested)) == ("", (0, TENTH))

    def test_a_late_worker_does_not_void_what_another_works_on(self, requested):
        late = claims.claim(ReleaseJob, requested.pk)
        end_lease(requested)
        claims.claim(ReleaseJob, requested.pk)
        with pytest.raises(LostClaimError):
            execution.RELEASES.close(job_of(requested), late, "too late")
        assert parts(requested) == (0, TENTH)

    def test_the_lease_is_renewed_while_a_worker_lives(self, requested, settings):
        claim = claims.claim(ReleaseJob, requested.pk)
        end_lease(requested)
        claim.renew()
        assert claims.claim(ReleaseJob, requested.pk) is None


class TestClocks:
    """A machine one day ahead, or behind: only the database's clock counts."""

    @pytest.mark.parametrize("off", [timedelta(days=1), timedelta(days=-1)])
    def test_a_claim_by_a_wrong_clock_is_as_long_as_any(self, requested, monkeypatch, off):
        with monkeypatch.context() as elsewhere:
            elsewhere.setattr(timezone, "now", lambda: dt.datetime.now(dt.UTC) + off)
            claim = claims.claim(ReleaseJob, requested.pk)
            claim.renew()
        assert claims.claim(ReleaseJob, requested.pk) is None
        left = job_of(requested).lease_until - dt.datetime.now(dt.UTC)
        assert timedelta(seconds=25) < left < timedelta(seconds=35)

    def test_a_lease_of_a_day_that_an_older_portal_gave_is_no_lease(self, requested):
        claims.claim(ReleaseJob, requested.pk)
        ReleaseJob.objects.filter(pk=requested.pk).update(lease_until=timezone.now() + timedelta(days=1))
        hinted_long_ago(requested)
        a_worker_lives()
        assert swept() == [requested.pk]
        assert claims.claim(ReleaseJob, requested.pk) is not None


class TestSweep:
    @pytest.fixture(autouse=True)
    def _worker(self, db):
        a_worker_lives()

    def test_while_no_worker_lives_no_message_is_added_to_the_queue(self, requested):
        hinted_long_ago(requested)
        Heartbeat.objects.update(seen_at=timezone.now() - timedelta(minutes=2))
        assert swept() == []
        a_worker_lives()
        assert swept() == [requested.pk]

    def test_a_fresh_job_is_left_to_its_own_message(self, requested):
        assert swept() == []

    def test_a_job_that_waits_is_hinted_at_once_a_lease(self, requested):
        hinted_long_ago(requested)
        assert swept() == [requested.pk]
        assert swept() == []

    def test_a_job_whose_worker_died_is_hinted_at(self, requested):
        claims.claim(ReleaseJob, requested.pk)
        hinted_long_ago(requested)
        assert swept() == []
        end_lease(requested)
        assert swept() == [requested.pk]

    @pytest.mark.slow
    def test_an_ended_job_is_left_alone(self, ready):
        hinted_long_ago(ready)
        assert swept() == []

    def test_after_three_attempts_a_job_fails_with_a_reason_and_its_reservation_is_void(self, requested):
        for _ in range(3):
            claims.claim(ReleaseJob, requested.pk)
            end_lease(requested)
        assert swept() == []
        requested.refresh_from_db()
        job = job_of(requested)
        assert (job.state, requested.state, requested.charge.state) == ("failed", "failed", "void")
        assert job.failure.startswith("The job was interrupted 3 times")
        assert parts(requested) == (0, 0)

    def test_two_sweeps_that_give_up_the_same_job_disturb_nobody(self, requested):
        for _ in range(3):
            claims.claim(ReleaseJob, requested.pk)
            end_lease(requested)

        def give_up_beside_another(pk, reason):
            execution.RELEASES.give_up(pk, reason)
            raise LostClaimError

        assert swept(give_up_beside_another) == []
        assert parts(requested) == (0, 0)

    def test_the_task_of_a_job_that_has_an_owner_does_nothing(self, requested):
        claims.claim(ReleaseJob, requested.pk)
        run_job("ReleaseJob", str(requested.pk))
        assert (job_of(requested).attempts, parts(requested)) == (1, (0, TENTH))


class TestExecution:
    @pytest.mark.slow
    def test_a_job_ends_ready_and_charged(self, ready):
        assert (ready.state, job_of(ready).state, parts(ready)) == ("ready", "done", (TENTH, 0))

    @pytest.mark.slow
    def test_a_redelivered_task_does_nothing(self, ready):
        before = (Release.objects.filter(pk=ready.pk).values().get(), job_of(ready).attempts)
        run_job("ReleaseJob", str(ready.pk))
        assert (Release.objects.filter(pk=ready.pk).values().get(), job_of(ready).attempts) == before
        assert parts(ready) == (TENTH, 0)

    def test_the_task_of_a_release_that_is_gone_does_nothing(self, draft):
        pk = draft.pk
        draft.delete()
        run_job("ReleaseJob", str(pk))
        assert not ReleaseJob.objects.exists()

    def test_erased_records_fail_the_job_at_once_and_void_the_charge(self, requested):
        type(requested.dataset).objects.update(state="erased", table="")
        execution.RELEASES.run(requested.pk)
        assert job_of(requested).failure.startswith("The records of this dataset were deleted")
        assert parts(requested) == (0, 0)

    def test_an_unforeseen_error_gives_the_job_back_without_a_word_of_the_data(self, requested, caplog):
        """A broken table makes DuckDB complain in its own words; the log has only the error's kind and place."""
        Path(default_storage.path(requested.dataset.table)).write_bytes(b"PAR1 secret PAR1")
        execution.RELEASES.run(requested.pk)
        job = job_of(requested)
        assert (job.state, job.failure, parts(requested)) == ("running", "", (0, TENTH))
        assert job.lease_until <= timezone.now()
        assert "secret" not in caplog.text
        assert requested.dataset.table not in caplog.text


class TestResume:
    @pytest.fixture
    def stopped(self, requested) -> Release:
        """Measured, then failed three times while post-processing."""
        execution.measure(requested.pk, claims.claim(ReleaseJob, requested.pk))
        ReleaseJob.objects.filter(pk=requested.pk).update(attempts=3, put_off=execution.PUT_OFF_AT_MOST)
        end_lease(requested)
        swept()
        requested.refresh_from_db()
        return requested

    @pytest.mark.slow
    def test_only_post_processing_is_done_again(self, stopped):
        measured = (stopped.measurement_sha256, stopped.measured_at)
        services.resume(stopped)
        execution.RELEASES.run(stopped.pk)
        stopped.refresh_from_db()
        assert (stopped.state, job_of(stopped).attempts) == ("ready", 1)
        assert (stopped.measurement_sha256, stopped.measured_at) == measured
        assert parts(stopped) == (TENTH, 0)

    def test_a_release_without_a_measurement_is_not_resumed(self, requested):
        claim = claims.claim(ReleaseJob, requested.pk)
        execution.RELEASES.close(job_of(requested), claim, "stopped")
        with pytest.raises(ReleaseError, match="nothing to resume"):
            services.resume(requested)

    @pytest.mark.slow
    def test_a_finished_release_is_not_resumed(self, ready):
        with pytest.raises(ReleaseError):
            services.resume(ready)

    @pytest.mark.slow
    def test_post_processing_gives_the_same_files_each_time(self, ready):
        def digests():
            return dict(Artifact.objects.filter(release=ready).values_list("name", "sha256"))

        first = digests()
        ReleaseJob.objects.filter(pk=ready.pk).update(state=JobState.QUEUED, attempts=0)
        execution.RELEASES.run(ready.pk)
        assert digests() == first

    @pytest.mark.slow
    def test_a_damaged_measurement_is_not_released(self, stopped):
        Path(default_storage.path(stopped.measurement)).write_bytes(b"other numbers")
        services.resume(stopped)
        execution.RELEASES.run(stopped.pk)
        stopped.refresh_from_db()
        assert stopped.state == "measured"
        assert not stopped.artifacts.exists()


class TestCancel:
    def test_a_queued_job_is_cancelled_and_its_reservation_void(self, requested):
        services.cancel(requested)
        requested.refresh_from_db()
        assert (requested.state, job_of(requested).state) == ("cancelled", "cancelled")
        assert (requested.charge.state, parts(requested)) == ("void", (0, 0))

    def test_a_running_job_is_not_cancelled(self, requested):
        claims.claim(ReleaseJob, requested.pk)
        with pytest.raises(ReleaseError, match="already begun"):
            services.cancel(requested)
        assert parts(requested) == (0, TENTH)

    def test_a_cancelled_job_is_not_run_by_its_late_message(self, requested):
        services.cancel(requested)
        run_job("ReleaseJob", str(requested.pk))
        requested.refresh_from_db()
        assert (requested.state, requested.measurement, parts(requested)) == ("cancelled", "", (0, 0))

    def test_cancelling_twice_frees_the_budget_once(self, requested, draft):
        confirm(draft)
        services.cancel(requested)
        with pytest.raises(ReleaseError):
            services.cancel(requested)
        assert parts(requested) == (0, TENTH)


class TestConfirmation:
    def test_the_same_form_twice_reserves_once(self, draft):
        assert confirm(draft) is True
        assert confirm(draft) is False
        assert (parts(draft), ReleaseJob.objects.count()) == ((0, TENTH), 1)

    def test_the_message_is_sent_after_the_commit_only(self, draft, django_capture_on_commit_callbacks):
        with django_capture_on_commit_callbacks() as callbacks:
            confirm(draft)
        assert len(callbacks) == 1

    def test_a_plan_other_than_the_reviewed_one_is_not_confirmed(self, draft):
        with pytest.raises(ReleaseError, match="changed since you reviewed it"):
            services.request_release(draft, reviewed="0" * 32, by=draft.created_by)
        draft.refresh_from_db()
        assert (draft.state, parts(draft)) == ("draft", (0, 0))

    @pytest.mark.parametrize("change", ["person", "capitals", "reading", "columns"])
    def test_what_the_plan_rests_on_is_confirmed_with_it(self, draft, change):
        dataset, unit = draft.dataset, {"neighbours": "add-remove", "max_rows": 1}
        dataset_services.declare_unit(dataset, unit_column="colour", **unit)
        draft.dataset.refresh_from_db()
        version, plan = drafts.plan_of(draft)
        shown = services.reviewed_as(version, plan)
        match change:
            case "person":
                dataset_services.declare_unit(dataset, unit_column="age", **unit)
            case "capitals":
                dataset_services.declare_unit(dataset, unit_column="colour", ignore_case=True, **unit)
            case "reading":
                Dataset.objects.filter(pk=dataset.pk).update(options={**dataset.options, "missing": ["red"]})
            case "columns":
                Release.objects.filter(pk=draft.pk).update(columns=["age"])
        with pytest.raises(ReleaseError, match="changed since you reviewed it"):
            services.request_release(draft, reviewed=shown, by=draft.created_by)
        assert parts(draft) == (0, 0)

    def test_a_refused_reservation_leaves_the_draft_as_it_was(self, dataset):
        draft = complete_draft(dataset, "1.5")
        with pytest.raises(BudgetRefusedError, match=r"ε = 1\.00 left"):
            confirm(draft)
        draft.refresh_from_db()
        assert (draft.state, draft.charge, ReleaseJob.objects.count()) == ("draft", None, 0)

    def test_the_confirmed_plan_is_kept_whatever_is_declared_later(self, requested):
        dataset_services.declare(requested.dataset, "age", Integer("age", lower=0, upper=9, width=1))
        before = requested.plan_json
        requested.refresh_from_db()
        assert requested.plan_json == before
        assert requested.domain_version.version < requested.dataset.current_domain().version


@pytest.mark.parametrize("told", [LockNotAvailable, IdleInTransactionSessionTimeout, AdminShutdown])
def test_what_the_database_keeps_from_going_on_uses_up_no_attempt(requested, told):
    """A lock that another holds, or a session that was ended, is no fault of the job."""
    refusal = InternalError() if told is IdleInTransactionSessionTimeout else OperationalError()
    refusal.__cause__ = told()
    for _ in range(2 * settings.JOB_ATTEMPTS):
        claim = claims.claim(ReleaseJob, requested.pk)
        assert claim is not None
        claim.release_lease(refusal)
    assert ReleaseJob.objects.get(pk=requested.pk).attempts == 0
    for _ in range(settings.JOB_ATTEMPTS):
        claim = claims.claim(ReleaseJob, requested.pk)
        claim.release_lease(ValueError("unforeseen"))
    assert claims.claim(ReleaseJob, requested.pk) is None
