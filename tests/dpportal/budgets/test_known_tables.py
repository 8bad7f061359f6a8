"""A table that somebody holds already: its curator learns nothing, the administrator who grants learns all."""

from __future__ import annotations

import re
from decimal import Decimal
from uuid import uuid4

import pytest
from django.db import connection
from django.test import Client
from django.urls import reverse

from dpportal.accounts.models import AuditEntry
from dpportal.budgets import ledger
from dpportal.budgets.forms import protection_digest
from dpportal.budgets.ledger import BudgetRefusedError
from dpportal.budgets.models import LedgerEntry
from dpportal.datasets import services
from dpportal.datasets.import_job import CONVERSIONS
from dpportal.datasets.models import Dataset
from dpportal.datasets.near_duplicates import TableSketch
from mechanisms.accounting import Definition
from tests.dpportal import building

# Each reads files in a process of its own, as the portal does.
pytestmark = [pytest.mark.django_db, pytest.mark.slow]


def table(*changes: tuple[int, str], header: str = "name,age,town") -> bytes:
    lines = [f"P{number},{number % 97},T{number % 11}" for number in range(400)]
    for place, line in changes:
        lines[place] = line
    return "\n".join([header, *lines, ""]).encode()


TABLE, CHANGED = table(), table((7, "P7,98,T7"))
RENAMED, STRANGE = (
    table(header="who,years,place"),
    table(*((i, f"Q{i},{i % 89},U{i % 13}") for i in range(400))),
)


def given(client: Client, by, content: bytes, name: str = "Table") -> Dataset:
    client.force_login(by)
    return building.uploaded(client, content, name=name)


@pytest.fixture
def funded(client, curator, administrator) -> Dataset:
    """A curator's table that has spent ε 0.3 of 1."""
    dataset = building.granted(given(client, curator, TABLE, "Confidential trial"), administrator)
    protect(dataset, "replace-one")
    spend(dataset, "0.3")
    return dataset


def protect(dataset: Dataset, neighbours: str) -> None:
    services.declare_unit(dataset, neighbours=neighbours, unit_column="", max_rows=1)


def spend(dataset: Dataset, amount: str) -> None:
    how = {"definition": Definition.PURE, "by": dataset.owner}
    ledger.spend(ledger.reserve(dataset, Decimal(amount), ledger.Booking(uuid4(), "A release"), **how))


def pages(client: Client, dataset: Dataset) -> list[str]:
    """All that its curator can see of a dataset, without what is its own."""
    names = ("home", "domain", "unit", "first_rows", "reading", "edit", "fit")
    shown = [client.get(reverse(f"datasets:{name}", args=[dataset.pk])) for name in names]
    shown.append(client.get(reverse("datasets:list")))
    text = [answer.content.decode().replace(str(dataset.pk), "ID") for answer in shown]
    return [
        re.sub(r'value="[A-Za-z0-9]{64}"|"X-CSRFToken": "[A-Za-z0-9]+"|[0-9]{2}:[0-9]{2}|nonce-[^ "]+', "", t)
        for t in text
    ]


@pytest.mark.sampled
@pytest.mark.parametrize("content", [TABLE, CHANGED, RENAMED], ids=["same", "one cell", "renamed"])
def test_who_uploads_anothers_table_sees_what_any_new_table_shows(client, funded, other_curator, content):
    known = given(client, other_curator, content)
    seen = pages(client, known)
    state = (known.state, known.duplicate_of, known.columns, known.facts, known.conversion.failure)
    entries = AuditEntry.objects.filter(by=other_curator).count()
    TableSketch.objects.filter(dataset=funded).delete()
    Dataset.objects.filter(pk=known.pk).delete()
    Dataset.objects.filter(pk=funded.pk).update(fingerprint="0")

    new = given(client, other_curator, content)
    assert (new.state, new.duplicate_of, new.columns, new.facts, new.conversion.failure) == state
    assert state[0] == "stored"
    assert pages(client, new) == seen
    assert AuditEntry.objects.filter(by=other_curator).count() > entries
    assert "Confidential trial" not in "".join(seen)


def test_every_hit_is_written_down_for_administrators(client, funded, other_curator):
    given(client, other_curator, STRANGE)
    assert not AuditEntry.objects.filter(by=other_curator, action="uploaded a known table").exists()
    for content in (TABLE, CHANGED):
        known = given(client, other_curator, content)
        entry = AuditEntry.objects.filter(action="uploaded a known table").latest("at")
        assert entry.by == other_curator and str(known.pk) in entry.subject and str(funded.pk) in entry.detail


