"""What the lines of the ledger say, for the chain of the history: once when entered, and once when settled."""

from __future__ import annotations

from django.db.models import QuerySet

from dpportal.budgets.amounts import plain
from dpportal.budgets.models import LedgerEntry
from dpportal.history.canonical import CanonicalValue
from dpportal.history.chain import ChainedRows


def _entered_first(entry: LedgerEntry) -> dict[str, CanonicalValue]:
    """Everything that never changes, as the first version wrote it: without the kind of loss and who is protected."""
    return {
        "dataset": str(entry.dataset_id),
        "budget": entry.budget_id,
        "kind": entry.kind,
        "state": _entered_state(entry),
        "amount": plain(entry.amount),
        "reason": entry.reason,
        "key": str(entry.key),
        "by": entry.by_id,
        "at": entry.at.isoformat(),
        "total_public": entry.total_public,
    }


def _entered(entry: LedgerEntry) -> dict[str, CanonicalValue]:
    return {
        **_entered_first(entry),
        **({"delta": plain(entry.delta)} if entry.delta else {}),
        "of": entry.budget.definition,
        **(_protection(entry) if _entered_state(entry) == LedgerEntry.State.SPENT else {}),
    }


def _entered_state(entry: LedgerEntry) -> str:
    """A line that was settled later was entered as reserved."""
    return LedgerEntry.State.RESERVED.value if entry.settled_at else entry.state


def _settled_first(entry: LedgerEntry) -> dict[str, CanonicalValue]:
    assert entry.settled_at is not None
    return {"state": entry.state, "settled_at": entry.settled_at.isoformat()}


def _settled(entry: LedgerEntry) -> dict[str, CanonicalValue]:
    return {**_settled_first(entry), **_protection(entry)}


def _protection(entry: LedgerEntry) -> dict[str, CanonicalValue]:
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


LINE = ChainedRows("line", _lines, [_entered_first, _entered])
SETTLED = ChainedRows("settled", _settled_lines, [_settled_first, _settled])
