"""Django's admin in Chinese, where Django itself has no translation."""

from __future__ import annotations

import re

import pytest
from django.test import Client
from django.utils.translation import gettext, override

from dpportal.accounts import audit
from dpportal.accounts.models import AuditEntry, PersonSession, User
from dpportal.datasets.models import Conversion, Dataset
from dpportal.platform import admin_texts


def test_every_text_is_translated() -> None:
    texts = {*admin_texts.OF_PAGES, *admin_texts.OF_SCRIPTS}
    with override("zh-hans"):
        assert not {text for text in texts if gettext(text) == text}


@pytest.fixture
def chinese(client: Client, administrator: User) -> Client:
    """An administrator who reads Chinese."""
    User.objects.filter(pk=administrator.pk).update(language="zh-hans")
    client.force_login(User.objects.get(pk=administrator.pk))
    return client


def test_scripts_say_it_in_chinese(chinese: Client) -> None:
    script = chinese.get("/admin/jsi18n/").content.decode()
    with override("zh-hans"):
        said = gettext("Remove all %s")
    assert said.encode("ascii", "backslashreplace").decode() in script or said in script


def test_labels_end_with_the_colon_of_the_page(chinese: Client) -> None:
    page = chinese.get("/admin/connections/connection/add/").content.decode()
    labels = re.findall(r"<label[^>]*>([^<]+)</label>", page)
    assert labels and not [label for label in labels if label.endswith(":")]


def test_a_line_of_the_record_is_read_in_chinese(chinese: Client, administrator: User) -> None:
    audit.record(administrator, "viewed true counts", administrator)
    entry = AuditEntry.objects.get(action="viewed true counts")
    page = chinese.get(f"/admin/accounts/auditentry/{entry.pk}/change/").content.decode()
    assert str(entry.subject) in page and "viewed true counts" not in page


def test_a_browser_and_its_system_have_the_comma_of_the_reader() -> None:
    session = PersonSession(browser="Another program, Windows")
    assert session.browser_text == session.browser
    with override("zh-hans"):
        assert session.browser_text.endswith("、Windows") and "Another" not in session.browser_text


@pytest.fixture
def office(client: Client, administrator: User) -> Client:
    """An administrator who reads English."""
    client.force_login(administrator)
    return client


def text_of(page: str) -> str:
    return " ".join(re.sub(r"<[^>]+>", " ", page).split())


@pytest.mark.parametrize(
    ("address", "words", "django"),
    [
        (
            "accounts/user/",
            ("choose what to do", "Do this", "of 1 ticked"),
            (">Go<", "---------", "1 selected"),
        ),
        ("accounts/user/add/", ("Readers never see it",), ("Required. 150 characters", "@/./+/-/_")),
        ("accounts/user/{pk}/change/", ("Nobody is deleted",), ("Designates whether", "deleting accounts")),
        ("accounts/", ("People and the audit record",), ("record administration",)),
        ("connections/connection/", ("Connections",), ("Select connection",)),
    ],
)
def test_pages_speak_like_the_portal(office: Client, administrator: User, address, words, django) -> None:
    page = office.get(f"/admin/{address.format(pk=administrator.pk)}").text
    assert all(word in text_of(page) for word in words)
    assert not [word for word in django if word in page]


def test_the_counter_of_ticks_has_one_word_in_page_and_script(office: Client) -> None:
    assert "%(sel)s of %(cnt)s ticked" in office.get("/admin/jsi18n/").text


def test_titles_of_single_pages_are_in_the_readers_language(chinese: Client, dataset: Dataset) -> None:
    """They began with “Conversion of”, whatever the language."""
    Conversion.objects.get_or_create(dataset=dataset)
    with override("zh-hans"):
        title = gettext("Conversion of %(subject)s") % {"subject": dataset.pk}
    page = chinese.get(f"/admin/datasets/conversion/{dataset.pk}/change/")
    assert page.status_code == 200 and title in page.text
