"""Whatever but the ledger writes a budget or a line through Django is refused, whichever way it goes."""

from __future__ import annotations

import json
from decimal import Decimal

import pytest
from django.contrib.admin import site
from django.core.management import call_command
from django.core.serializers.base import DeserializationError
from django.db import IntegrityError, connection, models, transaction
from django.db.models import F
from django.db.models.deletion import Collector
from django.test import RequestFactory

from dpportal.budgets import ledger
from dpportal.budgets.models import Budget, LedgerEntry
from dpportal.budgets.writing import LedgerWriteError
from dpportal.datasets.models import Dataset

NINE = Decimal(9)


def by_attribute(budget: Budget) -> None:
    budget.total = NINE
    budget.save()


def one_attribute(budget: Budget) -> None:
    budget.spent = Decimal(0)
    budget.save(update_fields=["spent"])


def many(budget: Budget) -> None:
    budget.total = NINE
    Budget.objects.bulk_update([budget], ["total"])


def many_of_a_dataset(budget: Budget) -> None:
    budget.total = NINE
    budget.dataset.budgets.bulk_update([budget], ["total"])


def past_its_save(budget: Budget) -> None:
    budget.total = NINE
    models.Model.save(budget)


def over_it(budget: Budget) -> None:
    Budget.objects.bulk_create(
        [Budget(pk=budget.pk, dataset=budget.dataset, total=NINE)],
        update_conflicts=True,
        update_fields=["total"],
        unique_fields=["id"],
    )


def a_line(budget: Budget, **more: object) -> LedgerEntry:
    fields = {
        "kind": "grant",
        "state": "booked",
        "amount": NINE,
        "reason": "Mine",
        "by": budget.dataset.owner,
    }
    return LedgerEntry(dataset=budget.dataset, budget=budget, **fields, **more)


PLANTED = {
    "attribute and save": by_attribute,
    "one attribute and save": one_attribute,
    "delete": lambda budget: budget.delete(),
    "update": lambda budget: Budget.objects.filter(pk=budget.pk).update(total=F("total") + 1),
    "update of the related manager": lambda budget: budget.dataset.budgets.update(total=NINE),
    "update by the base manager": lambda budget: Budget._base_manager.update(total=NINE),
    "delete of all": lambda budget: Budget.objects.all().delete(),
    "delete by the related manager": lambda budget: budget.dataset.budgets.all().delete(),
    "raw delete": lambda budget: Budget.objects.all()._raw_delete("default"),
    "bulk update": many,
    "bulk update by the related manager": many_of_a_dataset,
    "the save of any model": past_its_save,
    "delete of lines by the related manager": lambda budget: budget.entries.all().delete(),
    "delete of a line": lambda budget: budget.dataset.ledger.get().delete(),
    "bulk create": lambda budget: Budget.objects.bulk_create([Budget(dataset=budget.dataset, is_fixed=True)]),
    "bulk create over it": over_it,
    "create": lambda budget: Budget.objects.create(dataset=budget.dataset, is_fixed=True),
    "create by the related manager": lambda budget: budget.dataset.budgets.create(is_fixed=True),
    "get or create": lambda budget: Budget.objects.get_or_create(dataset=budget.dataset, is_fixed=True),
    "update or create": lambda budget: Budget.objects.update_or_create(
        pk=budget.pk, defaults={"total": NINE}
    ),
    "add to another": lambda budget: Dataset.objects.create(owner=budget.dataset.owner).budgets.add(budget),
    "a line of its own": lambda budget: a_line(budget).save(),
    "a line created": lambda budget: budget.dataset.ledger.create(
        budget=budget, amount=NINE, by=budget.dataset.owner
    ),
    "lines created": lambda budget: LedgerEntry.objects.bulk_create([a_line(budget)]),
}


@pytest.fixture
def budget(dataset: Dataset) -> Budget:
    return Budget.objects.get(dataset=dataset)


@pytest.fixture(autouse=True)
def unchanged(budget: Budget):
    yield
    there = Budget.objects.values_list("total", "spent", "reserved", "definition").get()
    assert (there, LedgerEntry.objects.count()) == ((1, 0, 0, "pure"), 1)


@pytest.mark.parametrize("write", PLANTED.values(), ids=PLANTED)
def test_who_writes_past_the_ledger_is_refused_with_words(budget: Budget, write) -> None:
    words = r"written by dpportal\.budgets\.ledger only; call it|never deleted"
    with pytest.raises(LedgerWriteError, match=words), transaction.atomic():
        write(budget)


def test_a_query_that_is_not_the_models_own_meets_the_database(budget: Budget) -> None:
    with pytest.raises(IntegrityError, match="lines of its ledger add up to"), transaction.atomic():
        models.QuerySet(Budget).update(total=NINE)
    with pytest.raises(IntegrityError, match="never deleted"), transaction.atomic():
        models.QuerySet(LedgerEntry)._raw_delete("default")
    with pytest.raises(IntegrityError, match="never deleted"), transaction.atomic():
        collector = Collector("default")
        collector.collect(list(budget.entries.all()))
        collector.delete()


def test_a_cursor_meets_the_database(budget: Budget) -> None:
    with (
        pytest.raises(IntegrityError, match="add up to"),
        transaction.atomic(),
        connection.cursor() as cursor,
    ):
        cursor.execute("UPDATE budgets_budget SET total = 9000000 WHERE id = %s", [budget.pk])


def test_a_loaded_fixture_is_refused(budget: Budget, tmp_path) -> None:
    fields = {"dataset": str(budget.dataset_id), "total": "9"}
    file = tmp_path / "budgets.json"
    file.write_text(json.dumps([{"model": "budgets.budget", "pk": budget.pk, "fields": fields}]))
    with pytest.raises((LedgerWriteError, DeserializationError)), transaction.atomic():
        call_command("loaddata", str(file), verbosity=0)


@pytest.mark.parametrize("model", [Budget, LedgerEntry])
def test_what_the_admin_s_delete_action_calls_is_refused(budget: Budget, model: type[models.Model]) -> None:
    with pytest.raises(LedgerWriteError, match="never deleted"):
        site.get_model_admin(model).delete_queryset(RequestFactory().post("/"), model.objects.all())


def test_what_the_ledger_does_is_no_permission_for_what_follows(budget: Budget, administrator) -> None:
    """Not for a receiver of its signal, and not after it has returned."""

    def receiver(sender: object, dataset: Dataset, **_: object) -> None:
        dataset.budgets.update(total=NINE)

    ledger.charged.connect(receiver)
    try:
        with pytest.raises(LedgerWriteError), transaction.atomic():
            how = {"definition": ledger.Definition.PURE, "by": administrator}
            booking = ledger.Booking(budget.dataset_id, "-")
            ledger.reserve(budget.dataset, Decimal("0.1"), booking, **how)
    finally:
        ledger.charged.disconnect(receiver)
