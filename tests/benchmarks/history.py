"""What the hash chain over the ledger costs: fifty spends at once on PostgreSQL, with the chain and without.

    python -m tests.benchmarks.history

Compared with the same spends without links, in pairs that take turns. Goal: at most 1.3 times as long.
"""

from __future__ import annotations

import os
import statistics
import threading
import time
from contextlib import AbstractContextManager, nullcontext
from decimal import Decimal
from typing import Any
from unittest.mock import patch
from uuid import uuid4

import psycopg

POSTGRES_URL = os.environ.get("DPPORTAL_TEST_POSTGRES", "postgres://postgres@127.0.0.1:5432")
AT_ONCE, PAIRS = 50, 7


def main() -> None:
    name = f"dpportal_history_{uuid4().hex[:8]}"
    with psycopg.connect(f"{POSTGRES_URL}/postgres", autocommit=True) as server:
        server.execute(f'CREATE DATABASE "{name}"')
        try:
            os.environ |= {
                "DJANGO_SETTINGS_MODULE": "tests.settings",
                "DATABASE_URL": f"{POSTGRES_URL}/{name}",
            }
            measure()
        finally:
            server.execute(f'DROP DATABASE "{name}" WITH (FORCE)')


def measure() -> None:
    """Prints the medians, in seconds for all spends together, and how many links there are."""
    import django

    django.setup()
    from django.core.management import call_command

    call_command("migrate", verbosity=0)
    from dpportal.history import chain, verification

    datasets = [funded(number) for number in range(AT_ONCE)]
    spend_at_once(datasets)
    times: dict[str, list[float]] = {"without": [], "with": []}
    for _ in range(PAIRS):
        times["without"].append(timed(datasets, patch.object(chain, "add", lambda *_: None)))
        times["with"].append(timed(datasets, nullcontext()))
    without, linked = (statistics.median(times[which]) for which in ("without", "with"))
    print(f"{'without links':>16}{'with links':>14}{'ratio':>10}")
    print(f"{without:>14.3f} s{linked:>12.3f} s{linked / without:>10.2f}")
    print(f"links in one chain: {verification.verify_links().position}")


def funded(number: int) -> Any:
    """A dataset with a budget of its own."""
    from dpportal.accounts.models import Role, User
    from dpportal.budgets import ledger
    from dpportal.datasets.models import Dataset

    owner = User.objects.create_user(f"curator {number}", role=Role.CURATOR)
    dataset = Dataset.objects.create(owner=owner, name=f"Table {number}", file_name="none.csv")
    ledger.grant(dataset, Decimal(100), definition="pure", reason="To spend", by=owner)
    return dataset


def timed(datasets: list[Any], how: AbstractContextManager[object]) -> float:
    """Seconds that all spends take together."""
    with how:
        return spend_at_once(datasets)


def spend_at_once(datasets: list[Any]) -> float:
    """Each dataset spends once, all at the same time; seconds until the last has."""
    ready, gate = threading.Barrier(len(datasets) + 1), threading.Event()
    threads = [threading.Thread(target=spend, args=(dataset, ready, gate)) for dataset in datasets]
    for thread in threads:
        thread.start()
    ready.wait()
    begun = time.perf_counter()
    gate.set()
    for thread in threads:
        thread.join()
    return time.perf_counter() - begun


def spend(dataset: Any, ready: threading.Barrier, gate: threading.Event) -> None:
    """One reservation, and its charge."""
    from django.db import connection

    from dpportal.budgets import ledger
    from mechanisms.accounting import Definition

    connection.ensure_connection()
    ready.wait()
    gate.wait()
    booking = ledger.Booking(uuid4(), "At once")
    entry = ledger.reserve(dataset, Decimal("0.1"), booking, definition=Definition.PURE, by=dataset.owner)
    ledger.spend(entry)
    connection.close()


if __name__ == "__main__":
    main()
