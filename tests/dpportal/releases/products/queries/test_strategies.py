"""Strategies that a worker finds: asked for once, kept for every loss, swept like every other job."""

from __future__ import annotations

import os
import time
from datetime import timedelta
from decimal import Decimal
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse
from django.core.files.storage import default_storage
from django.utils import timezone

from dpportal.datasets.models import Dataset
from dpportal.jobs.claims import JobState
from dpportal.jobs.memoised import StoredQuestion, key_of
from dpportal.jobs.runner import JobKind
from dpportal.jobs.search_cache import SEARCHES
from dpportal.operations import sweeping
from dpportal.releases import arrays, drafts, execution, services
from dpportal.releases.models import Release, ReleaseJob
from dpportal.releases.products import PRODUCTS, DraftError
from dpportal.releases.products.queries import matrices, strategies
from dpportal.releases.products.queries.matrices import UploadedMatrix
from dpportal.releases.products.queries.strategies import STRATEGIES
from mechanisms import registry
from mechanisms.matrix.mechanism import Optimised
from mechanisms.protocol import PlanError
from tests.dpportal import building
from tests.dpportal.building import a_worker_lives
from tests.dpportal.releases.products.queries.building import draft_of

TABLES = "marginals(<=2)"
NAME = "weighted-marginals"


@pytest.fixture
def draft(dataset: Dataset) -> Release:
    return draft_of(dataset, TABLES, ["colour", "age"], "0.5", NAME)


@pytest.fixture
def search(draft: Release) -> StoredQuestion:
    """The search of the one method that the tests here wait for."""
    services.ask_strategies(draft)
    return STRATEGIES.jobs().get(question__mechanism=NAME)


def test_the_same_strategy_is_looked_for_once(draft, search) -> None:
    before = STRATEGIES.jobs().count()
    services.ask_strategies(draft)
    services.ask_strategies(services.duplicate(draft, draft.created_by))
    assert STRATEGIES.jobs().count() == before


def test_the_question_holds_neither_data_nor_loss(search) -> None:
    assert set(search.question) == {"kind", "version", "mechanism", "domain", "workload", "definition"}


def test_until_it_is_found_the_method_has_no_plan(draft, search) -> None:
    with pytest.raises(DraftError, match="being worked out"):
        drafts.plan_of(draft)


def test_what_a_worker_found_serves_every_loss(draft, search) -> None:
    strategies.STRATEGIES.run(search.key)
    _version, plan = drafts.plan_of(draft)
    draft.amount *= 2
    _version, dearer = drafts.plan_of(draft)
    assert plan.details["stored_strategy"] == dearer.details["stored_strategy"]
    assert dearer.total_error < plan.total_error / 3


def test_a_confirmed_plan_is_read_with_its_strategy(draft, search) -> None:
    strategies.STRATEGIES.run(search.key)
    _version, plan = drafts.plan_of(draft)
    again = PRODUCTS["queries"].planner.read_plan(plan.to_json())
    assert again.to_json() == plan.to_json()
    assert again.optimised is plan.optimised


def test_another_definition_or_workload_is_another_question(draft, search) -> None:
    changed = [{**search.question, "definition": "zcdp"}, {**search.question, "workload": "total"}]
    assert len({key_of(asked) for asked in (search.question, *changed)}) == 3


def test_a_worker_that_is_killed_is_followed_by_another(search, monkeypatch) -> None:
    lost = timezone.now() - timedelta(hours=1)
    STRATEGIES.jobs().update(state=JobState.DONE)
    STRATEGIES.jobs().filter(pk=search.key).update(
        state=JobState.RUNNING, lease_until=lost, hinted_at=lost, attempts=1
    )
    a_worker_lives()
    hinted: list[str] = []
    monkeypatch.setattr(JobKind, "hint", lambda _kind, key: hinted.append(key))
    STRATEGIES.sweep()
    assert hinted == [search.key]
    strategies.STRATEGIES.run(search.key)
    search.refresh_from_db()
    assert search.state == JobState.DONE and search.answer


def test_after_all_attempts_it_is_given_up_and_said_so(draft, search) -> None:
    lost = timezone.now() - timedelta(hours=1)
    STRATEGIES.jobs().filter(pk=search.key).update(
        state=JobState.RUNNING, lease_until=lost, hinted_at=lost, attempts=3
    )
    STRATEGIES.sweep()
    with pytest.raises(DraftError, match="interrupted 3 times"):
        drafts.plan_of(draft)


def test_a_search_that_finds_none_says_why(draft, search, monkeypatch) -> None:
    def refuse(*_args: object) -> Optimised:
        raise PlanError("No strategy is better.")

    monkeypatch.setattr(type(registry.query_mechanism(NAME)), "optimise", refuse)
    strategies.STRATEGIES.run(search.key)
    with pytest.raises(DraftError, match=r"No strategy is better\."):
        drafts.plan_of(draft)


