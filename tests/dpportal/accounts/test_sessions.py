"""A session ends when nobody works in it; nothing of it is kept on the way or in the browser."""

import re
import time
from datetime import timedelta

import pytest
from django.conf import settings
from django.core.exceptions import ImproperlyConfigured
from django.db import OperationalError
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from dpportal.accounts import sessions
from dpportal.accounts.browsers import browser_family
from dpportal.accounts.models import AuditEntry, PersonSession
from dpportal.accounts.recent_sign_in import RECENT_SECONDS
from dpportal.accounts.session_store import BEGAN, SessionStore, stored_key
from dpportal.platform.environment import positive_integer
from dpportal.releases import services
from tests.dpportal.building import PASSWORD

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


@pytest.mark.slow
def test_no_session_lives_longer_than_half_a_day(desk, clock):
    for _ in range(23):
        clock.pass_minutes(30)
        assert desk.get(LIST).status_code == 200
    clock.pass_minutes(31)
    assert desk.get(LIST).url == f"{reverse('accounts:sign_in')}?next={LIST}"


FIREFOX = "Mozilla/5.0 (Windows NT 10.0; Win64; x64; rv:140.0) Gecko/20100101 Firefox/140.0"


@pytest.fixture
def elsewhere(curator):
    """The same curator in a browser at another place."""
    browser = Client(headers={"User-Agent": FIREFOX}, REMOTE_ADDR="203.0.113.77")
    sign_in = {"username": "curator", "password": PASSWORD}
    browser.post(reverse("accounts:sign_in"), sign_in)
    return browser


def test_people_see_where_they_are_signed_in(desk, elsewhere, other_curator):
    Client().force_login(other_curator)
    page = desk.get(reverse("accounts:sessions")).text
    assert page.count("<td>Firefox, Windows</td>") == 1
    assert "203.0.113.0/24" in page and "203.0.113.77" not in page
    assert page.count("(this one)") == 1 and page.count('name="session"') == 1
    assert not any(session.session_key in page for session in PersonSession.objects.all())


def test_what_the_database_keeps_of_a_session_opens_none(desk):
    """Whoever has a copy of the database sends as a cookie what stands there."""
    key = desk.session.session_key
    [session] = PersonSession.objects.all()
    assert key not in str(PersonSession.objects.values())
    thief = Client()
    thief.cookies[settings.SESSION_COOKIE_NAME] = session.session_key
    assert thief.get(reverse("accounts:sessions")).status_code == 302
    assert desk.get(reverse("accounts:sessions")).status_code == 200


def test_whoever_writes_into_the_database_opens_no_session_of_another(desk):
    """What a session holds is signed for its key alone: under one that somebody chose it is empty."""
    [session] = PersonSession.objects.all()
    session.session_key = stored_key("of-my-own-choice")
    session.save(force_insert=True)
    thief = Client()
    thief.cookies[settings.SESSION_COOKIE_NAME] = "of-my-own-choice"
    assert thief.get(reverse("accounts:sessions")).status_code == 302
    assert desk.get(reverse("accounts:sessions")).status_code == 200


def test_whoever_writes_into_the_database_makes_no_session_live_longer(desk, clock):
    PersonSession.objects.update(expire_date=timezone.now() + timedelta(days=900), began_at=None)
    clock.pass_minutes(12 * 60 - 1)
    assert desk.get(LIST).status_code == 200
    PersonSession.objects.update(expire_date=timezone.now() + timedelta(days=900), began_at=None)
    clock.pass_minutes(1)
    assert desk.get(LIST).status_code == 302


def test_a_session_is_ended_from_another_browser(desk, elsewhere, curator):
    [chosen] = re.findall(r'name="session" value="(\w+)"', desk.get(reverse("accounts:sessions")).text)
    desk.post(reverse("accounts:end_session"), {"session": chosen})
    assert elsewhere.get(LIST).status_code == 302
    assert desk.get(LIST).status_code == 200
    assert AuditEntry.objects.filter(by=curator, action="ended sessions").count() == 1


@pytest.mark.slow
def test_all_others_are_ended_at_once(desk, elsewhere, other_curator):
    stranger = Client()
    stranger.force_login(other_curator)
    desk.post(reverse("accounts:end_session"))
    assert [browser.get(LIST).status_code for browser in (desk, elsewhere, stranger)] == [200, 302, 200]


def test_nobody_ends_another_persons_session(desk, other_curator):
    stranger = Client()
    stranger.force_login(other_curator)
    chosen = sessions.public_id(sessions.open_sessions(other_curator).get())
    assert (
        "There was none to end"
        in desk.post(reverse("accounts:end_session"), {"session": chosen}, follow=True).text
    )
    assert stranger.get(LIST).status_code == 200


