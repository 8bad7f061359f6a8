"""A process whose threads approve, or refuse, one request at the same moment, as one administrator in many sessions.

Usage: python -m tests.dpportal.approvals.racer <threads>
"""

from __future__ import annotations

import json
import sys
import threading
from collections import Counter
from decimal import Decimal

import django

django.setup()

from django.conf import settings  # noqa: E402
from django.db import connection  # noqa: E402

from dpportal.accounts.models import Role, User  # noqa: E402
from dpportal.approvals import services as approvals  # noqa: E402
from dpportal.approvals.models import Approval  # noqa: E402
from dpportal.approvals.services import ApprovalError  # noqa: E402
from dpportal.budgets import second_person  # noqa: E402
from dpportal.platform.two_people import SPENDS, TwoPeople  # noqa: E402
from dpportal.releases import drafts, services  # noqa: E402
from tests.dpportal import building  # noqa: E402


def race(threads: int) -> dict[str, int]:
    """How often each outcome came, and how many charges there are in the end."""
    settings.TWO_PEOPLE = TwoPeople(frozenset({SPENDS}), Decimal(0), Decimal(0))
    second, approval = building.person("second", Role.ADMINISTRATOR), _asked()
    outcomes: Counter[str] = Counter()
    gate = threading.Barrier(threads)
    racers = [
        threading.Thread(target=_answer, args=(approval, second, gate, outcomes, number % 4 == 3))
        for number in range(threads)
    ]
    for racer in racers:
        racer.start()
    for racer in racers:
        racer.join()
    return {**outcomes, "charges": approval_charges(approval)}


def _asked() -> Approval:
    owner, administrator = (building.person(name, role) for name, role in PEOPLE.items())
    dataset = building.granted(building.stored_dataset(owner), administrator)
    draft = building.complete_draft(dataset)
    shown = services.reviewed_as(*drafts.plan_of(draft))
    second_person.ask_to_spend(draft, draft.account, shown, "/", owner)
    return Approval.objects.get()


def _answer(
    approval: Approval, person: User, gate: threading.Barrier, outcomes: Counter[str], refuses: bool
) -> None:
    connection.ensure_connection()
    gate.wait()
    try:
        if refuses:
            approvals.refuse(approval, person, "No")
        else:
            approvals.approve(approval, person)
        outcomes["answered"] += 1
    except ApprovalError:
        outcomes["too late"] += 1
    except Exception as error:
        outcomes[type(error).__name__] += 1
    connection.close()


def approval_charges(approval: Approval) -> int:
    """Of the ledger, where it was approved; as many as there are then."""
    approval.refresh_from_db()
    charges = second_person.LedgerEntry.objects.filter(kind="charge").count()
    return charges if approval.state == Approval.State.APPROVED else 1 - charges


PEOPLE = {"owner": Role.CURATOR, "administrator": Role.ADMINISTRATOR}

if __name__ == "__main__":
    print(json.dumps(race(int(sys.argv[1]))), flush=True)