def test_a_search_that_failed_is_tried_again_after_a_day(draft, search) -> None:
    STRATEGIES.jobs().filter(pk=search.key).update(
        state=JobState.FAILED, finished_at=timezone.now(), attempts=3
    )
    services.ask_strategies(draft)
    assert STRATEGIES.jobs().get(pk=search.key).state == JobState.FAILED
    STRATEGIES.jobs().filter(pk=search.key).update(finished_at=timezone.now() - timedelta(days=2))
    services.ask_strategies(draft)
    again = STRATEGIES.jobs().get(pk=search.key)
    assert (again.state, again.attempts) == (JobState.QUEUED, 0)


def test_an_unforeseen_error_is_tried_again(search, monkeypatch) -> None:
    def fail(*_args: object) -> Optimised:
        raise RuntimeError

    monkeypatch.setattr(type(registry.query_mechanism(NAME)), "optimise", fail)
    strategies.STRATEGIES.run(search.key)
    search.refresh_from_db()
    assert search.state == JobState.RUNNING and search.lease_until <= timezone.now()


@pytest.mark.slow
def test_the_method_page_shows_progress_and_then_the_strategy(draft, search, client) -> None:
    client.force_login(draft.created_by)
    STRATEGIES.jobs().filter(pk=search.key).update(progress=1, progress_total=4)
    title = registry.query_mechanism(NAME).title
    waiting = client.get(f"/releases/{draft.pk}/method/").content.decode()
    assert f'value="25" aria-label="{title}"' in waiting
    for found in STRATEGIES.jobs():
        strategies.STRATEGIES.run(found.key)
    done = client.get(f"/releases/{draft.pk}/method/").content.decode()
    assert "<progress" not in done and f'value="{NAME}"' in done


@pytest.mark.slow
def test_the_page_is_told_when_a_strategy_is_found(draft, search, client) -> None:
    client.force_login(draft.created_by)
    address = f"/releases/{draft.pk}/method/searches/"
    active = STRATEGIES.jobs().count()
    assert "HX-Trigger" not in client.get(address, {"active": active}).headers
    strategies.STRATEGIES.run(search.key)
    assert client.get(address, {"active": active}).headers["HX-Trigger"] == "strategies:found"


def test_only_its_curator_sees_the_searches(draft, search, client, other_curator) -> None:
    client.force_login(other_curator)
    assert client.get(f"/releases/{draft.pk}/method/searches/").status_code == 404


@pytest.mark.slow
def test_the_sweep_takes_what_nothing_names_and_keeps_the_rest(draft, search) -> None:
    strategies.STRATEGIES.run(search.key)
    search.refresh_from_db()
    named, orphan = (matrices.store(UploadedMatrix(scipy.sparse.csr_array(np.eye(n)))) for n in (2, 3))
    draft_of(draft.dataset, f'uploaded("{named}")', ["age"])
    unnamed, _digest = arrays.store({"theta": np.ones(3)}, strategies.FOLDER)
    everything = [search.answer["arrays"], unnamed, *map(matrices.stored_name, (named, orphan))]
    long_ago = time.time() - 10 * 3600
    for name in everything:
        os.utime(default_storage.path(name), (long_ago, long_ago))
    sweeping.sweep_files()
    assert [default_storage.exists(name) for name in everything] == [True, False, True, False]


@pytest.mark.slow
def test_a_stored_strategy_that_cannot_be_read_is_searched_for_again_and_not_without_end(
    draft, search
) -> None:
    strategies.STRATEGIES.run(search.key)
    search.refresh_from_db()
    Path(default_storage.path(search.answer["arrays"])).write_bytes(b"what older code wrote")
    strategies.load.cache_clear()
    for _ in range(2):
        with pytest.raises(DraftError, match="cannot be used"):
            drafts.plan_of(draft)
    long_ago = timezone.now() - timedelta(days=2)
    STRATEGIES.jobs().filter(pk=search.key).update(finished_at=long_ago, queued_at=long_ago)
    with pytest.raises(DraftError, match="being worked out"):
        drafts.plan_of(draft)
    strategies.STRATEGIES.run(search.key)
    drafts.plan_of(draft)


def test_a_plan_made_of_outdated_answers_costs_nothing_and_the_next_one_is_made_anew(draft) -> None:
    """As answers of older code that are of another strategy."""
    draft.mechanism = "identity-strategy"
    draft.save()
    building.confirm(draft)
    plan = Release.objects.get(pk=draft.pk).plan_json
    Release.objects.filter(pk=draft.pk).update(plan_json={**plan, "details": {**plan["details"], "sums": 7}})
    known = {"question": {"kind": "matrix-facts", "version": 1}, "answer": [1], "state": "done"}
    StoredQuestion.objects.create(key="k", answered_by=SEARCHES.name, **known)
    execution.RELEASES.run(draft.pk)
    job = ReleaseJob.objects.get(pk=draft.pk)
    assert (job.state, job.attempts) == ("failed", 1) and "planned anew" in job.failure
    assert not SEARCHES.jobs().exists()
    assert building.left(draft.dataset) == Decimal(1)
