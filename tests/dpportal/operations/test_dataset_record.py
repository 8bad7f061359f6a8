"""Owners read what the audit record has of their datasets, and nothing of other people's tables."""

from __future__ import annotations

import re

from django.urls import reverse

from dpportal.accounts import audit
from dpportal.accounts.models import AuditEntry
from dpportal.operations.dataset_record import SHOWN, lines_of
from tests.dpportal import building


def test_an_owner_sees_who_did_what_with_dataset_and_releases(client, curator, administrator, ready):
    client.force_login(curator)
    client.get(reverse("datasets:first_rows", args=[ready.dataset_id]))
    client.get(reverse("releases:compare", args=[ready.pk]))
    page = client.get(reverse("dataset_record", args=[ready.dataset_id])).text
    for act in ("viewed first rows", "viewed true counts", "granted a budget: ε = 1"):
        assert f"<td>{act}" in page, act
    assert f"<td>release {ready.pk}</td>" in page and "<td>administrator</td>" in page
    assert page.count("<td>curator</td>") == lines_of(ready.dataset).filter(by=curator).count()
    ledger = client.get(reverse("budgets:ledger", args=[ready.dataset_id])).text
    assert reverse("dataset_record", args=[ready.dataset_id]) in ledger


def test_the_record_in_chinese_names_each_kind_in_chinese(client, curator, ready):
    client.force_login(curator)
    client.get(reverse("releases:compare", args=[ready.pk]))
    audit.record(curator, "chose values privately", building.requested_values(ready.dataset))
    address = reverse("dataset_record", args=[ready.dataset_id])
    page = client.get(address, headers={"Accept-Language": "zh-Hans"}).text
    cells = re.findall(r"<td>([^<]*?) [0-9a-f-]{36}</td>", page)
    assert set(cells) == {"数据集", "发布", "私密选择值"}


def test_an_owner_sees_what_private_choices_of_values_spent_and_by_which_program(dataset):
    audit.record(dataset.owner, "spent by a token", building.requested_values(dataset), "token 1")
    lines = list(lines_of(dataset).values_list("action", flat=True))
    assert "chose values privately" in lines and "spent by a token" in lines


def test_nothing_is_shown_of_other_datasets_or_of_tables_that_are_nearly_the_same(dataset, other_curator):
    other = building.stored_dataset(other_curator, "Another")
    audit.record(other_curator, "viewed first rows", other)
    audit.record(dataset.owner, "uploaded a known table", dataset, f"same rows: dataset {other.pk}")
    audit.record(dataset.owner, "granted for a known table", dataset, f"dataset {other.pk}")
    lines = lines_of(dataset)
    assert set(lines.values_list("action", flat=True)) <= SHOWN
    assert str(other.pk) not in str(list(lines.values_list("subject", "detail")))
    assert AuditEntry.objects.filter(action="uploaded a known table").exists()