def test_the_two_guesses_of_one_cell_look_alike(client, funded, other_curator):
    """One cell's value of another's table was once found by uploading both guesses."""
    right, wrong = (given(client, other_curator, guess) for guess in (TABLE, CHANGED))
    assert right.state == wrong.state == "stored" and right.duplicate_of is wrong.duplicate_of is None


@pytest.mark.sampled
@pytest.mark.parametrize("content", [TABLE, CHANGED, RENAMED], ids=["same", "one cell", "renamed"])
def test_no_second_budget_without_an_administrators_knowing_grant(
    client, funded, other_curator, administrator, content
):
    known = given(client, other_curator, content)
    with pytest.raises(BudgetRefusedError, match="hold nearly the same table"):
        building.granted(known, administrator)
    assert not known.budgets.exists()
    terms = ledger.GrantTerms(knowing=[funded.pk])
    ledger.grant(known, Decimal(1), definition="pure", reason="Two studies", by=administrator, terms=terms)
    assert known.budgets.get().total == 1
    assert AuditEntry.objects.filter(by=administrator, action="granted for a known table").count() == 1
    # And the other way round: the first is now one of two.
    with pytest.raises(BudgetRefusedError):
        building.granted(funded, administrator)


@pytest.mark.parametrize("when", ["while it is read", "before it is read in another way"])
def test_a_grant_from_before_a_table_was_read_pays_for_nothing(
    client, funded, other_curator, administrator, when
):
    """Whatever the table is like: from a refusal a curator would learn of others'."""
    for content in (CHANGED, STRANGE):
        client.force_login(other_curator)
        known = building.sent(client, content)
        if when != "while it is read":
            Dataset.objects.filter(pk=known.pk).update(
                fingerprint="as it was", granted_fingerprint="as it was"
            )
        building.granted(known, administrator)
        CONVERSIONS.run(known.pk)
        protect(known, "replace-one")
        with pytest.raises(BudgetRefusedError, match="after its budget was granted"):
            spend(known, "0.1")
        if content is CHANGED:
            with pytest.raises(BudgetRefusedError, match="hold nearly the same table"):
                building.granted(known, administrator)
        building.granted(known, administrator, knowing=True)
        spend(known, "0.1")


def test_erased_records_are_remembered(client, funded, other_curator, administrator):
    client.force_login(funded.owner)
    client.post(reverse("datasets:erase", args=[funded.pk]))
    known = given(client, other_curator, CHANGED)
    with pytest.raises(BudgetRefusedError):
        building.granted(known, administrator)


def test_a_strange_table_is_granted_without_a_question(client, funded, other_curator, administrator):
    assert building.granted(given(client, other_curator, STRANGE), administrator).budgets.get().total == 1


def test_the_form_says_what_is_shared_and_what_is_spent(client, funded, other_curator, administrator):
    known = given(client, other_curator, CHANGED)
    client.force_login(administrator)
    form = {"protects": protection_digest(known), "amount": "1", "reason": "Two studies"}
    address = reverse("grant", args=[known.pk])
    page = client.post(address, form).content.decode()
    assert (
        "99 % or more of its rows with Confidential trial of curator, which has spent ε = 0.30 of 1.00"
        in page
    )
    assert LedgerEntry.objects.filter(kind="grant").count() == 1
    hidden = "It has promised that its number of rows stays hidden"
    assert hidden not in page
    protect(funded, "add-remove")
    building.granted(funded, administrator, knowing=True)
    spend(funded, "0.1")
    assert hidden in client.post(address, form).content.decode()
    client.post(address, {**form, "knowing": [str(funded.pk)]})
    assert known.budgets.get().total == 1


def test_own_copies_are_told_to_their_owner(client, funded):
    again = given(client, funded.owner, TABLE)
    assert (again.state, again.duplicate_of) == ("duplicate", funded)
    nearly = given(client, funded.owner, CHANGED)
    assert (nearly.state, nearly.duplicate_of) == ("stored", None)


def test_sketches_are_sealed(client, funded, other_curator):
    known = given(client, other_curator, TABLE)
    [own, theirs] = [str(TableSketch.objects.get(dataset=d).content) for d in (funded, known)]
    assert own == theirs  # one table has one sketch
    with connection.cursor() as cursor:
        cursor.execute("SELECT content FROM datasets_tablesketch")
        stored = [bytes(content) for (content,) in cursor.fetchall()]
    assert len(set(stored)) == 2 and all(own[:100].encode() not in content for content in stored)
