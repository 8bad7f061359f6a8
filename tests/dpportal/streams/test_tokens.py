"""A stream's token opens it for a while, at a bounded rate, and only while its owner may publish."""

from __future__ import annotations

import json
from datetime import timedelta

import pytest
from django.db.models import F
from django.db.models.functions import Now
from django.urls import reverse

from dpportal.accounts import program_tokens
from dpportal.accounts.models import AuditEntry, AuthenticatorApp, FailedSignIn, Role, SecondFactorRule
from dpportal.accounts.recent_sign_in import RECENT_SECONDS
from dpportal.accounts.session_store import BEGAN
from dpportal.streams import services, tokens
from dpportal.streams.models import Period, SealedState, Token

DEMOTED, SWITCHED_OFF = {"role": Role.ANALYST}, {"is_active": False}


@pytest.fixture
def token(stream) -> str:
    return services.renew_token(stream, stream.created_by)


def test_a_token_takes_a_sign_in_that_is_not_long_ago_and_its_person_is_told(client, stream):
    """It lets programs publish for ninety days, as those of the API do."""
    client.force_login(stream.created_by)
    session = client.session
    session[BEGAN] -= RECENT_SECONDS + 1
    session.save()
    page = reverse("streams:token", args=[stream.pk])
    assert client.post(page).status_code == 403 and not Token.objects.exists()
    stream.created_by.refresh_from_db()
    assert not stream.created_by.unseen_changes
    client.force_login(stream.created_by)
    assert client.post(page).status_code == 200 and Token.objects.count() == 1
    stream.created_by.refresh_from_db()
    assert stream.created_by.unseen_changes


def send(client, stream, token: str, period: int = 1):
    body = json.dumps({"period": period, "counts": 2})
    address = reverse("streams:periods", args=[stream.pk])
    return client.post(address, body, "application/json", headers={"Authorization": f"Bearer {token}"})


def change_owner(stream, change) -> None:
    owner = stream.dataset.owner
    for name, value in change.items():
        setattr(owner, name, value)
    owner.save()


def assert_nothing_happened() -> None:
    assert not Period.objects.exists()
    assert SealedState.objects.get().version == 0


@pytest.mark.parametrize("change", [DEMOTED, SWITCHED_OFF], ids=["demoted", "switched off"])
def test_a_token_ends_with_the_office_of_its_owner(client, stream, token, change):
    change_owner(stream, change)
    answer = send(client, stream, token)
    assert answer.status_code == 403
    assert "is not a curator of this portal any more" in answer.json()["error"]
    assert_nothing_happened()


def test_an_owner_who_became_administrator_may_still_publish(client, stream, token):
    change_owner(stream, {"role": Role.ADMINISTRATOR})
    assert send(client, stream, token).status_code == 201


@pytest.mark.slow
def test_a_token_lasts_ninety_days_and_a_new_one_as_long(client, stream, token):
    Token.objects.update(expires_at=F("expires_at") - timedelta(days=89))
    assert send(client, stream, token).status_code == 201
    Token.objects.update(expires_at=F("expires_at") - timedelta(days=1))
    answer = send(client, stream, token, period=2)
    assert answer.status_code == 403
    assert "expired" in answer.json()["error"]
    assert Period.objects.count() == 1
    fresh = services.renew_token(stream, stream.created_by)
    assert send(client, stream, fresh, period=2).status_code == 201


def test_a_token_waits_for_a_second_factor_that_its_person_needs(client, stream, token):
    SecondFactorRule.objects.create(role=Role.CURATOR)
    refused = send(client, stream, token)
    assert refused.status_code == 401 and "needs a second factor" in refused.json()["error"]
    assert_nothing_happened()
    AuthenticatorApp.objects.create(person=stream.token.by, secret="S" * 32)
    assert send(client, stream, token).status_code == 201


def test_a_wrong_token_is_noted_for_the_record(client, stream, token):
    assert send(client, stream, token + "x").status_code == 403
    kept = FailedSignIn.objects.get()
    assert kept.by_token and kept.address == "127.0.0.1"


def test_a_token_without_a_date_has_expired(client, stream, token):
    Token.objects.all().delete()
    assert send(client, stream, token).status_code == 403


@pytest.mark.slow
def test_sixty_requests_a_minute_are_answered(client, stream, token, monkeypatch):
    monkeypatch.setattr(
        program_tokens, "TruncMinute", lambda now, tzinfo: Token.objects.values("expires_at")[:1]
    )
    statuses = [send(client, stream, token).status_code for _ in range(tokens.REQUESTS_PER_MINUTE)]
    assert statuses == [201, *[200] * 59]
    refused = send(client, stream, token, period=2)
    assert refused.status_code == 429
    assert 1 <= int(refused["Retry-After"]) <= 60
    assert f"again in {refused['Retry-After']} seconds" in refused.json()["error"]
    assert Period.objects.count() == 1


@pytest.mark.slow
def test_the_next_minute_counts_from_the_start(client, stream, token):
    send(client, stream, token)
    full = {"requests": tokens.REQUESTS_PER_MINUTE, "minute": F("minute") - timedelta(minutes=1)}
    Token.objects.update(**full)
    assert send(client, stream, token).status_code == 200
    assert Token.objects.get().requests == 1


@pytest.mark.slow
def test_a_minute_that_lies_ahead_locks_nobody_out(client, stream, token):
    Token.objects.update(requests=tokens.REQUESTS_PER_MINUTE, minute=Now())
    Token.objects.update(minute=F("minute") + timedelta(days=1))
    assert send(client, stream, token).status_code == 201


def test_a_wrong_token_uses_up_nothing(client, stream, token):
    send(client, stream, "wrong")
    assert Token.objects.get().used_at is None


def test_a_published_period_is_in_the_record_once(client, stream, token):
    send(client, stream, token)
    send(client, stream, token)
    entry = AuditEntry.objects.get(action="published by token")
    assert (entry.by, entry.subject, entry.detail) == (
        stream.dataset.owner,
        f"stream {stream.pk}",
        "period 1",
    )


@pytest.mark.slow
def test_the_pages_say_until_when_and_when_last(client, stream):
    client.force_login(stream.created_by)
    made = client.post(reverse("streams:token", args=[stream.pk])).text
    day = f"{Token.objects.get().expires_at:%Y}"
    assert "It works until" in made and day in made and "More than 60 requests in a minute" in made
    home = reverse("streams:home", args=[stream.pk])
    assert "It was not used yet." in client.get(home).text
    Token.objects.update(used_at=Now())
    assert "Last used on" in client.get(home).text
    Token.objects.update(expires_at=F("expires_at") - timedelta(days=90))
    assert "It expired on" in client.get(home).text


def test_a_token_opens_a_stream_that_has_come_to_its_end_for_what_is_published(client, stream, token):
    first = [send(client, stream, token, period) for period in range(1, 13)]
    stream.refresh_from_db()
    assert [answer.status_code for answer in first] == [201] * 12 and stream.is_closed
    again = send(client, stream, token, 12)
    assert (again.status_code, again.json()["released"]) == (200, first[-1].json()["released"])
