"""Every line of ledger and audit record is a link; what is changed past the portal is found, and named."""

from __future__ import annotations

import hashlib
import json
import uuid
from collections.abc import Callable
from contextlib import contextmanager

import pytest
from django.db import IntegrityError, connection, transaction
from django.db.models import F
from django.urls import reverse

from dpportal.accounts import audit
from dpportal.accounts.models import AuditEntry
from dpportal.budgets import ledger
from dpportal.budgets.models import Budget, LedgerEntry
from dpportal.budgets.writing import writing
from dpportal.history import chain, eras
from dpportal.history.canonical import canonical
from dpportal.history.models import Era, Link
from dpportal.history.verification import BrokenChainError, verify
from dpportal.operations import verification
from dpportal.platform.triggers import guards
from dpportal.releases import services as release_services
from tests.dpportal import building


@contextmanager
def unguarded():
    """What the owner of a database can do."""
    for guard in guards.values():
        guard.remove("default")
    yield
    for guard in guards.values():
        guard.install("default")


def sql(statement: str) -> None:
    with unguarded(), connection.cursor() as cursor:
        cursor.execute(statement)


@pytest.fixture
def written(requested, curator) -> None:
    """A grant, a reservation that becomes spent, and acts."""
    ledger.spend(requested.charge)
    audit.record(curator, "looked", requested.dataset, "at something")


def test_each_line_is_one_link_and_a_settled_charge_is_two(written):
    assert verify().position == Link.objects.count()
    assert Link.objects.filter(event="line").count() == LedgerEntry.objects.count() == 2
    assert Link.objects.filter(event="settled").count() == 1
    assert Link.objects.filter(event="audit").count() == AuditEntry.objects.count() > 0


def test_digests_are_what_anybody_computes(written):
    """By the standard library alone, from the row as the database has it."""
    entry = AuditEntry.objects.get(action="looked")
    facts = {
        "action": "looked",
        "at": entry.at.isoformat(),
        "by": entry.by_id,
        "detail": "at something",
        "event": "audit",
        "line": entry.pk,
        "subject": entry.subject,
    }
    text = json.dumps(facts, separators=(",", ":"))
    last = Link.objects.get(event="audit", line=entry.pk)
    before = Link.objects.get(position=last.position - 1)
    content = hashlib.sha256(text.encode()).hexdigest()
    assert (last.content, last.digest) == (
        content,
        hashlib.sha256((before.digest + content).encode()).hexdigest(),
    )


FORGERIES = {
    "a deleted act": ("DELETE FROM accounts_auditentry WHERE action = 'looked'", "audit .* is gone"),
    "another act": (
        "UPDATE accounts_auditentry SET detail = 'at nothing' WHERE action = 'looked'",
        "audit .* says",
    ),
    "a changed amount": ("UPDATE budgets_ledgerentry SET amount = 1 WHERE kind = 'charge'", "line .* says"),
    "another state": (
        "UPDATE budgets_ledgerentry SET state = 'void' WHERE kind = 'charge'",
        "settled .* says",
    ),
    "never settled": (
        "UPDATE budgets_ledgerentry SET state = 'reserved', settled_at = NULL WHERE kind = 'charge'",
        "settled .* is gone",
    ),
    "a deleted line with its links": (
        "DELETE FROM history_link WHERE event = 'settled'",
        "missing before link",
    ),
    "the last act with its link": (
        "DELETE FROM history_link WHERE position = (SELECT max(position) FROM history_link)",
        "not in the history",
    ),
    "a made up act": (
        "INSERT INTO accounts_auditentry (at, by_id, action, subject, detail) "
        "SELECT at, by_id, 'agreed', subject, detail FROM accounts_auditentry LIMIT 1",
        "not in the history",
    ),
    "an act with a link of its own": (
        "INSERT INTO history_link (event, line, content, seal, digest) VALUES ('audit', 1000, '', '', '')",
        "without a place",
    ),
    "another kind of loss": ("UPDATE budgets_budget SET definition = 'zcdp'", "line .* says"),
    "other people": ("UPDATE budgets_budget SET neighbours = 'replace-one'", "settled .* says"),
    "another digest": ("UPDATE history_link SET digest = content WHERE position = 2", "does not follow"),
}


@pytest.mark.parametrize("statement, words", FORGERIES.values(), ids=FORGERIES)
def test_a_forged_line_is_named(written, statement, words):
    sql(statement)
    with pytest.raises(BrokenChainError, match=words):
        verify()


