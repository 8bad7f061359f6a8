"""What remembering a charge outside the database costs, by how many a dataset has.

    python -m tests.benchmarks.charges

Compared with the charge alone: reserve and spend on the same database, SQLite in a temporary folder.
"""

from __future__ import annotations

import os
import statistics
import time
from decimal import Decimal
from typing import Any
from uuid import uuid4

REPEATS = 20


def main() -> None:
    os.environ["DJANGO_SETTINGS_MODULE"] = "tests.settings"
    import django

    django.setup()
    from django.core.management import call_command

    call_command("migrate", verbosity=0)
    from dpportal.accounts.models import Role
    from tests.dpportal import building

    owner = building.person("curator", Role.CURATOR)
    administrator = building.person("administrator", Role.ADMINISTRATOR)
    dataset = building.granted(building.stored_dataset(owner), administrator, total="100")
    print(f"{'charges before':>14}{'a charge':>12}{'of it remembering':>20}{'looking for a restore':>24}")
    made = 0
    for before in (0, 10_000, 100_000):
        fill(dataset, before - made)
        whole, remembering = zip(*(charge(dataset) for _ in range(REPEATS)), strict=True)
        made = before + REPEATS
        times = (statistics.median(whole), statistics.median(remembering), look())
        print(
            f"{before:>14}"
            + "".join(f"{1000 * s:>{w}.1f} ms" for s, w in zip(times, (9, 17, 21), strict=True))
        )


def fill(dataset: Any, number: int) -> None:
    """So many charges more, in the ledger, past which they are written at once, and by name in the memory."""
    from django.conf import settings
    from django.db.models import F, QuerySet

    from dpportal.budgets.amounts import stored
    from dpportal.budgets.models import Budget, LedgerEntry

    budget, folder = dataset.budgets.get(), settings.MEMORY_DIR / "charges" / str(dataset.pk)
    how = {"budget": budget, "kind": "charge", "state": "spent", "reason": "Many", "by": dataset.owner}
    cost = Decimal("0.0001")
    lines = [LedgerEntry(dataset=dataset, amount=cost, **how) for _ in range(number)]
    for line in QuerySet(LedgerEntry).bulk_create(lines):
        (folder / line.key.hex).touch()
    QuerySet(Budget).update(spent=F("spent") + stored(cost * number))


def charge(dataset: Any) -> tuple[float, float]:
    """Seconds of a charge, and of those what remembering took."""
    from dpportal.budgets import charge_journal, ledger
    from mechanisms.accounting import Definition

    spent = [0.0]
    settle = charge_journal.settle

    def timed(*arguments: Any) -> Any:
        begun = time.perf_counter()
        settled = settle(*arguments)
        spent[0] += time.perf_counter() - begun
        return settled

    charge_journal.settle = timed
    begun = time.perf_counter()
    booking, how = ledger.Booking(uuid4(), "Many"), {"definition": Definition.PURE, "by": dataset.owner}
    ledger.spend(ledger.reserve(dataset, Decimal("0.0001"), booking, **how))
    whole = time.perf_counter() - begun
    charge_journal.settle = settle
    return whole, spent[0]


def look() -> float:
    """Seconds that looking for what the database lacks takes."""
    from dpportal.operations import restore_check

    begun = time.perf_counter()
    assert not restore_check.findings().troubles
    return time.perf_counter() - begun


if __name__ == "__main__":
    main()
