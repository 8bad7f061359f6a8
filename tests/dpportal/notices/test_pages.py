"""Pages of webhooks, mail and hosts: what a curator and an administrator do there, and what is refused."""

from __future__ import annotations

import re

import pytest
from django.urls import reverse

from dpportal.accounts.models import AuditEntry
from dpportal.accounts.recent_sign_in import RECENT_SECONDS
from dpportal.accounts.session_store import BEGAN
from dpportal.notices import announcing
from dpportal.notices.delivery_job import DELIVERIES
from dpportal.notices.models import AllowedHost, Delivery, Webhook
from dpportal.notices.services import MOST_WEBHOOKS

pytestmark = pytest.mark.django_db
PAGE = "/account/notices/"
HOSTS = "/office/webhook-hosts/"


def added(client, address: str, kinds: tuple[str, ...] = ("job.finished",)):
    return client.post(PAGE, {"address": address, "kinds": kinds})


def test_a_webhook_is_added_tested_changed_paused_and_deleted(client, host, receiver, curator):
    client.force_login(curator)
    page = added(client, receiver.address).text
    secret = re.search(r"whsec_[\w+/=]+", page)
    assert secret is not None
    assert secret[0] not in client.get(PAGE).text
    webhook = Webhook.objects.get()
    own = reverse("notices:webhook", args=[webhook.pk])
    client.post(f"{own}test/")
    waiting = Delivery.objects.get()
    assert "A test is on its way" in client.post(f"{own}test/", follow=True).text
    DELIVERIES.run(waiting.pk)
    receiver.received[0].verified(secret[0])
    assert "204" in client.get(own).text and "webhook.test" in client.get(own).text
    client.post(own, {"kinds": ["period.added", "budget.decided"]})
    client.post(f"{own}pause/")
    webhook.refresh_from_db()
    assert (webhook.kinds, webhook.paused) == (["budget.decided", "period.added"], True)
    assert "is paused" in client.post(f"{own}test/", follow=True).text
    client.post(f"{own}pause/")
    assert not Webhook.objects.get().paused
    client.post(f"{own}delete/")
    assert not Webhook.objects.exists() and not Delivery.objects.exists()
    acts = set(AuditEntry.objects.filter(by=curator).values_list("action", flat=True))
    assert acts >= {
        *("added a webhook", "changed a webhook", "paused a webhook", "went on with a webhook"),
        "deleted a webhook",
    }


@pytest.mark.parametrize(
    ("address", "text"),
    [
        ("https://elsewhere.example/", "Ask an administrator to allow this host"),
        ("https://[2001:db8::1]/", "Webhooks may not call [2001:db8::1]:443."),
        ("https://hooks.example:444/", "Ask an administrator to allow this host"),
        ("http://hooks.example/", "Ask an administrator to allow this host"),
        ("hooks.example", "Type a whole web address"),
        ("https://", "Type a whole web address"),
        ("https://hooks.example:x/", "Type a whole web address"),
        ("https://[::1/", "Type a whole web address"),
        ("file:///etc/passwd", "Type a whole web address"),
        ("https://me:secret@hooks.example/", "Leave names, passwords"),
        ("https://hooks.example/#top", "Leave names, passwords"),
    ],
)
def test_addresses_that_may_not_be_called_are_refused(client, curator, administrator, address, text):
    AllowedHost.objects.create(host="hooks.example", by=administrator)
    client.force_login(curator)
    answer = added(client, address)
    assert answer.status_code == 422 and text in answer.text
    assert not Webhook.objects.exists()


def test_a_webhook_takes_a_sign_in_that_is_not_long_ago(client, curator, administrator):
    """Whoever sits down at an open browser has nothing told to a program that would outlast it."""
    AllowedHost.objects.create(host="hooks.example", by=administrator)
    client.force_login(curator)
    session = client.session
    session[BEGAN] -= RECENT_SECONDS + 1
    session.save()
    answer = added(client, "https://hooks.example/")
    assert answer.status_code == 403
    assert f'href="{PAGE}"' in answer.text and "?next=/account/notices/" in answer.text
    assert not Webhook.objects.exists()


def test_a_person_has_so_many_webhooks_at_most(client, curator, administrator):
    AllowedHost.objects.create(host="hooks.example", by=administrator)
    client.force_login(curator)
    for _ in range(MOST_WEBHOOKS):
        assert added(client, "https://hooks.example/").status_code == 200
    assert "the most that one person may have" in added(client, "https://hooks.example/").text


