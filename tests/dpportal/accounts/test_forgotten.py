"""A forgotten password is replaced by mail, where the portal sends any."""

import itertools
import re
import socket
from datetime import timedelta
from smtplib import SMTPRecipientsRefused

import pytest
from django.conf import settings
from django.core import mail
from django.core.exceptions import ImproperlyConfigured
from django.core.mail import BadHeaderError
from django.db import connection
from django.db.models import F
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from dpportal.accounts import delivery, mailing, reset_limits, tasks
from dpportal.accounts.models import MailHint, OutgoingMail, ResetRequest
from dpportal.operations.sweeping import sweep_files
from dpportal.platform.mail import MailServer
from tests.dpportal import building
from tests.dpportal.building import age_record, deliver_mail

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
    age_record(minutes=10)
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


@pytest.fixture
def messages(monkeypatch) -> list[None]:
    """One for each message that would be in the queue; no worker takes them."""
    sent: list[None] = []
    monkeypatch.setattr("dpportal.accounts.tasks.send_waiting.delay", lambda: sent.append(None))
    return sent


def write_mail(count: int) -> None:
    OutgoingMail.objects.bulk_create(
        OutgoingMail(to=f"n{number}@example.org", subject="A notice", text="x") for number in range(count)
    )


def a_lease_passes() -> None:
    MailHint.objects.update(hinted_at=F("hinted_at") - timedelta(seconds=settings.JOB_LEASE_SECONDS + 1))


def test_much_mail_waits_for_one_message(known, messages, django_capture_on_commit_callbacks):
    """However many ask, and however long no worker comes, jobs wait behind one message."""
    for number in range(30):
        with django_capture_on_commit_callbacks(execute=True):
            mailing.request_reset(f"n{number}@example.org", "http://testserver", f"192.0.2.{number}")
    assert OutgoingMail.objects.count() == 30
    for _ in range(20):
        a_lease_passes()
        tasks.sweep()
    assert len(messages) == 1


def test_a_lost_message_loses_no_mail(known, messages):
    """The sweep sends another one, once a lease while a worker lives."""
    building.a_worker_lives()
    write_mail(2)
    for _ in range(3):
        tasks.sweep()
    assert len(messages) == 1
    a_lease_passes()
    for _ in range(3):
        tasks.sweep()
    assert len(messages) == 2
    for _ in messages:
        tasks.send_waiting()
    assert len(mail.outbox) == 2
    tasks.sweep()
    assert len(messages) == 2


def test_a_batch_that_takes_long_lets_jobs_pass(known, messages, monkeypatch):
    """What it leaves waits for a message of its own, which is behind those of all jobs that wait by then."""
    write_mail(3)
    clock = itertools.count(step=delivery.BATCH_SECONDS * 0.4)
    monkeypatch.setattr(delivery.time, "monotonic", lambda: next(clock))
    tasks.send_waiting()
    assert (len(mail.outbox), len(messages)) == (2, 1)
    tasks.send_waiting()
    assert (len(mail.outbox), len(messages)) == (3, 1)


def test_a_mail_server_that_is_away_is_asked_again_later(client, known, monkeypatch):
    def away(_message) -> None:
        raise ConnectionRefusedError

    client.post(reverse("accounts:forgotten"), {"email": ADDRESS})
    waiting = OutgoingMail.objects.get()
    with monkeypatch.context() as broken:
        broken.setattr("django.core.mail.EmailMessage.send", away)
        for _ in range(2):
            assert not delivery.deliver_due()
    waiting.refresh_from_db()
    assert waiting.attempts == 1
    for times in (OutgoingMail, MailHint):
        field = "due_at" if times is OutgoingMail else "hinted_at"
        times.objects.update(**{field: F(field) - timedelta(minutes=2)})
    delivery.deliver_due()
    assert len(links()) == 1


