"""A session that a password alone has opened opens nothing any more once its person has a second factor."""

from __future__ import annotations

import pytest
from django.urls import reverse

from dpportal.accounts.factors import totp
from dpportal.accounts.models import AuditEntry, AuthenticatorApp, PersonSession, RecoveryCode
from dpportal.accounts.session_store import stored_key
from dpportal.api.models import ApiToken

TOKEN = {"name": "nightly", "scope": "release", "limit": "0.5", "days": "30"}
STEP = "accounts:second_step"
PAGES = ("/", "/datasets/", "/account/second-factors/", "/account/tokens/", "/account/password/", "/no/such/")


@pytest.fixture
def old(desk, curator):
    """A browser of the curator, signed in before there was a factor."""
    browser = type(desk)()
    browser.types_password()
    assert browser.get("/datasets/").status_code == 200
    return browser


@pytest.fixture
def left(desk, curator, app):
    """A browser in which the password alone was given, though there is a factor: as one from before this was asked."""
    browser = type(desk)()
    browser.force_login(curator)
    return browser


def test_the_first_factor_ends_all_sessions_but_the_one_that_set_it_up(desk, curator, other_curator, old):
    stranger = type(desk)()
    stranger.force_login(other_curator)
    desk.types_password()
    desk.sets_up_app()
    assert desk.get("/datasets/").status_code == 200
    assert [each.pk for each in curator.sessions.all()] == [stored_key(desk.session.session_key)]
    assert old.get("/datasets/").url == "/account/sign-in/?next=/datasets/"
    old.post("/account/tokens/", TOKEN)
    old.post(reverse("accounts:remove_factor"), {"which": "app"})
    assert AuthenticatorApp.objects.exists() and not ApiToken.objects.exists()
    assert stranger.get("/datasets/").status_code == 200
    assert AuditEntry.objects.filter(by=curator, action="ended sessions", detail="1").exists()


def test_the_session_that_set_it_up_shows_how_it_was_proved(desk, curator):
    desk.types_password()
    desk.sets_up_app()
    assert PersonSession.objects.get(person=curator).how == "code"
    desk.post(reverse("accounts:remove_factor"), {"which": "app"})
    assert not AuthenticatorApp.objects.exists()


@pytest.mark.parametrize("address", PAGES)
def test_without_a_proof_every_page_leads_to_the_second_step(left, app, address):
    assert left.get(address).url == reverse(STEP)
    assert not left.is_in
    assert left.types_code(app.now()).url == address
    assert left.is_in


def test_without_a_proof_nothing_is_made_changed_or_removed(left, curator):
    attempts = {
        "/account/tokens/": TOKEN,
        reverse("accounts:remove_factor"): {"which": "app"},
        reverse("accounts:new_codes"): {},
        reverse("accounts:begin_app"): {},
        reverse("accounts:passkey_options"): {},
        reverse("accounts:display_name"): {"display_name": "Somebody else"},
    }
    before = AuthenticatorApp.objects.values().get(), sorted(RecoveryCode.objects.values_list("digest"))
    for address, form in attempts.items():
        left.force_login(curator)
        assert left.post(address, form).url == reverse(STEP), address
    assert before == (
        AuthenticatorApp.objects.values().get(),
        sorted(RecoveryCode.objects.values_list("digest")),
    )
    assert not ApiToken.objects.exists()
    curator.refresh_from_db()
    assert curator.display_name != "Somebody else"


def test_a_part_of_a_page_has_the_whole_page_loaded_again(left):
    answer = left.get("/datasets/", headers={"HX-Request": "true"})
    assert answer.status_code == 204 and answer["HX-Refresh"] == "true"
    assert left.get("/datasets/").url == reverse(STEP)


def test_a_password_that_somebody_saw_is_not_changed_without_a_proof(left, curator):
    curator.must_change_password = True
    curator.save()
    assert left.get("/account/password/").url == reverse(STEP)


def test_the_way_out_is_open_without_a_proof(left):
    left.post(reverse("accounts:sign_out"))
    assert not left.is_in and left.get(reverse(STEP)).url == reverse("accounts:sign_in")


def test_an_app_that_waits_for_its_first_code_asks_no_session_for_anything(old, curator):
    totp.begin(curator)
    assert old.get("/datasets/").status_code == 200


def test_a_session_by_the_institution_needs_no_other_proof(left, curator):
    session = left.session
    session["how"] = "provider"
    session.save()
    assert left.get("/datasets/").status_code == 200


def test_who_has_none_goes_on_as_before(old):
    assert old.get("/datasets/").status_code == 200
    assert old.post("/account/tokens/", TOKEN).status_code == 200
    assert ApiToken.objects.exists()
