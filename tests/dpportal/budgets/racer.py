"""A process whose threads all try to reserve at the same moment; each has its own database connection.

Usage: python -m tests.dpportal.budgets.racer prepare | <dataset id> <threads> <attempts of each>
"""

from __future__ import annotations

import json
import sys
import threading
import uuid
from collections import Counter
from decimal import Decimal

import django

django.setup()

from django.db import connection  # noqa: E402

from dpportal.accounts.models import Role  # noqa: E402
from dpportal.budgets import ledger  # noqa: E402
from dpportal.datasets.models import Dataset  # noqa: E402
from mechanisms.accounting import Definition  # noqa: E402
from tests.dpportal import building  # noqa: E402

AMOUNT = Decimal("0.1")
GRANT = Decimal(5)


def prepare() -> str:
    """A dataset with ε = 5; prints its id."""
    curator = building.person("curator", Role.CURATOR)
    dataset = Dataset.objects.create(owner=curator, name="Raced for", file_name="none.csv")
    ledger.grant(dataset, GRANT, definition="pure", reason="To race for", by=curator)
    return str(dataset.pk)


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


def _reserve_and_settle(dataset: Dataset, spend: bool) -> str:
    """Every second reservation is spent at once, so that both kinds of writing race."""
    try:
        entry = ledger.reserve(
            dataset, AMOUNT, definition=Definition.PURE, key=uuid.uuid4(), reason="Race", by=dataset.owner
        )
        if spend:
            ledger.spend(entry)
    except ledger.BudgetRefusedError:
        return "refused"
    except Exception as error:
        return type(error).__name__
    return "granted"


if __name__ == "__main__":
    if sys.argv[1] == "prepare":
        print(prepare())
    else:
        print(json.dumps(race(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]))), flush=True)
