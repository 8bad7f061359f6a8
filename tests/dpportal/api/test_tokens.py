"""Tokens: made, shown once, limited, revoked, recorded; what each scope opens, and what nothing opens."""

from __future__ import annotations

import re
from datetime import timedelta

import pytest
from django.db.models import F
from django.db.models.functions import Now
from django.utils import timezone

from dpportal.accounts import sign_ins
from dpportal.accounts.models import AuditEntry, AuthenticatorApp, FailedSignIn, Role, SecondFactorRule
from dpportal.accounts.recent_sign_in import RECENT_SECONDS
from dpportal.accounts.session_store import BEGAN
from dpportal.api import tokens
from dpportal.api.models import ApiToken, Scope
from tests.dpportal.api.calling import BASE, Program

PAGE = "/account/tokens/"
FORM = {"name": "nightly", "scope": "release", "limit": "0.5", "days": "30"}


def test_a_token_is_shown_once_and_stored_as_a_digest(client, curator):
    client.force_login(curator)
    made = client.post(PAGE, FORM).text
    [text] = set(re.findall(r"dpp_[\w-]{30,}", made))
    assert text not in client.get(PAGE).text
    token = ApiToken.objects.get()
    assert token.sha256 not in made and tokens.working_token(text) == token
    assert "0 of ε 0.50" in client.get(PAGE).text
    assert AuditEntry.objects.get(action="made a token").detail == "release ε 0.50"


def test_a_revoked_token_opens_nothing(client, program, curator):
    client.force_login(curator)
    program.said("get", "/datasets")
    client.post(f"{PAGE}{program.token.pk}/revoke/")
    refused = program.send("get", "/datasets")
    assert refused.status_code == 401 and refused["WWW-Authenticate"] == "Bearer"
    assert refused["Content-Type"] == "application/problem+json"
    assert refused.json()["detail"].startswith("This token was revoked.")
    assert AuditEntry.objects.filter(action="revoked a token").count() == 1


def test_nobody_revokes_the_token_of_another(client, program, other_curator):
    client.force_login(other_curator)
    assert client.post(f"{PAGE}{program.token.pk}/revoke/").status_code == 404
    assert program.again().works


def test_a_token_ends_with_its_day_and_with_its_person_s_role(client, program, curator):
    ApiToken.objects.update(expires_at=timezone.now() - timedelta(seconds=1))
    refused = program.send("get", "/datasets")
    assert (refused.status_code, refused["WWW-Authenticate"]) == (401, "Bearer")
    day = timezone.localdate(ApiToken.objects.get().expires_at).isoformat()
    assert refused.json()["detail"].startswith(f"This token expired on {day}. Make another one")
    assert not FailedSignIn.objects.exists()
    client.force_login(curator)
    assert "Expired" in client.get(PAGE).text
    ApiToken.objects.update(expires_at=timezone.now() + timedelta(days=1))
    curator.role = Role.ANALYST
    curator.save()
    assert program.send("get", "/datasets").status_code == 401


def test_a_token_waits_for_a_second_factor_that_its_person_needs(program, curator):
    SecondFactorRule.objects.create(role=Role.CURATOR)
    said = program.said("get", "/datasets", None, 401)
    assert "needs a second factor" in said["detail"]
    AuthenticatorApp.objects.create(person=curator, secret="S" * 32)
    program.said("get", "/datasets")


def test_a_wrong_token_is_recorded_once_a_minute_without_what_was_sent(client, db):
    for text in ("dpp_mine-by-mistake", "another"):
        for address in (f"{BASE}/datasets", f"{BASE}/releases"):
            answer = client.get(address, headers={"Authorization": f"Bearer {text}"})
            assert answer.status_code == 401
    kept = FailedSignIn.objects.get()
    FailedSignIn.objects.update(at=kept.at - timedelta(minutes=1))
    sign_ins.enter_failed()
    line = AuditEntry.objects.get()
    assert (line.by, line.action) == (None, "failed to sign in")
    assert line.detail.startswith("with a token that nobody has, from 127.0.0.1, 20")


def test_a_session_opens_nothing(client, curator):
    client.force_login(curator)
    assert client.get(f"{BASE}/datasets").status_code == 401


def test_a_program_that_asks_too_often_is_told_when_to_go_on(program):
    assert program.send("get", "/datasets").status_code == 200
    assert program.again().used_at is not None
    ApiToken.objects.update(requests=tokens.REQUESTS_PER_MINUTE, minute=Now())
    # Whatever second it is: the minute before has room again.
    refused = program.send("get", "/datasets")
    if refused.status_code == 429:
        assert 1 <= int(refused["Retry-After"]) <= 60 and refused.json()["status"] == 429
    ApiToken.objects.update(minute=F("minute") - timedelta(minutes=1))
    assert program.send("get", "/datasets").status_code == 200


@pytest.mark.parametrize("scope", Scope)
def test_a_scope_opens_its_part(curator, dataset, scope):
    program = Program(curator, scope)
    needed = [
        (Scope.READ, "get", f"/datasets/{dataset.pk}", None),
        (Scope.RELEASE, "post", "/releases", {"dataset": str(dataset.pk)}),
        (Scope.ADMINISTER, "put", f"/datasets/{dataset.pk}/declaration", {}),
    ]
    for wanted, method, path, said in needed:
        opened = program.send(method, path, said).status_code < 400
        assert opened == scope.opens(wanted), (wanted, method, path)


@pytest.mark.parametrize(
    ("wrong", "text"),
    [
        ({"name": ""}, "Give the token a name."),
        ({"limit": ""}, "Say how much may be spent by this token in all."),
        ({"days": "366"}, "less than or equal to 365"),
    ],
)
def test_a_token_that_cannot_be_made_says_why(client, curator, wrong, text):
    client.force_login(curator)
    answer = client.post(PAGE, {**FORM, **wrong})
    assert answer.status_code == 422 and text in answer.text
    assert not ApiToken.objects.exists()


def test_only_curators_have_tokens(client, analyst, administrator):
    for person in (analyst, administrator):
        client.force_login(person)
        assert client.get(PAGE).status_code == 404


def test_a_token_takes_a_sign_in_that_is_not_long_ago(client, curator):
    """Whoever sits down at an open browser makes none that would outlast it."""
    client.force_login(curator)
    session = client.session
    session[BEGAN] -= RECENT_SECONDS + 1
    session.save()
    assert client.post(PAGE, FORM).status_code == 403
    assert not ApiToken.objects.exists()


def test_a_token_that_is_made_is_told_its_person_by_mail(client, curator):
    client.force_login(curator)
    client.post(PAGE, FORM)
    curator.refresh_from_db()
    assert curator.unseen_changes
