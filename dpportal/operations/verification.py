"""Whether all that the portal keeps agrees: history, budgets, downloads, and the files on its disk."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import partial

from django.db.models import Case, Count, F, Field, Q, QuerySet, Subquery, Sum, Value, When
from django.db.models.functions import Coalesce
from django.utils.translation import gettext as _

from dpportal.accounts.models import Role
from dpportal.budgets import charge_journal, charge_places
from dpportal.budgets.ledger_lines import LINE
from dpportal.budgets.models import Budget, LedgerEntry
from dpportal.history import chain, checkpoints, heads, imprints, verification
from dpportal.history.checkpoints import Checkpoint
from dpportal.history.verification import BrokenChainError
from dpportal.operations import (
    database_integrity,
    erased_again,
    portal_tables,
    repeated_rows,
    sealed_values,
    stored_files,
    strange_objects,
    sweeping,
    withdrawn_again,
    written_values,
)
from dpportal.operations.strange_files import in_scratch, strange_files
from dpportal.platform import journal, triggers
from dpportal.platform.journal import MemoryFaultError
from dpportal.platform.storage import StorageFault
from dpportal.streams import vault
from dpportal.streams.models import Stream
from dpportal.streams.vault import VaultError


def problems(carried: list[Checkpoint]) -> Iterator[str]:
    """What does not agree, in sentences. carried: checkpoints from elsewhere, beside those of the folder."""
    yield from checked(_("The database's file"), database_integrity.contradictions)
    yield from checked(_("The history"), broken_chain)
    yield from checked(_("The database's tables"), portal_tables.differences)
    yield from checked(_("Keys of the database's tables"), repeated_rows.repeated_keys)
    yield from checked(_("Values in the database's file"), written_values.strange)
    yield from checked(_("The database's triggers"), lost_triggers)
    yield from checked(_("What was added to the database's tables"), strange_objects.additions)
    yield from checked(_("Checkpoints"), partial(checkpoints.contradictions, carried))
    yield from checked(_("The memory of the history"), heads.contradictions)
    yield from checked(_("What the history says of other rows"), imprints.differences)
    yield from checked(_("Sealed values"), sealed_values.unopened)
    yield from checked(_("Budgets"), wrong_budgets)
    yield from checked(_("Grants"), foreign_grants)
    yield from checked(_("Stored downloads"), stored_files.faults)
    yield from checked(_("Charges in the memory"), damaged_charges)
    yield from checked(_("Withdrawals in the memory"), withdrawn_again.contradictions)
    yield from checked(_("Erasures in the memory"), erased_again.contradictions)
    yield from checked(_("Secret states of running counts"), unopened_states)
    yield from checked(_("Stored files"), unnamed_files)


def checked(what: str, check: Callable[[], Iterable[str]]) -> Iterator[str]:
    """What a check finds; where a value was changed to what the portal cannot read, that it cannot be made."""
    try:
        yield from check()
    except StorageFault:
        raise
    except Exception as fault:
        text = _("%(what)s cannot be checked: a value has a form that no portal writes (%(fault)s).")
        yield text % {"what": what, "fault": type(fault).__name__}


def unnamed_files() -> Iterator[str]:
    """Those that no row names."""
    for name in sweeping.orphans():
        yield _("No row names the stored file %(name)s.") % {"name": name}
    for name in sweeping.dated_ahead():
        yield _(
            "No row names the stored file %(name)s, and it bears a time to come, so the portal does not delete it."
        ) % {"name": name}
    for name in in_scratch():
        yield _("%(name)s lies among temporary files, and no job of the portal put it there so.") % {
            "name": name
        }
    for name in strange_files():
        yield _(
            "%(name)s lies among the portal's files, and is not one of them. The portal does not delete it."
        ) % {"name": name}


def broken_chain() -> Iterator[str]:
    """The first line that differs from the history."""
    try:
        verification.verify()
    except BrokenChainError as fault:
        yield str(fault)


def lost_triggers() -> Iterator[str]:
    """What the database should refuse by itself, and does not."""
    for guard in triggers.guards.values():
        for name in guard.differing("default"):
            yield _(
                "The database's trigger %(name)s is gone, changed or switched off: changes that it refuses may have "
                "been made. `manage.py migrate` makes it again."
            ) % {"name": name}


def foreign_grants() -> Iterator[str]:
    """Grants and reductions by somebody who, by the history, was no administrator then."""
    lines = LINE.rows().exclude(kind=LedgerEntry.Kind.CHARGE).select_related("by")
    for line in lines.annotate(place=Subquery(chain.places(LINE))).filter(place__isnull=False).order_by("pk"):
        role = {"role": Role.ADMINISTRATOR.value, "is_active": True}
        if not imprints.stated_before(imprints.kinds["user"], str(line.by_id), role, line.place):
            yield _(
                "%(line)s is by %(person)s, who was no administrator then: it was made past the portal."
            ) % {
                "line": f"line {line.pk}",
                "person": line.by,
            }


def damaged_charges() -> Iterator[str]:
    """Charges in the memory, and their places, whose file cannot be read, or holds nothing."""
    for dataset_id in charge_journal.dataset_ids():
        for key in sorted(charge_journal.keys(dataset_id)):
            try:
                charge_journal.recall(dataset_id, key)
            except MemoryFaultError as fault:
                yield _("Charge %(key)s in the memory: %(fault)s") % {"key": key, "fault": fault}
        for place in journal.names(f"{charge_places.FOLDER}/{dataset_id}"):
            try:
                charge_places.require_all_places(dataset_id, place)
            except MemoryFaultError as fault:
                text = _("Place %(place)s of dataset %(dataset)s in the memory: %(fault)s")
                yield text % {"place": place, "dataset": dataset_id, "fault": fault}


def unopened_states() -> Iterator[str]:
    """Running counts that are open, and whose secret state is gone or was changed."""
    for stream in Stream.objects.filter(state=Stream.State.OPEN).order_by("pk").only("pk", "name"):
        try:
            vault.read(stream)
        except VaultError as fault:
            yield f"{stream.pk}: {fault}"


def wrong_budgets() -> Iterator[str]:
    """Budgets whose amounts are not what their lines add up to, each line once."""
    for budget in _recomputed().exclude(
        Q(rows=F("lines")),
        total=F("granted"),
        spent=F("paid"),
        reserved=F("held"),
        delta_total=F("delta_granted"),
        delta_spent=F("delta_paid"),
        delta_reserved=F("delta_held"),
    ):
        text = _("Budget %(key)d of dataset %(dataset)s does not have the amounts that its lines add up to.")
        yield text % {"key": budget.pk, "dataset": budget.dataset_id}


def _recomputed() -> QuerySet[Budget]:
    return Budget.objects.annotate(
        rows=Count("entries__pk"),
        lines=Count("entries__pk", distinct=True),
        **_sums("", "amount", "total"),
        **_sums("delta_", "delta", "delta_total"),
    )


def _sums(prefix: str, of: str, like: str) -> dict[str, Coalesce]:
    """What the lines add up to of one of their amounts. like: a field of budgets that has such sums."""
    kind, state, amount = LedgerEntry.Kind, LedgerEntry.State, f"entries__{of}"
    signed = Case(
        When(entries__kind=kind.GRANT, then=F(amount)), When(entries__kind=kind.REDUCTION, then=-F(amount))
    )
    sums = {
        "granted": Sum(signed),
        "paid": Sum(amount, filter=Q(entries__state=state.SPENT)),
        "held": Sum(amount, filter=Q(entries__state=state.RESERVED)),
    }
    field = Budget._meta.get_field(like)
    assert isinstance(field, Field)
    return {prefix + name: Coalesce(total, Value(0), output_field=field) for name, total in sums.items()}
