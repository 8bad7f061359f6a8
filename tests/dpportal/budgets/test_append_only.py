"""The ledger forgets nothing: every way of Django's to change or delete a line is refused."""

from decimal import Decimal
from uuid import uuid4

import pytest
from django.db import transaction
from django.db.models import ProtectedError

from dpportal.budgets import ledger
from dpportal.budgets.models import LedgerEntry
from dpportal.budgets.writing import LedgerWriteError, writing
from mechanisms.accounting import Definition


@pytest.fixture
def line(dataset) -> LedgerEntry:
    release = ledger.Booking(uuid4(), "A release")
    return ledger.reserve(dataset, Decimal("0.6"), release, definition=Definition.PURE, by=dataset.owner)


@pytest.fixture(autouse=True)
def unchanged(line):
    """Whatever a test tried, the line is still there and the same."""
    yield
    kept = LedgerEntry.objects.get(pk=line.pk)
    assert (kept.state, kept.amount, kept.reason) == ("reserved", Decimal("0.6"), "A release")


def copy_of(line: LedgerEntry, **changes) -> LedgerEntry:
    fields = {f.attname: getattr(line, f.attname) for f in LedgerEntry._meta.concrete_fields}
    return LedgerEntry(**{**fields, **changes})


@pytest.mark.parametrize(
    "change",
    [
        lambda line: line.save(),
        lambda line: line.save(update_fields=["amount"]),
        lambda line: line.delete(),
        lambda line: copy_of(line, amount=Decimal("0.1")).save(),
        lambda line: copy_of(line, amount=Decimal("0.1")).save(force_update=True),
        lambda line: LedgerEntry.objects.update_or_create(pk=line.pk, defaults={"reason": "Other"}),
        lambda line: LedgerEntry.objects.update(amount=Decimal("0.1")),
        lambda line: LedgerEntry.objects.filter(pk=line.pk).update(state="void"),
        lambda line: LedgerEntry.objects.filter(pk=line.pk).delete(),
        lambda line: LedgerEntry.objects.bulk_update([line], ["reason"]),
        lambda line: LedgerEntry.objects.bulk_create(
            [copy_of(line, amount=Decimal("0.1"))],
            update_conflicts=True,
            update_fields=["amount"],
            unique_fields=["key"],
        ),
        lambda line: LedgerEntry.objects.bulk_create([copy_of(line, pk=None)], ignore_conflicts=True),
        lambda line: LedgerEntry._base_manager.filter(pk=line.pk).update(state="void"),
        lambda line: LedgerEntry._default_manager.filter(pk=line.pk).delete(),
        lambda line: line.dataset.ledger.update(state="void"),
        lambda line: line.dataset.ledger.all().delete(),
    ],
    ids=[
        "save",
        "save of one field",
        "delete",
        "save of a copy",
        "forced save of a copy",
        "update or create",
        "update of all",
        "update of one",
        "delete of one",
        "bulk update",
        "bulk create over a line",
        "bulk create that skips",
        "update by the base manager",
        "delete by the default manager",
        "update by the dataset",
        "delete by the dataset",
    ],
)
def test_no_line_is_changed_or_deleted(line, change):
    with pytest.raises(LedgerWriteError), transaction.atomic():
        change(line)


def test_a_dataset_with_a_ledger_is_not_deleted(line):
    with pytest.raises(ProtectedError):
        line.dataset.delete()


def test_a_person_in_the_ledger_is_not_deleted(line):
    with pytest.raises(ProtectedError):
        line.by.delete()


def test_nor_by_the_ledger_itself(line):
    with writing(), pytest.raises(LedgerWriteError, match="never changed; add a line that corrects"):
        LedgerEntry.objects.filter(pk=line.pk).update(state="void")