def test_ending_a_session_asks_for_a_sign_in_just_now(desk, elsewhere):
    session = desk.session
    session[BEGAN] -= RECENT_SECONDS + 1
    session.save()
    assert desk.post(reverse("accounts:end_session")).status_code == 403
    assert elsewhere.get(LIST).status_code == 200


def test_an_administrator_ends_somebodys_sessions_and_is_recorded(desk, elsewhere, curator, administrator):
    office = Client()
    office.force_login(administrator)
    chosen = {"action": "end_sessions", "_selected_action": [curator.pk, administrator.pk]}
    answer = office.post(reverse("admin:accounts_user_changelist"), chosen, follow=True)
    assert "Sessions ended for: curator." in answer.text
    assert [browser.get(LIST).status_code for browser in (desk, elsewhere)] == [302, 302]
    assert AuditEntry.objects.filter(by=administrator, action="ended all sessions", detail="2").count() == 1


def test_signing_out_has_the_browser_forget_what_it_kept(desk):
    assert desk.post(reverse("accounts:sign_out"))["Clear-Site-Data"] == '"cache"'


def test_who_signs_in_next_is_not_told_what_was_for_somebody_else(desk):
    desk.post(reverse("accounts:display_name"), {"display_name": "Ada Lovelace"})
    desk.post(reverse("accounts:sign_out"))
    assert "Ada Lovelace" not in desk.get(reverse("accounts:sign_in")).text


def test_what_has_ended_is_cleared_away(desk, clock):
    clock.pass_minutes(61)
    SessionStore.clear_expired()
    assert not PersonSession.objects.exists()


@pytest.mark.parametrize(
    ("agent", "family"),
    [
        (FIREFOX, "Firefox, Windows"),
        (
            "Mozilla/5.0 (iPhone; CPU iPhone OS 18_0 like Mac OS X) Version/18.0 Mobile Safari/604.1",
            "Safari, iPhone",
        ),
        ("Mozilla/5.0 (Macintosh) AppleWebKit/537.36 Chrome/140.0 Safari/537.36 Edg/140.0", "Edge, macOS"),
        (
            "Mozilla/5.0 (Linux; Android 15) AppleWebKit/537.36 Chrome/140.0 Mobile Safari/537.36",
            "Chrome, Android",
        ),
        ("curl/8 <script>", "Another program"),
    ],
)
def test_a_browser_is_named_coarsely(rf, agent, family):
    assert browser_family(rf.get("/", headers={"User-Agent": agent})) == family


def test_a_page_that_asks_by_itself_prolongs_nothing(desk, clock):
    for minutes, status in ((40, 200), (21, 204)):
        clock.pass_minutes(minutes)
        assert desk.get(LIST, headers={"HX-Request": "true"}).status_code == status


def test_a_part_of_a_page_whose_session_ended_has_the_page_loaded_again(client, db):
    answer = client.get(LIST, headers={"HX-Request": "true"})
    assert (answer.status_code, answer["HX-Refresh"], answer.content) == (204, "true", b"")


@pytest.mark.slow
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
    before = PersonSession.objects.get().expire_date
    desk.get(LIST)
    assert PersonSession.objects.get().expire_date == before


@pytest.mark.parametrize("given", ["0", "-5", "an hour", "1_0", "٣", "1" * 5000])
def test_a_limit_that_is_no_number_is_refused_at_start(monkeypatch, given):
    monkeypatch.setenv("DPPORTAL_SESSION_IDLE_MINUTES", given)
    with pytest.raises(ImproperlyConfigured, match="DPPORTAL_SESSION_IDLE_MINUTES must be a whole number"):
        positive_integer("DPPORTAL_SESSION_IDLE_MINUTES", 60)


@pytest.mark.slow
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


@pytest.mark.slow
def test_what_is_public_may_be_stored_by_strangers(client, ready):
    services.publish(ready, ready.created_by)
    for name, more in (("public", []), ("download", ["release.json"])):
        answer = client.get(reverse(f"releases:{name}", args=[ready.pk, *more]))
        assert answer.status_code == 200
        assert not {"no-store", "private"} & set(answer.get("Cache-Control", "").split(", "))


@pytest.mark.parametrize("address", ["/", "/datasets/", "/account/sign-in/"])
def test_while_the_database_is_away_a_signed_in_person_is_told_to_try_again(curator, monkeypatch, address):
    """Sessions are looked for before any view is called."""
    client = Client(raise_request_exception=False)
    client.force_login(curator)

    def away(_self):
        raise OperationalError

    monkeypatch.setattr(SessionStore, "load", away)
    answer = client.get(address)
    assert (answer.status_code, answer["Retry-After"]) == (503, "10")
    assert "The portal is busy" in answer.text


def test_other_errors_still_have_the_page_of_an_error(curator, monkeypatch):
    client = Client(raise_request_exception=False)
    client.force_login(curator)
    monkeypatch.setattr(SessionStore, "load", lambda _self: 1 / 0)
    assert client.get("/").status_code == 500
