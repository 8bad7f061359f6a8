"""A forgotten password is replaced by mail, where the portal sends any."""

import re
from datetime import timedelta

import pytest
from django.core import mail
from django.core.exceptions import ImproperlyConfigured
from django.db import connection
from django.db.models import F
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from dpportal.accounts import delivery, mailing, tasks
from dpportal.accounts.models import AuditEntry, OutgoingMail
from dpportal.platform.mail import MailServer
from tests.dpportal.building import deliver_mail

NEW_PASSWORD = "a much better horse staple"
ADDRESS = "curator@example.org"


@pytest.fixture
def known(settings, curator):
    """A portal that sends mail, and a curator with an address."""
    settings.EMAIL_URL = "smtp://localhost"
    curator.email = ADDRESS
    curator.save()
    return curator


def ask(client, address: str = ADDRESS):
    answer = client.post(reverse("accounts:forgotten"), {"email": address}, follow=True)
    deliver_mail()
    return answer


def links() -> list[str]:
    """Of all mail, the paths to choose a password at."""
    return re.findall(r"http://testserver(/account/password/\S+)", "".join(m.body for m in mail.outbox))


def link() -> str:
    return links()[-1]


def replace(client, path: str, password: str = NEW_PASSWORD):
    page = client.get(path, follow=True)
    form = {"new_password1": password, "new_password2": password}
    return client.post(page.request["PATH_INFO"], form, follow=True)


def test_without_mail_there_is_no_link_and_no_page(client, curator):
    assert reverse("accounts:forgotten") not in client.get(reverse("accounts:sign_in")).text
    for name in ("forgotten", "forgotten_sent"):
        assert client.get(reverse(f"accounts:{name}")).status_code == 404
    spent = client.get(reverse("accounts:replace", args=["MQ", "x"])).text
    assert "Ask an administrator for a new one." in spent and "Have a new one sent" not in spent


def test_a_link_from_the_mail_replaces_the_password_once(client, known):
    assert reverse("accounts:forgotten") in client.get(reverse("accounts:sign_in")).text
    assert "Look into your mail" in ask(client).text
    assert "Password changed" in replace(client, link()).text
    known.refresh_from_db()
    assert known.check_password(NEW_PASSWORD)
    assert "This link was used before" in client.get(link(), follow=True).text


def test_an_unknown_address_gets_the_same_answer_and_no_mail(client, known):
    token = re.compile(r'value="\w{64}"')
    there, nowhere = (token.sub("", ask(client, to).text) for to in (ADDRESS, "nobody@example.org"))
    assert there == nowhere
    assert len(links()) == 1


def test_one_mail_in_ten_minutes_however_often_it_is_asked_for(client, known):
    for _ in range(3):
        ask(client)
    assert len(links()) == 1
    AuditEntry.objects.update(at=F("at") - timedelta(minutes=10))
    ask(client)
    assert len(links()) == 2


def test_a_switched_off_account_gets_none(client, known):
    known.is_active = False
    known.save()
    ask(client)
    assert not mail.outbox


def test_a_weak_password_is_refused_by_the_link_too(client, known):
    ask(client)
    assert "Nothing was saved yet" in replace(client, link(), "12345678").text


def test_the_request_does_the_same_for_every_address(client, known):
    """Whoever measures the time of the answer learns nothing: nobody is looked up before a worker does it."""
    statements = []
    for address in (ADDRESS, "nobody@example.org"):
        with CaptureQueriesContext(connection) as captured:
            client.post(reverse("accounts:forgotten"), {"email": address})
        statements.append([re.sub(r"'[^']*'|\d+", "?", query["sql"]) for query in captured])
    assert statements[0] == statements[1]
    assert not any("accounts_user" in sql for sql in statements[0])
    assert not mail.outbox


def test_no_link_lies_in_the_database(client, known):
    client.post(reverse("accounts:forgotten"), {"email": ADDRESS})
    assert "password" not in repr(OutgoingMail.objects.values().get())
    deliver_mail()
    assert not OutgoingMail.objects.exists()


def test_a_lost_message_loses_no_mail(client, known, monkeypatch):
    """The hint never came: the sweep finds the mail after half a minute, and two workers send it once."""
    hinted = []
    monkeypatch.setattr("dpportal.accounts.tasks.send.delay", hinted.append)
    client.post(reverse("accounts:forgotten"), {"email": ADDRESS})
    tasks.sweep()
    assert hinted == []
    OutgoingMail.objects.update(due_at=F("due_at") - timedelta(seconds=31))
    tasks.sweep()
    tasks.sweep()
    assert len(hinted) == 2
    for mail_id in hinted:
        tasks.send(mail_id)
    assert len(links()) == 1


def test_a_mail_server_that_is_away_is_asked_again_later(client, known, monkeypatch):
    def away(_message) -> None:
        raise ConnectionRefusedError

    client.post(reverse("accounts:forgotten"), {"email": ADDRESS})
    waiting = OutgoingMail.objects.get()
    with monkeypatch.context() as broken:
        broken.setattr("django.core.mail.EmailMessage.send", away)
        for _ in range(2):
            delivery.deliver(waiting.pk)
    waiting.refresh_from_db()
    assert waiting.attempts == 1
    OutgoingMail.objects.update(due_at=F("due_at") - timedelta(minutes=2))
    delivery.deliver(waiting.pk)
    assert len(links()) == 1


def test_strangers_fill_no_table(client, known, monkeypatch):
    monkeypatch.setattr(mailing, "WAITING_RESETS", 2)
    for number in range(3):
        client.post(reverse("accounts:forgotten"), {"email": f"n{number}@example.org"})
    assert OutgoingMail.objects.count() == 2


@pytest.mark.parametrize(
    "address, host, port, user",
    [
        ("smtp://relay", "relay", 25, ""),
        ("smtp+tls://a%40b.org:p%2Fw@mail.b.org", "mail.b.org", 587, "a@b.org"),
        ("smtps://u:p@mail.b.org:2465", "mail.b.org", 2465, "u"),
    ],
)
def test_an_address_of_a_server_is_read(address, host, port, user):
    server = MailServer.of(address)
    assert (server.host, server.port, server.user) == (host, port, user)


@pytest.mark.parametrize(
    "address", ["mail.b.org", "http://b.org", "smtp://", "smtp://h:port", "smtp://h:99999"]
)
def test_an_address_of_no_server_is_refused_with_an_example(address):
    with pytest.raises(ImproperlyConfigured, match="must be like smtp"):
        MailServer.of(address)


def test_a_refusal_does_not_repeat_the_password():
    with pytest.raises(ImproperlyConfigured) as refused:
        MailServer.of("imap://user:hidden@host")
    assert "hidden" not in str(refused.value)


def test_mail_needs_a_sender():
    assert MailServer.of("smtp://a%40b.org:p@b.org").sender("") == "a@b.org"
    with pytest.raises(ImproperlyConfigured, match="DPPORTAL_EMAIL_FROM"):
        MailServer.of("smtp://b.org").sender("")