@pytest.mark.parametrize("seal", ["", "0" * 64, "of another line"])
@pytest.mark.parametrize("event", ["audit", "line", "imprint"])
def test_nobody_links_a_line_without_the_portals_key(written, event, seal):
    """Rows and digests that anybody with the database can make: a grant, an act, what a person was once more."""
    source, honest = chain.sources[event], Link.objects.filter(event=event).earliest("position")
    row = source.rows().get(pk=honest.line)
    row.pk = 1000
    if event == "line":
        row.key = uuid.uuid4()
    with writing():
        row.save_base(raw=True, force_insert=True)
    forged = honest.seal if seal == "of another line" else seal
    link = Link(event=event, line=row.pk, content=source.content(source.rows().get(pk=row.pk)), seal=forged)
    chain.place(link)
    link.save(force_insert=True)
    with pytest.raises(BrokenChainError, match=f"{event} 1000 of link .* was not linked by the portal"):
        verify()


def test_swapped_lines_are_found(written):
    first, second = Link.objects.order_by("position")[:2]
    with unguarded():
        Link.objects.filter(pk=first.pk).update(position=None)
        Link.objects.filter(pk=second.pk).update(position=1, digest=chain.following("", second.content))
        Link.objects.filter(pk=first.pk).update(
            position=2, digest=chain.following(second.digest, first.content)
        )
    with pytest.raises(BrokenChainError, match="does not follow"):
        verify()


@pytest.mark.parametrize(
    "forge",
    [
        lambda: AuditEntry.objects.all().delete(),
        lambda: AuditEntry.objects.update(action="none"),
        lambda: Link.objects.all().delete(),
        lambda: Link.objects.create(event="audit", line=1000),
        lambda: Link.objects.update(position=F("position") + 1000),
    ],
    ids=["deleted act", "changed act", "deleted link", "link without a place", "moved link"],
)
def test_the_database_refuses_the_orm_too(written, forge: Callable[[], object]):
    with pytest.raises(IntegrityError, match="never changed or deleted"), transaction.atomic():
        forge()


def test_what_is_rolled_back_leaves_no_link(written, curator):
    links = Link.objects.count()
    with pytest.raises(ZeroDivisionError), transaction.atomic():
        audit.record(curator, "nearly", curator)
        raise ZeroDivisionError
    assert Link.objects.count() == links
    verify()


def test_what_was_written_before_there_was_a_history_is_in_it(written):
    with unguarded():
        for lines in (Link, Era):
            lines.objects.all().delete()
    eras.begin()
    assert verify().position == Link.objects.count() > 0
    eras.begin()  # once only
    assert verify().position == Link.objects.count()


def test_floats_are_not_written():
    with pytest.raises(TypeError, match="canonical digits"):
        canonical({"amount": 0.1})  # type: ignore[dict-item]


def test_a_changed_total_is_found(dataset, administrator):
    assert not list(verification.wrong_budgets())
    with unguarded(), connection.cursor() as cursor:
        cursor.execute("UPDATE budgets_budget SET total = total + 1")
    budget = Budget.objects.get(dataset=dataset)
    [found] = verification.wrong_budgets()
    assert f"Budget {budget.pk}" in found


def test_budgets_with_every_kind_of_line_agree(written, dataset, administrator):
    building.granted(dataset, administrator)
    ledger.reduce(Budget.of(dataset), Budget.of(dataset).left, reason="None needed", by=administrator)
    assert not list(verification.wrong_budgets())


def test_an_administrator_takes_lines_along_whose_digests_anybody_computes(client, written, administrator):
    client.force_login(administrator)
    chosen = AuditEntry.objects.filter(action="looked")
    answer = client.post(
        reverse("admin:accounts_auditentry_changelist"),
        {"action": "export", "_selected_action": [entry.pk for entry in chosen]},
    )
    line = json.loads(answer.content)
    assert line.pop("person") == "curator"
    content = hashlib.sha256(json.dumps(line, sort_keys=True, separators=(",", ":")).encode()).hexdigest()
    assert content == Link.objects.get(event="audit", line=line["line"]).content


def test_signing_out_is_recorded(client, curator):
    client.force_login(curator)
    client.post(reverse("accounts:sign_out"))
    assert AuditEntry.objects.filter(by=curator, action="signed out").count() == 1


@pytest.mark.slow
def test_a_download_of_what_is_not_published_is_recorded(client, ready, curator):
    client.force_login(curator)
    address = reverse("releases:download", args=[ready.pk, "release.json"])
    assert client.get(address).status_code == 200
    assert AuditEntry.objects.get(action="downloaded unpublished").detail == "release.json"


@pytest.mark.slow
@pytest.mark.parametrize("form", ["svg", "json"])
def test_a_chart_of_what_is_not_published_is_recorded_as_a_download(client, ready, curator, form):
    client.force_login(curator)
    address = reverse("releases:chart", args=[ready.pk, "main", form])
    assert client.head(address).status_code == client.get(ready.get_absolute_url()).status_code == 200
    assert not AuditEntry.objects.filter(action="downloaded unpublished").exists()
    assert client.get(address).status_code == 200
    assert AuditEntry.objects.get(action="downloaded unpublished").detail == f"main.{form}"
    release_services.publish(ready, curator)
    assert client.get(address).status_code == 200
    assert AuditEntry.objects.filter(action="downloaded unpublished").count() == 1
