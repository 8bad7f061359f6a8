"""Deliveries as a worker makes them: signed, once where it works, again with the same id where it does not."""

from __future__ import annotations

import json
from datetime import timedelta

import pytest
from standardwebhooks import WebhookVerificationError

from dpportal.accounts.models import Role
from dpportal.jobs import claims
from dpportal.jobs.claims import JobState
from dpportal.notices import delivery_job, hosts, services
from dpportal.notices.delivery_job import DELIVERIES, PAUSES
from dpportal.notices.models import Delivery, Webhook
from dpportal.operations.sweeping import sweep_files
from tests.dpportal.building import run_when_due

pytestmark = pytest.mark.django_db


@pytest.fixture
def waiting(hook) -> Delivery:
    return services.test(hook[0])


def tried(delivery: Delivery) -> Delivery:
    """After one more attempt of a worker."""
    assert run_when_due(DELIVERIES, delivery.pk)
    return Delivery.objects.get(pk=delivery.pk)


def test_a_delivery_is_signed_as_the_library_of_standard_webhooks_expects(hook, receiver, waiting):
    webhook, secret = hook
    done = tried(waiting)
    [request] = receiver.received
    said = request.verified(secret)
    assert (done.state, done.status, done.tries) == (JobState.DONE, 204, 1)
    assert (request.path, request.id) == ("/portal?who=me", str(waiting.pk))
    assert said["type"] == "webhook.test"
    address = f"https://portal.example/account/notices/webhooks/{webhook.pk}/"
    assert said["data"] == {"webhook": str(webhook.pk), "address": address}
    request.body += b" "
    with pytest.raises(WebhookVerificationError):
        request.verified(secret)


def test_what_is_not_taken_is_sent_again_later_with_the_same_id_and_words(hook, receiver, waiting):
    receiver.statuses = [500, 302, 200]
    first, second, third = (tried(waiting) for _ in range(3))
    assert [first.fault, second.fault] == ["The receiver answered 500.", "The receiver answered 302."]
    assert (first.state, second.state, third.state) == (JobState.QUEUED, JobState.QUEUED, JobState.DONE)
    assert first.hinted_at < second.hinted_at
    # The answer 302 led nowhere: nothing else was asked for.
    assert {(r.path, r.id, r.body) for r in receiver.received} == {
        ("/portal?who=me", str(waiting.pk), waiting.body.encode())
    }
    assert len(receiver.received) == 3 and third.tries == 3


def test_it_is_not_due_before_its_pause_is_over(receiver, waiting):
    receiver.statuses = [500]
    tried(waiting)
    assert not DELIVERIES.run(waiting.pk)
    assert len(receiver.received) == 1


@pytest.mark.slow
def test_it_is_given_up_after_the_stated_tries(receiver, waiting):
    receiver.statuses = [503]
    for _ in range(len(PAUSES)):
        assert tried(waiting).state == JobState.QUEUED
    last = tried(waiting)
    assert (last.state, last.tries) == (JobState.FAILED, len(PAUSES) + 1)
    assert last.shown_fault == "The receiver answered 503. It was tried 8 times."


def test_all_that_waits_for_a_receiver_is_put_off_with_what_it_did_not_take(hook, receiver, waiting):
    receiver.statuses = [500]
    webhook, _secret = hook
    other = Delivery.objects.create(webhook=webhook, kind="job.finished", body="{}")
    tried(waiting)
    assert not DELIVERIES.run(other.pk)


def test_a_receiver_that_is_gone_is_not_called_again(hook, receiver, waiting):
    receiver.statuses = [410]
    assert tried(waiting).state == JobState.FAILED
    assert Webhook.objects.get().paused


@pytest.mark.slow
def test_a_receiver_that_hangs_holds_a_worker_for_a_bounded_time(receiver, waiting, monkeypatch):
    monkeypatch.setattr("dpportal.notices.outbound.STEP_SECONDS", 0.1)
    receiver.free.clear()
    delivery = tried(waiting)
    assert (delivery.state, delivery.fault) == (JobState.QUEUED, "The host did not answer in time.")


def test_a_receiver_that_is_not_there_is_tried_again(hook, waiting, names):
    names["hooks.example"] = ["127.0.0.2"]
    assert tried(waiting).fault == "The host could not be reached, or broke off."
    names["hooks.example"] = ["nowhere.invalid"]
    assert tried(waiting).fault == "The name of the host leads nowhere."


