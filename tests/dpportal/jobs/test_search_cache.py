"""What plans search for: by workers, once, whoever asks; a page never works it out."""

from __future__ import annotations

from dataclasses import replace

import pytest
from django.conf import settings
from django.urls import reverse

from dpportal.jobs import claims, heartbeat, memoised, queues, search_cache
from dpportal.jobs.claims import JobState
from dpportal.jobs.memoised import StoredQuestion
from dpportal.jobs.search_cache import SEARCHES, SearchResults
from dpportal.releases.products.queries import strategies
from mechanisms import deferred_search as searching
from mechanisms.accounting import Definition
from mechanisms.continual.windows import best_layers
from mechanisms.deferred_search import PendingSearchError, taken_from
from mechanisms.domain import Domain, Integer
from mechanisms.linear.tree import Tree, best_tree
from mechanisms.protocol import PlanError
from tests.dpportal import building

pytestmark = pytest.mark.django_db
LONG = ("ranges", 600, Definition.PURE)


def asked() -> SearchResults:
    """A page that needs a large tree, and goes without."""
    store = SearchResults()
    with taken_from(store), pytest.raises(PendingSearchError):
        best_tree(*LONG)
    return store


def test_what_is_asked_twice_is_worked_out_once_and_is_the_same():
    first, second = asked(), asked()
    assert first.awaited == second.awaited == [SEARCHES.jobs().get().pk]
    search_cache.SEARCHES.run(first.awaited[0])
    with taken_from(SearchResults()):
        assert best_tree(*LONG) == best_tree(*LONG)
        found = best_tree(*LONG)
    assert found == best_tree(*LONG) and isinstance(found, Tree)
    assert SEARCHES.jobs().count() == 1


def test_the_answer_of_another_question_is_not_taken():
    """Not even where somebody put it under this question's key."""
    key = asked().awaited[0]
    search_cache.SEARCHES.run(key)
    stored = SEARCHES.jobs().get()
    other = {**stored.question, "arguments": ["ranges", 599, "pure"]}
    SEARCHES.jobs().filter(pk=key).update(question=other, answer=[1.0])
    assert list(memoised.swapped()) == [key]
    assert asked().awaited == [key]
    assert SEARCHES.jobs().get().question == stored.question and not list(memoised.swapped())


def test_what_takes_a_moment_is_not_asked():
    with taken_from(SearchResults()):
        best_tree("ranges", 100, Definition.PURE)
        best_layers(30, False)
    assert not SEARCHES.jobs().exists()


def test_a_killed_worker_leaves_it_to_another():
    key = asked().awaited[0]
    lost = claims.claim(StoredQuestion, key)
    SEARCHES.jobs().filter(pk=key).update(lease_until="2020-01-01T00:00Z", hinted_at="2020-01-01T00:00Z")
    building.a_worker_lives()
    hinted = []
    claims.sweep(SEARCHES.jobs(), hinted.append, lambda pk, reason: None)
    assert hinted == [key]
    search_cache.SEARCHES.run(key)
    assert SEARCHES.jobs().get().state == JobState.DONE
    with pytest.raises(claims.LostClaimError):
        lost.write(answer=[1])


def test_a_worker_of_a_question_that_was_deleted_and_asked_again_is_late():
    """The new row has the same key, and its first claim another fence."""
    (key,) = asked().awaited
    late = claims.claim(StoredQuestion, key)
    SEARCHES.jobs().filter(pk=key).delete()
    assert asked().awaited == [key]
    claims.claim(StoredQuestion, key)
    with pytest.raises(claims.LostClaimError):
        late.write(answer=[1])


def test_what_cannot_be_worked_out_says_why():
    store = SearchResults()
    with pytest.raises(PendingSearchError):
        store.result(best_layers.name, best_layers.version, [5000, False])
    SEARCHES.jobs().update(state=JobState.FAILED, failure="It is too long.", finished_at="2100-01-01T00:00Z")
    with pytest.raises(ValueError, match="too long"):
        SearchResults().result(best_layers.name, best_layers.version, [5000, False])


def test_the_page_polls_until_all_is_there_and_says_if_no_worker_is(client, curator):
    client.force_login(curator)
    key = asked().awaited[0]
    address = f"{reverse('search_progress')}?key={key}"
    waiting = client.get(address)
    assert "no worker is running" in waiting.text and "HX-Trigger" not in waiting.headers
    building.a_worker_lives()
    assert "being worked out" in client.get(address).text
    search_cache.SEARCHES.run(key)
    done = client.get(address)
    assert done.headers["HX-Trigger"] == "strategies:found" and "hx-get" not in done.text