def test_nobody_opens_another_persons_webhook(client, hook, other_curator):
    client.force_login(other_curator)
    own = reverse("notices:webhook", args=[hook[0].pk])
    found = [client.post(f"{own}{act}") for act in ("", "test/", "pause/", "delete/")] + [client.get(own)]
    assert {answer.status_code for answer in found} == {404}
    assert Webhook.objects.exists()


def test_mail_is_chosen_and_none_ends_it(client, settings, curator):
    client.force_login(curator)
    assert "This portal sends no mail." in client.get(PAGE).text
    settings.EMAIL_URL = "smtp://mail.example.org"
    assert announcing.mailed_kinds(curator) == ["budget.decided"]
    client.post(f"{PAGE}mail/", {"kinds": ["job.finished"]})
    assert announcing.mailed_kinds(curator) == ["job.finished"]
    client.post(f"{PAGE}mail/", {})
    assert announcing.mailed_kinds(curator) == []


def test_an_administrator_allows_hosts_and_takes_them_back(client, administrator):
    client.force_login(administrator)
    client.post(HOSTS, {"host": "Hooks.Example", "port": "8443", "private": "on"})
    line = AllowedHost.objects.get()
    assert (line.host, line.port, line.plain, line.private) == ("hooks.example", 8443, False, True)
    again = client.post(HOSTS, {"host": "hooks.example", "port": "8443"})
    assert "allowed already" in again.text
    assert "hooks.example" in client.get(HOSTS).text
    client.post(f"{HOSTS}{line.pk}/removed/")
    assert not AllowedHost.objects.exists()
    written = list(
        AuditEntry.objects.filter(detail__startswith="hooks.example").values_list("detail", flat=True)
    )
    assert sorted(written) == ["hooks.example:8443", "hooks.example:8443, private network"]


@pytest.mark.parametrize("host", ["*", "*.org", "hooks.*", "https://*.example"])
def test_a_wildcard_is_refused_with_a_reason(client, administrator, host):
    client.force_login(administrator)
    answer = client.post(HOSTS, {"host": host, "port": "443"})
    assert answer.status_code == 422 and "would allow hosts that nobody looked at" in answer.text
    assert not AllowedHost.objects.exists()


@pytest.mark.parametrize(
    ("host", "port"), [("a b", "443"), ("", "443"), ("x/y", "443"), ("x.example", "70000")]
)
def test_what_is_no_host_is_refused(client, administrator, host, port):
    client.force_login(administrator)
    assert client.post(HOSTS, {"host": host, "port": port}).status_code == 422
    assert not AllowedHost.objects.exists()


NEVER = [
    "169.254.169.254",
    "0.0.0.0",
    "[fe80::1]",
    "[::]",
    "0",
    "2852039166",
    "224.0.0.1",
    "[::ffff:a9fe:a9fe]",
]
INSIDE = ["localhost", "Localhost.", "x.localhost", "10.0.0.1", "127.1", "0x7f000001", "[::1]", "192.168.1.7"]


@pytest.mark.parametrize("host", NEVER)
def test_an_address_that_is_never_called_is_refused_with_the_reason(client, administrator, host):
    client.force_login(administrator)
    for private in ({}, {"private": "on"}):
        answer = client.post(HOSTS, {"host": host, "port": "443", **private})
        assert answer.status_code == 422 and "is never called" in answer.text
    assert not AllowedHost.objects.exists()


@pytest.mark.parametrize("host", INSIDE)
def test_an_address_inside_is_refused_unless_it_is_said_to_be_meant(client, administrator, host):
    client.force_login(administrator)
    answer = client.post(HOSTS, {"host": host, "port": "443"})
    assert answer.status_code == 422 and "or tick “also in a private network”" in answer.text
    client.post(HOSTS, {"host": host, "port": "443", "private": "on"})
    assert AllowedHost.objects.get().private


@pytest.mark.parametrize("host", ["93.184.216.34", "hooks.example", "face.example", "cafe"])
def test_names_and_addresses_outside_are_allowed(client, administrator, host):
    client.force_login(administrator)
    client.post(HOSTS, {"host": host, "port": "443"})
    assert AllowedHost.objects.get().host == host


def test_curators_do_not_allow_hosts(client, curator):
    client.force_login(curator)
    assert client.post(HOSTS, {"host": "x.example", "port": "443"}).status_code == 404