def test_a_worker_that_dies_after_sending_has_it_sent_again_with_the_same_id(receiver, waiting, monkeypatch):
    """The first worker sleeps for ever once it has sent; its lease ends, and the next one sends."""

    def killed(*_args: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as dead, pytest.raises(KeyboardInterrupt):
        dead.setattr(delivery_job, "_answered", killed)
        DELIVERIES.run(waiting.pk)
    assert Delivery.objects.get().state == JobState.RUNNING
    Delivery.objects.update(lease_until=claims.db_ago(1), hinted_at=claims.db_ago(3600))
    hinted: list[object] = []
    claims.sweep(Delivery.objects.all(), hinted.append, DELIVERIES.give_up)
    assert DELIVERIES.run(waiting.pk)
    assert [r.id for r in receiver.received] == [str(waiting.pk)] * 2
    assert Delivery.objects.get().state == JobState.DONE


@pytest.mark.parametrize("change", ["paused", "role", "inactive"])
def test_nothing_is_sent_for_who_does_not_want_or_may_not_hear(hook, receiver, waiting, curator, change):
    if change == "paused":
        services.pause(hook[0], True, curator)
    else:
        curator.role = Role.ANALYST if change == "role" else curator.role
        curator.is_active = change != "inactive"
        curator.save()
    assert tried(waiting).state == JobState.CANCELLED
    assert receiver.received == []


def test_a_host_that_is_not_allowed_any_more_is_not_called(host, administrator, receiver, waiting):
    hosts.forbid(host, administrator)
    ended = tried(waiting)
    assert ended.state == JobState.FAILED and "Ask an administrator to allow this host" in ended.failure
    assert receiver.received == []


@pytest.mark.parametrize(
    "addresses", [["127.0.0.1"], ["93.184.216.34", "10.0.0.1"], ["::ffff:127.0.0.1"], ["169.254.169.254"]]
)
def test_a_name_that_leads_inside_is_refused_after_it_was_looked_up(
    host, receiver, waiting, names, addresses
):
    type(host).objects.update(private=False)
    names["hooks.example"] = addresses
    ended = tried(waiting)
    assert ended.state == JobState.FAILED and "leads into a private network" in ended.failure
    assert receiver.received == []


def test_the_name_is_looked_up_once_so_that_it_cannot_lead_elsewhere_afterwards(
    receiver, waiting, monkeypatch
):
    import socket

    answers = iter([[(socket.AF_INET, socket.SOCK_STREAM, 6, "", ("127.0.0.1", receiver.port))]])
    real = socket.getaddrinfo

    def once(host, *args, **kwargs):
        return next(answers) if host == "hooks.example" else real(host, *args, **kwargs)

    monkeypatch.setattr(socket, "getaddrinfo", once)
    assert tried(waiting).state == JobState.DONE
    assert len(receiver.received) == 1


def test_a_name_that_leads_inside_only_when_it_is_asked_again_is_called_where_it_was_checked(
    host, receiver, waiting, monkeypatch
):
    """DNS rebinding: public for the check, the machine itself for the connection."""
    import socket

    type(host).objects.update(private=False)
    real, lookups, called = socket.getaddrinfo, [], []

    def rebound(name, port, *args, **kwargs):
        if name != "hooks.example":
            return real(name, port, *args, **kwargs)
        lookups.append(name)
        address = "93.184.216.34" if len(lookups) == 1 else "127.0.0.1"
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (address, port))]

    def connected(place, *_args, **_kwargs):
        called.append(place)
        raise ConnectionRefusedError

    monkeypatch.setattr(socket, "getaddrinfo", rebound)
    monkeypatch.setattr(socket, "create_connection", connected)
    assert tried(waiting).state == JobState.QUEUED  # nobody answers there, so it is sent again later
    assert called == [("93.184.216.34", receiver.port)] and len(lookups) == 1
    assert receiver.received == []


def test_proxies_of_the_environment_are_not_used(receiver, waiting, monkeypatch):
    for name in ("http_proxy", "HTTP_PROXY", "all_proxy"):
        monkeypatch.setenv(name, "http://127.0.0.1:1")
    assert tried(waiting).state == JobState.DONE


def test_http_is_used_only_where_an_administrator_wrote_it(host, waiting, receiver):
    type(host).objects.update(plain=False)
    assert "https only" in tried(waiting).failure
    assert receiver.received == []


@pytest.mark.slow
def test_deliveries_that_ended_long_ago_are_forgotten(waiting):
    done = tried(waiting)
    sweep_files()
    assert Delivery.objects.exists()
    Delivery.objects.update(at=done.at - timedelta(days=31))
    sweep_files()
    assert not Delivery.objects.exists()


def test_a_dump_shows_neither_secret_nor_address(hook):
    from django.core import serializers

    webhook, secret = hook
    dumped = json.dumps(serializers.serialize("python", Webhook.objects.all()), default=str)
    assert secret not in dumped and "hooks.example" not in dumped and str(webhook.pk) in dumped
