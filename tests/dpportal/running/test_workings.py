"""What plans search for: by workers, once, whoever asks; a page never works it out."""

from __future__ import annotations

from functools import partial

import pytest
from django.conf import settings
from django.urls import reverse

from dpportal.releases.models import Optimisation
from dpportal.releases.products.queries import strategies
from dpportal.releases.tasks import find_strategy
from dpportal.running import heartbeat, jobs, questions, queues, workings
from dpportal.running.jobs import JobState
from dpportal.running.workings import Shelf, Working
from mechanisms import workings as searching
from mechanisms.accounting import Definition
from mechanisms.continual.windows import best_layers
from mechanisms.domain import Domain, Integer
from mechanisms.histogram.tree import Tree, best_tree
from mechanisms.protocol import PlanError
from mechanisms.workings import NotWorkedOutError, taken_from
from tests.dpportal import building

pytestmark = pytest.mark.django_db
LONG = ("ranges", 600, Definition.PURE)


def asked() -> Shelf:
    """A page that needs a large tree, and goes without."""
    shelf = Shelf()
    with taken_from(shelf), pytest.raises(NotWorkedOutError):
        best_tree(*LONG)
    return shelf


def test_what_is_asked_twice_is_worked_out_once_and_is_the_same():
    first, second = asked(), asked()
    assert first.awaited == second.awaited == [Working.objects.get().pk]
    workings.work_out(first.awaited[0])
    with taken_from(Shelf()):
        assert best_tree(*LONG) == best_tree(*LONG)
        found = best_tree(*LONG)
    assert found == best_tree(*LONG) and isinstance(found, Tree)
    assert Working.objects.count() == 1


def test_what_takes_a_moment_is_not_asked():
    with taken_from(Shelf()):
        best_tree("ranges", 100, Definition.PURE)
        best_layers(30, False)
    assert not Working.objects.exists()


def test_a_killed_worker_leaves_it_to_another():
    key = asked().awaited[0]
    lost = jobs.claim(Working, key)
    Working.objects.filter(pk=key).update(lease_until="2020-01-01T00:00Z", hinted_at="2020-01-01T00:00Z")
    building.a_worker_lives()
    hinted = []
    jobs.sweep(Working, hinted.append, lambda pk, reason: None)
    assert hinted == [key]
    workings.work_out(key)
    assert Working.objects.get().state == JobState.DONE
    with pytest.raises(jobs.LostClaimError):
        lost.write(answer=[1])


def test_what_cannot_be_worked_out_says_why():
    shelf = Shelf()
    with pytest.raises(NotWorkedOutError):
        shelf.result(best_layers.name, best_layers.version, [5000, False])
    Working.objects.update(state=JobState.FAILED, failure="It is too long.", finished_at="2100-01-01T00:00Z")
    with pytest.raises(ValueError, match="too long"):
        Shelf().result(best_layers.name, best_layers.version, [5000, False])


def test_the_page_polls_until_all_is_there_and_says_if_no_worker_is(client, curator):
    client.force_login(curator)
    key = asked().awaited[0]
    address = f"{reverse('workings')}?key={key}"
    waiting = client.get(address)
    assert "no worker is running" in waiting.text and "HX-Trigger" not in waiting.headers
    building.a_worker_lives()
    assert "being worked out" in client.get(address).text
    workings.work_out(key)
    done = client.get(address)
    assert done.headers["HX-Trigger"] == "strategies:found" and "hx-get" not in done.text


def test_the_key_says_what_is_asked_and_nothing_else():
    asked()
    question = Working.objects.get().question
    assert question == {
        "kind": "histogram-tree",
        "version": 1,
        "arguments": ["ranges", 600, "pure"],
    }
    assert questions.key_of(question) == Working.objects.get().pk


def test_a_search_that_takes_minutes_makes_way_for_what_a_page_waits_for():
    key = asked().awaited[0]
    question = strategies.question(
        "p-identity", Domain((Integer("x", lower=1, upper=9),)), 'ranges("x")', Definition.PURE
    )
    search = questions.ask(Optimisation, question, find_strategy)
    strategies.work_out(search.key)
    assert Working.objects.get(pk=key).state == JobState.DONE
    assert Optimisation.objects.get().state == JobState.DONE


def test_an_answer_that_cannot_be_read_is_searched_for_again():
    key = asked().awaited[0]
    Working.objects.update(state=JobState.DONE, answer=7, attempts=3, queued_at="2020-01-01T00:00Z")
    assert asked().awaited == [key]
    assert not heartbeat.waited_longer(60, [queues.WORK])
    workings.work_out(key)
    with taken_from(Shelf()):
        assert isinstance(best_tree(*LONG), Tree)


def test_what_its_own_code_cannot_read_is_not_searched_for_without_end(monkeypatch):
    key = asked().awaited[0]
    monkeypatch.setattr(best_tree, "_read", lambda _written: 1 / 0)
    for _ in range(settings.JOB_ATTEMPTS):
        workings.work_out(key)
    jobs.sweep(Working, print, partial(questions.give_up, Working))
    with taken_from(Shelf()), pytest.raises(PlanError, match="interrupted 3 times"):
        best_tree(*LONG)


def test_what_another_version_found_is_not_taken_and_goes(monkeypatch):
    before = asked().awaited[0]
    workings.work_out(before)
    monkeypatch.setattr(best_tree, "version", 2)
    monkeypatch.setitem(searching._searches, (best_tree.name, 2), best_tree)
    after = asked().awaited[0]
    assert after != before
    workings.work_out(after)
    assert [row.pk for row in Working.objects.all()] == [after]


def test_what_failed_and_is_asked_after_a_day_has_not_waited_since():
    """Or idle workers take themselves for deaf, and end."""
    asked()
    long_ago = "2020-01-01T00:00Z"
    Working.objects.update(
        state=JobState.FAILED, queued_at=long_ago, finished_at=long_ago, hinted_at=long_ago
    )
    asked()
    assert Working.objects.get().state == JobState.QUEUED
    assert not heartbeat.waited_longer(60, [queues.WORK])
    assert Working.objects.get().elapsed.total_seconds() < 60


def test_every_search_has_a_name_and_a_version():
    with pytest.raises(ValueError, match="a kind and a version"):
        questions.key_of({"search": "mechanisms.histogram.tree._best_tree", "arguments": []})
    names = [name for name, _version in searching._searches]
    assert names and not any("." in name for name in names)
