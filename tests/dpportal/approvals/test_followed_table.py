"""A view that its own database defined anew is counted once a second administrator approved, if a site wants that."""

from __future__ import annotations

from types import SimpleNamespace

import pytest
from django.urls import reverse

from dpportal.accounts.models import AuditEntry
from dpportal.approvals.acts import UnapprovedError
from dpportal.approvals.models import Approval
from dpportal.datasets import attach_table
from dpportal.datasets.models import Dataset
from dpportal.tables.faults import SourceFault
from tests.dpportal.approvals.conftest import answers, desk_of
from tests.dpportal.datasets.test_following import remote

VIEW = {"view health.seen": "SELECT * FROM quite.other_people"}


@pytest.fixture
def now(monkeypatch) -> dict[str, object]:
    """What the connection leads to."""
    there: dict[str, object] = {
        "identity": "contacts",
        "definition": VIEW,
        "relations": ["of contacts"],
        "types": {"age": "int4"},
    }
    monkeypatch.setattr(attach_table, "_looked_at", lambda _dataset: SimpleNamespace(**there))
    return there


@pytest.fixture
def viewed(curator, two_people, now) -> Dataset:
    return remote(curator, "contacts", "of contacts")


@pytest.fixture
def asked(viewed, administrator) -> Approval:
    mark = attach_table.difference(viewed).mark
    form = {
        "action": "follow_tables",
        "_selected_action": [viewed.pk],
        f"mark-{viewed.pk}": mark,
        "reason": "Ours",
    }
    page = desk_of(administrator).post(reverse("admin:datasets_dataset_changelist"), form, follow=True)
    assert "stays as it is until a second administrator has approved this." in page.text
    return Approval.objects.get()


def test_it_is_counted_once_a_second_administrator_approved(asked, viewed, administrator, second):
    viewed.refresh_from_db()
    assert viewed.facts["definition"] == {}
    assert "Reason: Ours" in asked.summary and "health.seen" in asked.summary
    assert "You asked for this yourself" in answers(administrator, asked).text
    answers(second, asked)
    viewed.refresh_from_db()
    assert viewed.facts["definition"] == VIEW
    assert AuditEntry.objects.get(action="followed a table").by == administrator


def test_no_code_follows_it_without(viewed, administrator):
    mark = attach_table.difference(viewed).mark
    with pytest.raises(UnapprovedError):
        attach_table.follow(viewed, administrator, mark=mark, reason="Ours")


def test_another_definition_meanwhile_is_not_followed(asked, viewed, second, now):
    now["definition"] = {"view health.seen": "SELECT 1"}
    assert "Nothing was done" in answers(second, asked).text
    viewed.refresh_from_db()
    assert viewed.facts["definition"] == {}


def test_one_that_does_not_answer_keeps_the_request_waiting(asked, second, monkeypatch):
    def silent(_dataset: Dataset) -> SimpleNamespace:
        raise SourceFault("silent", "It does not answer.")

    monkeypatch.setattr(attach_table, "_looked_at", silent)
    assert "It does not answer." in answers(second, asked).text
    asked.refresh_from_db()
    assert asked.state == Approval.State.WAITING
