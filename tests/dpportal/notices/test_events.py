"""What is announced, to whom, and that it holds no number of the data: ended jobs, budgets, added periods."""

from __future__ import annotations

import json
from decimal import Decimal

import pytest
from django.core import mail
from django.db import transaction

from dpportal.accounts.models import OutgoingMail
from dpportal.budgets import ledger, requests
from dpportal.datasets.models import Right, Share
from dpportal.jobs.claims import reset_fields
from dpportal.notices import announcing, services
from dpportal.notices.delivery_job import DELIVERIES
from dpportal.notices.models import Delivery, Webhook
from dpportal.releases import execution
from dpportal.releases.models import ReleaseJob
from dpportal.streams.execution import Update, publish
from dpportal.streams.models import Period
from tests.dpportal.building import deliver_mail, requested_release
from tests.dpportal.notices.conftest import EVERY_KIND, ORIGIN
from tests.dpportal.streams import building as streams

pytestmark = [pytest.mark.django_db, pytest.mark.slow]
HELD = {"release": "releases", "stream": "streams"}


@pytest.fixture
def mailed(settings, curator):
    settings.EMAIL_URL = "smtp://mail.example.org"
    curator.email = "curator@example.org"
    curator.save()
    return curator


def listening(person, *kinds: str) -> Webhook:
    return Webhook.objects.create(
        person=person, address="https://hooks.example/", kinds=list(kinds or EVERY_KIND), origin=ORIGIN
    )


def said() -> list[dict]:
    """What waits to be sent, the oldest first."""
    return [json.loads(body) for body in Delivery.objects.order_by("at").values_list("body", flat=True)]


def test_a_finished_release_is_announced_once_to_who_asked_for_it(dataset, requested, other_curator):
    listening(dataset.owner), listening(other_curator)
    execution.RELEASES.run(requested.pk)
    [event] = said()
    assert event["type"] == "job.finished"
    address = f"{ORIGIN}/releases/{requested.pk}/job/"
    ids = {"dataset": str(dataset.pk), "release": str(requested.pk)}
    assert event["data"] == {**ids, "state": "done", "address": address}
    # Files that are written anew, as with another display name, are no news.
    ReleaseJob.objects.update(**reset_fields())
    execution.RELEASES.run(requested.pk)
    assert len(said()) == 1


def test_a_release_that_failed_is_announced_so(dataset, requested, monkeypatch):
    def refused(*_args) -> None:
        raise execution.JobFailedError("No.")

    listening(dataset.owner)
    monkeypatch.setattr(execution, "measure", refused)
    execution.RELEASES.run(requested.pk)
    assert [event["data"]["state"] for event in said()] == ["failed"]


def test_nothing_is_announced_of_what_did_not_happen(dataset, requested):
    listening(dataset.owner)
    with transaction.atomic():
        execution.RELEASES.run(requested.pk)
        transaction.set_rollback(True)
    assert said() == []


def test_a_budget_that_is_granted_or_declined_is_announced_without_its_amount(dataset, administrator):
    listening(dataset.owner, "budget.decided")
    ledger.grant(dataset, Decimal("0.25"), definition="pure", reason="Yearbook", by=administrator)
    requests.ask(dataset, "More", dataset.owner)
    requests.decline(dataset.budget_requests.get(), "Not now", administrator)
    granted, declined = said()
    assert (granted["data"]["decision"], declined["data"]["decision"]) == ("granted", "declined")
    assert "0.25" not in json.dumps([granted, declined])


def test_added_periods_are_announced_to_who_may_see_them_without_a_count(dataset, other_curator, analyst):
    stream = streams.open_stream(dataset)
    Share.objects.create(dataset=dataset, person=other_curator, right=Right.SEE)
    for person in (dataset.owner, other_curator, analyst):
        listening(person, "period.added")
    publish(stream.pk, [Update(1, (5,), Period.Source.TYPED), Update(2, (7,), Period.Source.TYPED)])
    publish(stream.pk, [Update(2, (9,), Period.Source.TYPED)])
    assert len(said()) == 2
    address = f"{ORIGIN}/streams/{stream.pk}/"
    ids = {"dataset": str(dataset.pk), "stream": str(stream.pk)}
    assert {**ids, "first": 1, "last": 2, "address": address} == said()[0]["data"] == said()[1]["data"]


def test_an_opened_stream_is_announced(dataset):
    listening(dataset.owner, "job.finished")
    stream = streams.open_stream(dataset)
    assert [event["data"]["stream"] for event in said()] == [str(stream.pk)]


def test_a_paused_webhook_hears_nothing_and_others_what_they_chose(dataset, requested):
    services.pause(listening(dataset.owner), True, dataset.owner)
    listening(dataset.owner, "period.added")
    execution.RELEASES.run(requested.pk)
    assert said() == []


def test_a_worker_sends_what_a_release_announced(dataset, hook, receiver):
    _webhook, secret = hook
    release = requested_release(dataset)
    execution.RELEASES.run(release.pk)
    for pk in Delivery.objects.values_list("pk", flat=True):
        DELIVERIES.run(pk)
    assert [request.verified(secret)["data"]["release"] for request in receiver.received] == [str(release.pk)]


def test_mail_comes_about_budgets_until_somebody_says_otherwise(dataset, mailed, administrator):
    execution.RELEASES.run(requested_release(dataset).pk)
    assert announcing.mailed_kinds(mailed) == ["budget.decided"]
    assert not OutgoingMail.objects.exists()
    services.choose_mail(mailed, ["job.finished"], ORIGIN)
    ledger.grant(dataset, Decimal("0.25"), definition="pure", reason="Yearbook", by=administrator)
    assert not OutgoingMail.objects.exists()
    release = requested_release(dataset)
    execution.RELEASES.run(release.pk)
    deliver_mail()
    [message] = mail.outbox
    assert message.to == [mailed.email] and message.subject == "A job of yours has ended."
    assert f"{ORIGIN}/releases/{release.pk}/job/" in message.body
    assert "on the page “Notices” of your account" in message.body
