"""Whose language a page has: the person's, else the cookie's, else the browser's; programs read English."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from django.core import mail
from django.test import Client
from django.urls import reverse
from django.utils.translation import override

from dpportal.accounts import delivery, mailing, reset_links
from dpportal.accounts.models import User
from dpportal.catalogue import snapshot
from tests.dpportal.building import PASSWORD

CHINESE = {"Accept-Language": "zh-CN,zh;q=0.9,en;q=0.5"}
pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def english_afterwards() -> Iterator[None]:
    """A request of the test client leaves its language behind."""
    with override("en"):
        yield


def language(client: Client, address: str = "/", **more: dict[str, str]) -> str:
    """What the page says of itself."""
    answer = client.get(address, **more)
    return answer.content.decode().split('<html lang="', 1)[1].split('"', 1)[0]


def choose(client: Client, code: str, back: str = "http://testserver/guide/") -> str:
    """Where the switch leads to."""
    answer = client.post(reverse("accounts:language"), {"language": code}, headers={"Referer": back})
    assert answer.status_code == 302
    return str(answer["Location"])


def test_a_stranger_reads_what_the_browser_prefers_or_the_cookie_says(client: Client) -> None:
    assert (language(client), language(client, headers=CHINESE)) == ("en", "zh-hans")
    assert choose(client, "en") == "/guide/"
    assert language(client, headers=CHINESE) == "en"
    choose(client, "zh-hans")
    assert language(client) == "zh-hans"


def test_a_persons_choice_is_kept_with_the_person(curator: User) -> None:
    first, elsewhere = Client(), Client()
    first.force_login(curator)
    choose(first, "zh-hans")
    elsewhere.force_login(curator)
    assert language(elsewhere, reverse("datasets:list")) == "zh-hans"
    curator.refresh_from_db()
    assert curator.language == "zh-hans"


def test_the_switch_needs_no_token_and_takes_nothing_else(curator: User) -> None:
    careful = Client(enforce_csrf_checks=True)
    assert choose(careful, "zh-hans", "https://elsewhere.example/guide/") == "/"
    for path in ("//elsewhere.example/", "/\\elsewhere.example/"):
        assert choose(careful, "zh-hans", f"http://testserver{path}") == "/"
    assert choose(careful, "xx") == "/guide/"
    assert careful.cookies["language"].value == "zh-hans"
    assert careful.get(reverse("accounts:language")).status_code == 405


def test_nothing_on_the_way_may_keep_a_page_for_readers_of_another_language(client: Client) -> None:
    for address in ("/", reverse("catalogue"), reverse("guide")):
        answer = client.get(address, headers=CHINESE)
        assert answer["Content-Language"] == "zh-hans"
        assert {"Accept-Language", "Cookie"} <= {part.strip() for part in answer["Vary"].split(",")}


def test_programs_are_told_english_but_for_what_goes_wrong(client: Client) -> None:
    choose(client, "zh-hans")
    problem = client.get("/api/v1/datasets")
    assert problem.json()["detail"].startswith("Send a token") and problem["Content-Language"] == "en"
    named = client.get("/api/v1/datasets", headers=CHINESE)
    assert "令牌" in named.json()["detail"] and named["Content-Language"] == "zh-hans"
    assert "Accept-Language" in named["Vary"]
    assert (
        "Published with differential privacy" in client.get(reverse("feed"), headers=CHINESE).content.decode()
    )
    assert client.get(reverse("feed"), headers=CHINESE)["Content-Language"] == "en"


def test_the_switch_names_each_other_language_by_itself(client: Client) -> None:
    page = client.get("/").content.decode()
    assert 'lang="zh-hans">中文</button>' in page
    assert 'lang="en">English</button>' in client.get("/", headers=CHINESE).content.decode()


def test_mail_is_in_the_language_of_who_gets_it(curator: User, settings) -> None:
    settings.EMAIL_URL = "smtp://mail.example"
    User.objects.filter(pk=curator.pk).update(email="ana@portal.example", language="zh-hans")
    text = "The answer for the dataset “Adults”: Enough for a year."
    mailing.write(["ana@portal.example", "ben@portal.example"], "Your budget is granted", text)
    delivery.deliver_due()
    said = {message.to[0]: (message.subject, message.body) for message in mail.outbox}
    assert said["ben@portal.example"] == ("Your budget is granted", text)
    subject, body = said["ana@portal.example"]
    assert "预算" in subject and "Adults" in body and "Enough for a year." in body and "dataset" not in body


def test_mail_to_who_chose_none_is_in_the_language_of_the_last_sign_in(client, curator, settings) -> None:
    settings.EMAIL_URL = "smtp://mail.example"
    User.objects.filter(pk=curator.pk).update(email="ana@portal.example")

    def sent() -> list[str]:
        mail.outbox.clear()
        mailing.write(["ana@portal.example"], "Your budget is granted", "")
        delivery.deliver_due()
        curator.refresh_from_db()
        return [
            message.subject
            for message in (*mail.outbox, reset_links.message(curator, "https://portal.example"))
        ]

    def signs_in(**headers: str) -> None:
        form = {"username": curator.username, "password": PASSWORD}
        assert Client().post(reverse("accounts:sign_in"), form, headers=headers).status_code == 302

    english = sent()
    signs_in(**CHINESE)
    chinese = sent()
    assert not set(english) & set(chinese) and all(not subject.isascii() for subject in chinese)
    signs_in(**{"Accept-Language": "en", "Cookie": "language=zh-hans"})
    assert sent() == chinese
    signs_in(**{"Accept-Language": "fr"})
    assert sent() == english
    User.objects.filter(pk=curator.pk).update(language="zh-hans")
    assert sent() == chinese


def test_of_two_with_one_address_a_choice_counts_before_a_browser(curator, other_curator, settings) -> None:
    settings.EMAIL_URL = "smtp://mail.example"
    User.objects.update(email="office@portal.example", browser_language="zh-hans")
    User.objects.filter(pk=other_curator.pk).update(language="en")
    mailing.write(["office@portal.example"], "Your budget is granted", "")
    delivery.deliver_due()
    assert [message.subject for message in mail.outbox] == ["Your budget is granted"]


def broken(*_: object, **__: object) -> None:
    raise RuntimeError("for the test")


@pytest.mark.parametrize("whose", ["the browser's", "a cookie's", "a person's"])
def test_what_went_wrong_and_who_tried_too_often_are_told_in_the_readers_language(
    curator: User, monkeypatch: pytest.MonkeyPatch, whose: str
) -> None:
    client, named = Client(raise_request_exception=False), {}
    if whose == "the browser's":
        named = {"headers": CHINESE}
    elif whose == "a cookie's":
        choose(client, "zh-hans")
    else:
        User.objects.filter(pk=curator.pk).update(language="zh-hans")
        client.force_login(curator)
    monkeypatch.setattr(snapshot, "current", broken)
    page = client.get(reverse("catalogue"), **named)
    assert page.status_code == 500 and '<html lang="zh-hans">' in page.text
    assert "Something broke" not in page.text and "系统出现故障" in page.text
    if whose == "a person's":  # who signs in is not known yet
        return
    tried = {"username": "curator", "password": "wrong"}
    answers = [client.post(reverse("accounts:sign_in"), tried, **named) for _ in range(20)]
    last = answers[-1]
    assert last.status_code == 429 and int(last["Retry-After"]) > 0
    assert '<html lang="zh-hans">' in last.text and "Too many" not in last.text and "分钟后" in last.text


def test_a_fault_is_told_to_a_program_in_the_language_it_names(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(snapshot, "current", broken)
    client = Client(raise_request_exception=False)
    said = client.get("/api/v1/catalogue", headers=CHINESE)
    assert (said.status_code, said["Content-Type"]) == (500, "application/problem+json")
    assert said.json()["detail"].startswith("此请求没有消耗预算") and said["Content-Language"] == "zh-hans"
