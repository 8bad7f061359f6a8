"""Programs of whoever the institution has not let in for long wait; of whoever is switched off they stop at once."""

from __future__ import annotations

import json
from datetime import timedelta

import pytest
from django.db.models import F
from django.test import Client
from django.urls import reverse

from dpportal.accounts.models import ProviderIdentity, User
from dpportal.notices import announcing
from dpportal.notices.delivery_job import DELIVERIES
from dpportal.notices.events import Event, EventKind
from dpportal.notices.models import Delivery, Webhook
from dpportal.streams import services as streams
from tests.dpportal.accounts.provider.test_signing_in import CURATOR, knows, sign_in
from tests.dpportal.api.calling import Program
from tests.dpportal.streams import building

EVENT = Event(EventKind.BUDGET, {}, path="/", subject="Answer", text="Granted")


@pytest.fixture
def staff(curator) -> User:
    """The curator, who has no other way in than the institution's sign-in."""
    ProviderIdentity.objects.create(person=curator, issuer="https://id.example", subject="s")
    curator.set_unusable_password()
    curator.save()
    return curator


def days_later(days: int) -> None:
    ProviderIdentity.objects.update(seen_at=F("seen_at") - timedelta(days=days))


def test_a_token_of_the_api_waits_and_says_what_to_do(staff):
    program = Program(staff)
    days_later(29)
    program.said("get", "/datasets")
    days_later(2)
    answer = program.said("get", "/datasets", status=401)
    assert "has not signed in by their institution for 30 days" in answer["detail"]
    days_later(-31)
    program.said("get", "/datasets")


def test_the_number_of_days_is_the_site_s(staff, settings):
    program = Program(staff)
    settings.PROVIDER_DAYS = 7
    days_later(8)
    assert "for 7 days" in program.said("get", "/datasets", status=401)["detail"]


def test_whoever_has_a_password_needs_no_institution(staff):
    program = Program(staff)
    staff.set_password("correct horse battery staple")
    staff.save()
    days_later(400)
    program.said("get", "/datasets")


def test_a_streams_token_waits(client, dataset, staff):
    stream = building.open_stream(dataset)
    token = streams.renew_token(stream, staff)
    address = reverse("streams:periods", args=[stream.pk])
    body = json.dumps({"period": 1, "counts": 2})
    days_later(31)
    sent = {"content_type": "application/json", "headers": {"Authorization": f"Bearer {token}"}}
    answer = client.post(address, body, **sent)
    assert answer.status_code == 401 and "sign in to the portal" in answer.json()["error"]
    assert not stream.periods.exists()
    days_later(-31)
    assert client.post(address, body, **sent).status_code == 201


@pytest.mark.parametrize("how", ["lapsed", "switched off"])
def test_webhooks_are_told_of_nothing(staff, how):
    hook = Webhook.objects.create(
        person=staff,
        address="https://a.example",
        secret="s",
        kinds=[EventKind.BUDGET],
        origin="https://p.example",
    )
    waiting = announcing.deliver(hook, EVENT)
    days_later(31 * (how == "lapsed"))
    staff.is_active = how == "lapsed"
    staff.save()
    announcing.announce(EVENT, [staff])
    assert list(Delivery.objects.all()) == [waiting]
    DELIVERIES.run(waiting.pk)
    waiting.refresh_from_db()
    assert waiting.state == "cancelled"


def test_whoever_is_switched_off_has_no_programs_any_more(client, dataset, staff):
    program = Program(staff)
    staff.is_active = False
    staff.save()
    program.said("get", "/datasets", status=401)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_signing_in_by_the_institution_lets_programs_go_on(client, provider):
    knows(provider, "e9", CURATOR)
    sign_in(client, "e9")
    program = Program(User.objects.get())
    days_later(31)
    program.said("get", "/datasets", status=401)
    sign_in(Client(), "e9")
    program.said("get", "/datasets")