def test_the_key_says_what_is_asked_and_nothing_else():
    asked()
    question = SEARCHES.jobs().get().question
    assert question == {
        "kind": "histogram-tree",
        "version": 1,
        "arguments": ["ranges", 600, "pure"],
    }
    assert memoised.key_of(question) == SEARCHES.jobs().get().pk


def test_a_search_that_takes_minutes_makes_way_for_what_a_page_waits_for():
    key = asked().awaited[0]
    question = strategies.question(
        "p-identity", Domain((Integer("x", lower=1, upper=9),)), 'ranges("x")', Definition.PURE
    )
    search = strategies.STRATEGIES.ask(question)
    strategies.STRATEGIES.run(search.key)
    assert SEARCHES.jobs().get(pk=key).state == JobState.DONE
    assert strategies.STRATEGIES.jobs().get().state == JobState.DONE


def test_an_answer_that_cannot_be_read_is_searched_for_again():
    key = asked().awaited[0]
    SEARCHES.jobs().update(state=JobState.DONE, answer=7, attempts=3, queued_at="2020-01-01T00:00Z")
    assert asked().awaited == [key]
    assert not heartbeat.waited_longer(60, [queues.WORK])
    search_cache.SEARCHES.run(key)
    with taken_from(SearchResults()):
        assert isinstance(best_tree(*LONG), Tree)


def test_what_its_own_code_cannot_read_is_not_searched_for_without_end(monkeypatch):
    key = asked().awaited[0]
    unreadable = replace(best_tree._form, read=lambda _written: 1 / 0)
    monkeypatch.setattr(best_tree, "_form", unreadable)
    for _ in range(settings.JOB_ATTEMPTS):
        search_cache.SEARCHES.run(key)
    SEARCHES.sweep()
    with taken_from(SearchResults()), pytest.raises(PlanError, match="interrupted 3 times"):
        best_tree(*LONG)


def test_what_another_version_found_is_not_taken_and_goes(monkeypatch):
    before = asked().awaited[0]
    search_cache.SEARCHES.run(before)
    monkeypatch.setattr(best_tree, "version", 2)
    monkeypatch.setitem(searching._searches, (best_tree.name, 2), best_tree)
    after = asked().awaited[0]
    assert after != before
    search_cache.SEARCHES.run(after)
    assert [row.pk for row in SEARCHES.jobs()] == [after]


def test_what_failed_and_is_asked_after_a_day_has_not_waited_since():
    """Or idle workers take themselves for deaf, and end."""
    asked()
    long_ago = "2020-01-01T00:00Z"
    SEARCHES.jobs().update(
        state=JobState.FAILED, queued_at=long_ago, finished_at=long_ago, hinted_at=long_ago
    )
    asked()
    assert SEARCHES.jobs().get().state == JobState.QUEUED
    assert not heartbeat.waited_longer(60, [queues.WORK])
    assert SEARCHES.jobs().get().elapsed.total_seconds() < 60


def test_every_search_has_a_name_and_a_version():
    with pytest.raises(ValueError, match="a kind and a version"):
        memoised.key_of({"search": "mechanisms.linear.tree._best_tree", "arguments": []})
    names = [name for name, _version in searching._searches]
    assert names and not any("." in name for name in names)


@pytest.mark.parametrize("newer", [1, -1])
def test_what_code_of_another_version_asked_is_neither_answered_nor_failed(newer):
    """As while machines are brought up to date, or back, one after the other: it is asked again, for who knows it."""
    asked()
    row = SEARCHES.jobs().get()
    SEARCHES.jobs().update(question={**row.question, "version": row.question["version"] + newer})
    domain = Domain((Integer("x", lower=1, upper=9),))
    strategy = strategies.question("p-identity", domain, 'ranges("x")', Definition.PURE)
    other = strategies.STRATEGIES.ask({**strategy, "version": strategy["version"] + newer})
    SEARCHES.run(row.pk)
    strategies.STRATEGIES.run(other.pk)
    assert not StoredQuestion.objects.exists()
    SEARCHES.run(asked().awaited[0])
    assert SEARCHES.jobs().get().state == JobState.DONE
