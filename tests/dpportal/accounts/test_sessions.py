"""A session ends when nobody works in it; nothing of it is kept on the way or in the browser."""

import time
from datetime import timedelta

import pytest
from django.contrib.sessions.models import Session
from django.core.exceptions import ImproperlyConfigured
from django.urls import reverse
from django.utils import timezone

from dpportal.accounts import sessions
from dpportal.environment import whole_number
from dpportal.releases import services

LIST = "/datasets/"


class Clock:
    """The portal's clock, moved forward by hand."""

    def __init__(self) -> None:
        self.ahead = timedelta()

    def pass_minutes(self, minutes: int) -> None:
        self.ahead += timedelta(minutes=minutes)


@pytest.fixture
def clock(monkeypatch):
    clock, now, seconds = Clock(), timezone.now, time.time
    monkeypatch.setattr("django.utils.timezone.now", lambda: now() + clock.ahead)
    monkeypatch.setattr(sessions.time, "time", lambda: seconds() + clock.ahead.total_seconds())
    return clock


@pytest.fixture
def desk(client, curator):
    """A curator who has just opened a page."""
    client.force_login(curator)
    client.get(LIST)
    return client


def test_an_hour_without_a_request_ends_a_session(desk, clock):
    clock.pass_minutes(59)
    assert desk.get(LIST).status_code == 200
    clock.pass_minutes(61)
    assert desk.get(LIST).url == f"{reverse('accounts:sign_in')}?next={LIST}"


def test_work_prolongs_a_session(desk, clock):
    for _ in range(3):
        clock.pass_minutes(40)
        assert desk.get(LIST).status_code == 200


def test_a_page_that_asks_by_itself_prolongs_nothing(desk, clock):
    for minutes, status in ((40, 200), (21, 204)):
        clock.pass_minutes(minutes)
        assert desk.get(LIST, headers={"HX-Request": "true"}).status_code == status


def test_a_part_of_a_page_whose_session_ended_has_the_page_loaded_again(client, db):
    answer = client.get(LIST, headers={"HX-Request": "true"})
    assert (answer.status_code, answer["HX-Refresh"], answer.content) == (204, "true", b"")


@pytest.mark.parametrize(
    ("page", "back"),
    [
        ("http://testserver/datasets/?page=2", "/datasets/%3Fpage%3D2"),
        ("http://elsewhere.example/datasets/", "/"),
        ("//elsewhere.example/", "/"),
        ("", "/"),
    ],
)
def test_who_sends_a_form_too_late_returns_to_its_page(client, ready, page, back):
    """The form's own address shows nothing: it only takes what is sent."""
    address = reverse("releases:rename", args=[ready.pk])
    answer = client.post(address, {"title": "Too late"}, headers={"Referer": page})
    assert answer.url == f"{reverse('accounts:sign_in')}?next={back}"
    assert "Nothing was saved: your session had ended." in client.get(answer.url).content.decode()
    ready.refresh_from_db()
    assert ready.title != "Too late"


def test_not_every_request_writes(desk):
    before = Session.objects.get().expire_date
    desk.get(LIST)
    assert Session.objects.get().expire_date == before


@pytest.mark.parametrize("given", ["0", "-5", "an hour", "1_0", "٣", "1" * 5000])
def test_a_limit_that_is_no_number_is_refused_at_start(monkeypatch, given):
    monkeypatch.setenv("DPPORTAL_SESSION_IDLE_MINUTES", given)
    with pytest.raises(ImproperlyConfigured, match="DPPORTAL_SESSION_IDLE_MINUTES must be a whole number"):
        whole_number("DPPORTAL_SESSION_IDLE_MINUTES", 60)


def test_nothing_of_a_signed_in_person_is_stored(client, ready):
    client.force_login(ready.dataset.owner)
    addresses = [
        LIST,
        reverse("releases:public", args=[ready.pk]),
        reverse("releases:compare", args=[ready.pk]),
        reverse("releases:download", args=[ready.pk, "release.json"]),
        reverse("accounts:sign_in"),
        "/no/such/page/",
    ]
    for address in addresses:
        assert client.get(address)["Cache-Control"] == "no-store, private", address


def test_what_is_public_may_be_stored_by_strangers(client, ready):
    services.publish(ready, ready.created_by)
    for name, more in (("public", []), ("download", ["release.json"])):
        answer = client.get(reverse(f"releases:{name}", args=[ready.pk, *more]))
        assert answer.status_code == 200
        assert "Cache-Control" not in answer
