"""Asking for a ranking in the wizard."""

from __future__ import annotations

from decimal import Decimal

import pytest

from dpportal.releases import advice, services
from dpportal.releases.models import Advice
from dpportal.running.jobs import JobState


@pytest.fixture
def asked(draft) -> Advice:
    return services.ask_advice(draft, Decimal("0.1"), "ranges")


def test_the_same_question_is_asked_once(draft, asked) -> None:
    assert services.ask_advice(draft, Decimal("0.1"), "ranges") == asked
    assert Advice.objects.count() == 1


def test_another_purpose_is_another_question(draft, asked) -> None:
    assert services.ask_advice(draft, Decimal("0.1"), "cells") != asked


def test_a_worker_answers_it(asked) -> None:
    advice.work_out(asked.key)
    asked.refresh_from_db()
    assert asked.state == JobState.DONE
    assert "laplace-histogram" in [line["mechanism"] for line in asked.ranking]


def test_the_page_shows_progress_then_the_ranking(draft, asked, client) -> None:
    client.force_login(draft.created_by)
    question = {"amount": "0.1", "purpose": "ranges"}
    waiting = client.post(f"/releases/{draft.pk}/method/advice/", question).content.decode()
    advice.work_out(asked.key)
    done = client.post(f"/releases/{draft.pk}/method/advice/", question).content.decode()
    assert "<progress" in waiting and "Noisy histogram, Laplace" in done


def test_a_cost_that_is_no_number_is_said_so(draft, client) -> None:
    client.force_login(draft.created_by)
    page = client.post(f"/releases/{draft.pk}/method/advice/", {"amount": "0.1+0.2", "purpose": "cells"})
    assert "Write one plain number" in page.content.decode()


def test_nothing_of_the_data_is_in_the_question(asked) -> None:
    assert set(asked.question) == {"domain", "loss", "purpose", "people", "methods", "shapes"}
