"""Whoever declares columns, or who is protected, leaves a line that names columns by their place alone."""

from __future__ import annotations

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.urls import reverse
from django.utils.translation import override

from dpportal.accounts.audit_words import shown
from dpportal.accounts.models import AuditEntry, User
from dpportal.datasets import services, sharing
from dpportal.datasets.models import Right
from mechanisms.domain import DomainError, Integer
from tests.dpportal.api.calling import Program

AGE = Integer("age", lower=0, upper=99, width=10)


def lines(action: str) -> list[tuple[str, str]]:
    found = AuditEntry.objects.filter(action=action).order_by("pk")
    return [(entry.by.username, entry.detail) for entry in found]


def new(before: list[tuple[str, str]], action: str) -> list[tuple[str, str]]:
    return lines(action)[len(before) :]


def test_columns_declared_and_taken_back(dataset, curator):
    before = lines("declared columns")
    services.declare(dataset, "age", AGE, by=curator)
    services.declare_all(dataset, [AGE], ignored=["colour"], by=curator)
    assert new(before, "declared columns") == [
        ("curator", "column 2"),
        ("curator", "column 2; took back: 1"),
    ]


def test_a_refused_declaration_leaves_none(dataset):
    before = lines("declared columns")
    with pytest.raises(DomainError):
        services.declare(dataset, "age", Integer("age", lower=0, upper=99, width=10, source="colour"))
    assert new(before, "declared columns") == []


def test_who_is_protected(client, dataset, curator):
    client.force_login(curator)
    answer = client.post(reverse("datasets:several_rows", args=[dataset.pk]), {"column": "colour"})
    assert answer.status_code == 302
    expected = "one person, added or removed; a person is column 1, with one row at most"
    assert lines("declared who is protected") == [("curator", expected)]
    with override("zh-hans"):
        assert shown(expected).startswith("增删一人；")


def test_who_is_protected_by_the_form(client, dataset, curator):
    client.force_login(curator)
    said = {"neighbours": "replace-one", "unit_column": "", "max_rows": "1"}
    assert client.post(reverse("datasets:unit", args=[dataset.pk]), said).status_code == 302
    assert lines("declared who is protected") == [
        ("curator", "one person, replaced by another; a person is each row, with one row at most")
    ]


def test_the_line_names_who_did_it_and_not_the_owner(client, dataset, curator, other_curator):
    sharing.share(dataset, other_curator.username, Right.OWN, by=curator)
    client.force_login(other_curator)
    book = b'{"age": {"kind": "integer", "lower": 0, "upper": 99, "width": 20}}'
    file = SimpleUploadedFile("book.json", book)
    before = lines("declared columns")
    client.post(reverse("datasets:codebook", args=[dataset.pk]), {"codebook": file})
    assert new(before, "declared columns") == [("other", "column 2")]


def test_a_program_leaves_the_line_of_its_person(dataset, curator):
    before = lines("declared columns")
    column = {"name": "age", "kind": "integer", "lower": 0, "upper": 99, "width": 50}
    Program(User.objects.get(pk=curator.pk)).said(
        "put", f"/datasets/{dataset.pk}/declaration", {"columns": {"age": column}}
    )
    assert new(before, "declared columns") == [("curator", "column 2")]
