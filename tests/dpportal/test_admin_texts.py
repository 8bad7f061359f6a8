"""Django's admin in Chinese, where Django itself has no translation."""

from __future__ import annotations

import re

import pytest
from django.test import Client
from django.utils.translation import gettext, override

from dpportal.accounts.models import User
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
