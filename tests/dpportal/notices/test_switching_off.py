"""A receiver that takes nothing: how much waits for it, and when it is switched off."""

from __future__ import annotations

import pytest
from django.urls import reverse

from dpportal.accounts.models import OutgoingMail, User
from dpportal.jobs import claims
from dpportal.jobs.claims import JobState
from dpportal.notices import announcing, hosts, services, switching_off
from dpportal.notices.delivery_job import DELIVERIES
from dpportal.notices.events import Event, EventKind
from dpportal.notices.models import Delivery, Webhook
from tests.dpportal.building import run_when_due

pytestmark = pytest.mark.django_db
DAY = 24 * 3600.0
EVENT = Event(EventKind.PERIOD, {"first": 1}, "/", "", "")


@pytest.fixture
def webhook(hook) -> Webhook:
    return hook[0]


def failing_for(days: float) -> None:
    Webhook.objects.update(failing_since=claims.db_ago(days * DAY))


def tried(webhook: Webhook) -> Webhook:
    """After one more message that a worker tried to send."""
    assert run_when_due(DELIVERIES, announcing.deliver(webhook, EVENT).pk)
    return Webhook.objects.get()


def test_of_too_many_that_wait_the_oldest_are_given_up_and_the_page_says_so(
    client, curator, webhook, monkeypatch
):
    monkeypatch.setattr(switching_off, "MOST_WAITING", 3)
    sent = [announcing.deliver(webhook, EVENT).pk for _ in range(5)]
    states = dict(Delivery.objects.values_list("pk", "state"))
    assert [states[pk] for pk in sent] == [JobState.FAILED] * 2 + [JobState.QUEUED] * 3
    assert not DELIVERIES.run(sent[0])  # what was given up is not sent
    client.force_login(curator)
    page = client.get(reverse("notices:webhook", args=[webhook.pk])).text
    assert "3 messages wait." in page and "2 messages were given up: 3 wait at most" in page


def test_what_is_being_sent_is_not_given_up(webhook, monkeypatch):
    monkeypatch.setattr(switching_off, "MOST_WAITING", 1)
    first = announcing.deliver(webhook, EVENT)
    Delivery.objects.update(state=JobState.RUNNING)
    announcing.deliver(webhook, EVENT)
    assert Delivery.objects.get(pk=first.pk).state == JobState.RUNNING


def test_one_that_takes_nothing_for_days_is_switched_off_with_mail(
    client, curator, webhook, receiver, settings
):
    settings.EMAIL_URL = "smtp://mail.example"
    User.objects.filter(pk=curator.pk).update(email="ana@portal.example")
    receiver.statuses = [500]
    assert (tried(webhook).failing_since is not None, tried(webhook).paused) == (True, False)
    failing_for(switching_off.OFF_AFTER_DAYS - 0.1)
    assert not tried(webhook).paused and not OutgoingMail.objects.exists()
    failing_for(switching_off.OFF_AFTER_DAYS + 0.1)
    assert tried(webhook).paused
    mail = OutgoingMail.objects.get()
    assert (mail.to, mail.subject) == ("ana@portal.example", "A webhook of yours is switched off")
    assert "took no message for 3 days" in mail.text and str(webhook.pk) in mail.text
    client.force_login(curator)
    own = reverse("notices:webhook", args=[webhook.pk])
    assert "Switched off: it has taken no message since" in client.get(own).text
    client.post(f"{own}pause/")
    went_on = Webhook.objects.get()
    assert (went_on.paused, went_on.failing_since) == (False, None)


def test_one_that_takes_a_message_begins_anew(webhook, receiver):
    failing_for(switching_off.OFF_AFTER_DAYS + 1)
    went_on = tried(webhook)
    assert (went_on.paused, went_on.failing_since) == (False, None)


def test_one_whose_host_is_not_allowed_any_more_is_switched_off_as_well(host, administrator, webhook):
    hosts.forbid(host, administrator)
    failing_for(switching_off.OFF_AFTER_DAYS + 1)
    assert tried(webhook).paused


def test_a_pause_by_its_person_sends_no_mail(curator, webhook, settings):
    settings.EMAIL_URL = "smtp://mail.example"
    services.pause(webhook, True, curator)
    assert not OutgoingMail.objects.exists()
