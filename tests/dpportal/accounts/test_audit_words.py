"""Details of the record are stored in English, whoever acts, and read in the reader's language; the history holds."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from django.test import Client
from django.urls import reverse
from django.utils.translation import gettext, gettext_noop, override

from dpportal.accounts import audit
from dpportal.accounts.audit_words import clause, clauses, shown
from dpportal.accounts.models import AuditEntry
from dpportal.datasets import sharing
from dpportal.datasets.models import Right
from dpportal.history.verification import verify

CHINESE = {"accept-language": "zh-hans"}


@pytest.fixture(autouse=True)
def english_afterwards():
    """A request of the test client leaves its language behind."""
    with override("en"):
        yield


def test_a_clause_is_stored_in_english_and_read_in_the_readers_language():
    text, how = gettext_noop("from %(address)s, by %(how)s"), gettext_noop("passkey")
    with override("zh-hans"):
        stored = clause(text, address="192.0.2.1", how=how)
        assert stored == "from 192.0.2.1, by passkey"
        assert shown(stored) == gettext(text) % {"address": "192.0.2.1", "how": gettext(how)} != stored
    assert shown(stored) == stored


def test_each_clause_is_read_by_itself_and_what_people_typed_stays():
    stored = clauses(clause(gettext_noop("before: %(day)s"), day="2026-01-31"), "", "Why? Because; so")
    assert stored == "before: 2026-01-31; Why? Because; so"
    with override("zh-hans"):
        assert shown(stored).endswith("Why? Because；so") and "before" not in shown(stored)


def test_a_line_by_somebody_who_reads_chinese_is_read_by_everyone(dataset, other_curator, administrator):
    with override("zh-hans"):
        sharing.share(dataset, other_curator.username, Right.RELEASE, dataset.owner)
    line = AuditEntry.objects.get(action="shared")
    assert line.detail == line.words == f"with {other_curator.username}: release"
    desk = Client()
    desk.force_login(administrator)
    page = reverse("admin:accounts_auditentry_changelist")
    assert line.detail in desk.get(page).text
    with override("zh-hans"):
        chinese = line.words
    assert chinese != line.detail and chinese in desk.get(page, headers=CHINESE).text
    verify()


def test_lines_of_earlier_versions_are_read_as_far_as_they_are_known(curator):
    audit.record(curator, "changed the account", curator, "role: analyst → curator; email: – → a@b.example")
    line = AuditEntry.objects.get(action="changed the account")
    with override("zh-hans"):
        assert not re.search("[a-z]{5,}: ", line.words) and "a@b.example" in line.words


def test_no_detail_of_the_record_is_composed_beside_the_catalogue():
    """A detail with words of ours is a clause; an f-string would be in no language but English."""
    found = [
        f"{path}: {call}"
        for path in Path("dpportal").rglob("*.py")
        for call in re.findall(r"audit\.record\((?:[^()]|\([^()]*\))*\)", path.read_text(encoding="utf-8"))
        if re.search(r"""f["'][^"']*[a-z]{3,}[^{}"']*["']""", re.sub(r"\{[^}]*\}", "{}", call))
    ]
    assert found == []


def test_a_line_is_about_something_with_a_name(dataset) -> None:
    """The record has its key; people read what it is called, or the key where it is gone or is none."""
    assert audit.subject_for_people(f"dataset {dataset.pk}") == f"dataset {dataset.name}"
    gone = "dataset 00000000-0000-0000-0000-000000000001"
    for subject in (gone, "dataset x", "nobody", "nothing 3"):
        assert audit.subject_for_people(subject) == subject


def test_the_list_of_the_record_names_what_a_line_is_about(client, administrator, dataset) -> None:
    audit.record(administrator, gettext_noop("granted a budget"), dataset)
    client.force_login(administrator)
    listed = client.get(reverse("admin:accounts_auditentry_changelist")).text
    assert f"dataset {dataset.name}" in listed and str(dataset.pk) not in listed
