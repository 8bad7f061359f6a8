"""What the lines of the ledger say, for the chain of the history: once when entered, and once when settled."""

from __future__ import annotations

from django.db.models import QuerySet

from dpportal.budgets.amounts import plain
from dpportal.budgets.models import LedgerEntry
from dpportal.history.canonical import Plain
from dpportal.history.chain import ChainedRows


def _entered(entry: LedgerEntry) -> dict[str, Plain]:
    """Everything that never changes. A line that was settled later was entered as reserved."""
    state = LedgerEntry.State.RESERVED.value if entry.settled_at else entry.state
    return {
        "dataset": str(entry.dataset_id),
        "budget": entry.budget_id,
        "kind": entry.kind,
        "state": state,
        "amount": plain(entry.amount),
        **({"delta": plain(entry.delta)} if entry.delta else {}),
        "of": entry.budget.definition,
        "reason": entry.reason,
        "key": str(entry.key),
        "by": entry.by_id,
        "at": entry.at.isoformat(),
        "total_public": entry.total_public,
        **(_protection(entry) if state == LedgerEntry.State.SPENT else {}),
    }


def _settled(entry: LedgerEntry) -> dict[str, Plain]:
    assert entry.settled_at is not None
    return {"state": entry.state, "settled_at": entry.settled_at.isoformat(), **_protection(entry)}


def _protection(entry: LedgerEntry) -> dict[str, Plain]:
    """Whom the account protects: fixed once it has paid for anything."""
    budget = entry.budget
    return {
        "neighbours": budget.neighbours,
        "unit_column": budget.unit_column,
        "ignore_case": budget.ignore_case,
    }


def _lines() -> QuerySet[LedgerEntry]:
    return LedgerEntry.objects.select_related("budget")


def _settled_lines() -> QuerySet[LedgerEntry]:
    return _lines().filter(settled_at__isnull=False)


LINE = ChainedRows("line", _lines, _entered)
SETTLED = ChainedRows("settled", _settled_lines, _settled)
