"""A process whose threads all try to reserve at the same moment; each has its own database connection.

Usage: python -m tests.dpportal.budgets.racer prepare | charged | bound | <dataset id> <threads> <attempts of each>
"""

from __future__ import annotations

import json
import sys
import threading
import uuid
from collections import Counter
from collections.abc import Callable
from decimal import Decimal
from functools import partial
from typing import TypeVar

import django

django.setup()

from django.db import OperationalError, connection, models, transaction  # noqa: E402
from django.db.migrations import Migration  # noqa: E402

from dpportal.accounts import audit  # noqa: E402
from dpportal.accounts.models import Role  # noqa: E402
from dpportal.budgets import ledger, triggers  # noqa: E402
from dpportal.budgets.models import Budget, LedgerEntry  # noqa: E402
from dpportal.datasets.models import Dataset  # noqa: E402
from dpportal.datasets.services import lock_dataset  # noqa: E402
from mechanisms.accounting import Definition  # noqa: E402
from tests.dpportal import building  # noqa: E402

Result = TypeVar("Result")

AMOUNT = Decimal("0.1")
GRANT = Decimal(5)
ROUNDS = 20


def prepare(definition: Definition = Definition.PURE) -> str:
    """A dataset with ε or ρ = 5; prints its id."""
    curator = building.person(f"curator {uuid.uuid4()}", Role.CURATOR)
    dataset = Dataset.objects.create(owner=curator, name="Raced for", file_name="none.csv")
    ledger.grant(dataset, GRANT, definition=definition.value, reason="To race for", by=curator)
    return str(dataset.pk)


def charged() -> list[str]:
    """Datasets with ε and ρ = 5, of which 0.1 is spent and 0.1 is reserved, in tables that a migration made again."""
    _alter()
    outcomes = []
    for definition in Definition:
        dataset = Dataset.objects.select_related("owner").get(pk=prepare(definition))
        outcomes += [_reserve_and_settle(dataset, spend, definition) for spend in (True, False)]
        audit.record(dataset.owner, "raced", dataset)
    return outcomes


def _alter() -> None:
    """What a migration of both tables and its way back do, with what `migrate` does before and after.

    SQLite makes the tables again.
    """
    triggers.GUARD.make_way("default", plan=[(Migration("0002_other", "budgets"), False)])
    for model, name in ((Budget, "unit_column"), (LedgerEntry, "reason")):
        field, wider = model._meta.get_field(name), models.CharField(max_length=400)
        wider.set_attributes_from_name(name)
        for before, after in ((field, wider), (wider, field)):
            with connection.schema_editor() as editor:
                editor.alter_field(model, before, after)
    triggers.GUARD.install("default")


def bound() -> list[str]:
    """Whether changes of a copy of a table, and of one of nearly the same people, wait for one of another copy.

    Then whether many of them at once come to an end, in words.
    """
    first = Dataset.objects.get(pk=prepare())
    copy, other = (
        Dataset.objects.create(owner=first.owner, name="Copy", file_name="none.csv", duplicate_of=first)
        for _ in range(2)
    )
    near = Dataset.objects.create(owner=first.owner, name="Near", file_name="none.csv")
    near.same_people.add(copy)
    held, tried = threading.Event(), threading.Event()

    def hold() -> None:
        with transaction.atomic():
            lock_dataset(copy)
            held.set()
            tried.wait()
        connection.close()

    holder = threading.Thread(target=hold)
    holder.start()
    held.wait()
    try:
        outcomes = [_lock_in_a_moment(dataset) for dataset in (other, near)]
    finally:
        tried.set()
        holder.join()
    return [*outcomes, *_lock_at_once(first, copy, other, near)]


def _lock_at_once(*datasets: Dataset) -> list[str]:
    """What is raised while each is locked again and again by a thread of its own."""
    raised: list[str] = []

    def lock(dataset: Dataset) -> None:
        for _ in range(ROUNDS):
            try:
                with transaction.atomic():
                    lock_dataset(dataset)
            except OperationalError as error:
                raised.append(str(error))
        connection.close()

    threads = [threading.Thread(target=lock, args=(dataset,)) for dataset in datasets]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return raised


def _lock_in_a_moment(dataset: Dataset) -> str:
    postgres = connection.vendor == "postgresql"
    with connection.cursor() as cursor:
        cursor.execute("SET lock_timeout = '200ms'" if postgres else "PRAGMA busy_timeout = 200")
    try:
        with transaction.atomic():
            lock_dataset(dataset)
    except OperationalError:
        return "waits"
    return "goes on"


def race(dataset_id: str, threads: int, attempts: int) -> dict[str, int]:
    """How often each outcome came."""
    dataset = Dataset.objects.select_related("owner").get(pk=dataset_id)
    outcomes: Counter[str] = Counter()
    gate = threading.Event()
    racers = [threading.Thread(target=_try, args=(dataset, attempts, gate, outcomes)) for _ in range(threads)]
    for racer in racers:
        racer.start()
    print("ready", flush=True)
    sys.stdin.readline()
    gate.set()
    for racer in racers:
        racer.join()
    return outcomes


def _try(dataset: Dataset, attempts: int, gate: threading.Event, outcomes: Counter[str]) -> None:
    connection.ensure_connection()
    gate.wait()
    for attempt in range(attempts):
        outcome = _reserve_and_settle(dataset, spend=attempt % 2 == 0)
        outcomes[outcome] += 1
    connection.close()


def _reserve_and_settle(dataset: Dataset, spend: bool, definition: Definition = Definition.PURE) -> str:
    """Every second reservation is spent at once, so that both kinds of writing race."""
    try:
        booking = ledger.Booking(uuid.uuid4(), "Race")
        reserve = partial(ledger.reserve, dataset, AMOUNT, booking, definition=definition, by=dataset.owner)
        entry = _when_free(reserve)
        if spend:
            _when_free(partial(ledger.spend, entry))
    except ledger.BudgetRefusedError:
        return "refused"
    except Exception as error:
        return type(error).__name__
    return "granted"


def _when_free(step: Callable[[], Result]) -> Result:
    """Asks again while SQLite is busy, as the portal's page says and its workers do: its waiters have no queue."""
    while True:
        try:
            return step()
        except OperationalError as error:
            if "locked" not in str(error):
                raise


PREPARATIONS = {"prepare": prepare, "charged": charged, "bound": bound}

if __name__ == "__main__":
    if sys.argv[1] in PREPARATIONS:
        print(PREPARATIONS[sys.argv[1]]())
    else:
        print(json.dumps(race(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]))), flush=True)