def test_a_mail_server_that_hangs_holds_up_no_worker(known, messages, settings, monkeypatch):
    """One message waits for it, and is interrupted; the others, and later batches, do not ask it again."""
    monkeypatch.setattr(delivery, "INTERRUPTED_AFTER_SECONDS", 0.5)
    write_mail(5)
    with socket.create_server(("127.0.0.1", 0)) as silent:
        settings.EMAIL_BACKEND = "django.core.mail.backends.smtp.EmailBackend"
        settings.EMAIL_HOST, settings.EMAIL_PORT = silent.getsockname()
        settings.EMAIL_TIMEOUT = 20
        for _ in range(3):
            tasks.send_waiting()
        building.a_worker_lives()
        tasks.sweep()
    assert sorted(OutgoingMail.objects.values_list("attempts", flat=True)) == [0, 0, 0, 0, 1]
    assert messages == []


@pytest.mark.parametrize("fault", [SMTPRecipientsRefused({}), BadHeaderError("A line break.")])
def test_one_address_that_is_refused_keeps_no_other_waiting(known, monkeypatch, fault):
    def refused(message) -> None:
        if message.to == ["n0@example.org"]:
            raise fault
        mail.outbox.append(message)

    monkeypatch.setattr("django.core.mail.EmailMessage.send", refused)
    write_mail(3)
    assert not delivery.deliver_due()
    assert [message.to for message in mail.outbox] == [["n1@example.org"], ["n2@example.org"]]
    assert OutgoingMail.objects.get().attempts == 1


def from_one_of_64(client, number: int, address: str):
    """A request from one of a customer's addresses."""
    return client.post(
        reverse("accounts:forgotten"), {"email": address}, REMOTE_ADDR=f"2001:db8:1:2::{number:x}"
    )


def test_a_network_asks_so_often_and_not_more(client, known):
    """Counted from the address that sign-in's tries are counted for; others ask on."""
    for number in range(reset_limits.FROM_NETWORK + 5):
        from_one_of_64(client, number, f"n{number}@example.org")
    assert OutgoingMail.objects.count() == ResetRequest.objects.count() == reset_limits.FROM_NETWORK
    ask(client)
    assert len(links()) == 1


def test_for_an_address_is_asked_so_often_and_not_more(known):
    for number in range(reset_limits.FOR_ADDRESS + 5):
        mailing.request_reset(ADDRESS.upper() if number % 2 else ADDRESS, "http://x", f"192.0.2.{number}")
    assert OutgoingMail.objects.count() == reset_limits.FOR_ADDRESS


def test_a_quarter_of_an_hour_later_a_network_asks_again(client, known):
    for number in range(reset_limits.FROM_NETWORK):
        from_one_of_64(client, number, f"n{number}@example.org")
    ResetRequest.objects.update(at=F("at") - timedelta(seconds=reset_limits.WINDOW_SECONDS + 1))
    from_one_of_64(client, 1, ADDRESS)
    assert OutgoingMail.objects.filter(to=ADDRESS).exists()
    assert ResetRequest.objects.count() == 1


def test_nobody_is_remembered_for_longer(client, known):
    from_one_of_64(client, 1, ADDRESS)
    sweep_files()
    assert ResetRequest.objects.exists()
    ResetRequest.objects.update(at=F("at") - timedelta(seconds=reset_limits.WINDOW_SECONDS + 1))
    sweep_files()
    assert not ResetRequest.objects.exists()


def test_beyond_the_limit_the_request_does_and_says_the_same(client, known, monkeypatch):
    answers, statements = [], []
    for limit in (reset_limits.FROM_NETWORK, 0):
        monkeypatch.setattr(reset_limits, "FROM_NETWORK", limit)
        with CaptureQueriesContext(connection) as captured:
            answers.append(client.post(reverse("accounts:forgotten"), {"email": ADDRESS}))
        statements.append([re.sub(r"'[^']*'|\d+", "?", query["sql"]) for query in captured])
    assert statements[0] == statements[1]
    assert [answer.status_code for answer in answers] == [302, 302]
    assert answers[0]["Location"] == answers[1]["Location"]
    assert OutgoingMail.objects.count() == 1


def test_strangers_fill_no_table(known, monkeypatch):
    monkeypatch.setattr(reset_limits, "MOST_WAITING", 2)
    for number in range(3):
        mailing.request_reset(f"n{number}@example.org", "http://x", f"192.0.2.{number}")
    assert OutgoingMail.objects.count() == ResetRequest.objects.count() == 2


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
