"""A change of what an offered table is, or of the word for it, which may need a second administrator."""

from __future__ import annotations

from django.core.exceptions import ValidationError
from django.urls import reverse
from django.utils.translation import gettext as _, gettext_lazy

from dpportal.accounts import audit
from dpportal.accounts.models import User
from dpportal.approvals import acts, services
from dpportal.approvals.acts import Act, OutdatedError
from dpportal.approvals.models import Approval
from dpportal.approvals.services import ApprovalQuestion
from dpportal.platform.stored_texts import in_site_language
from dpportal.platform.two_people import DEFINITIONS
from dpportal.tables.connections.models import DEFINING, SharedTable


def asks_first(table: SharedTable) -> bool:
    """Whether what a form changed of this table needs a second person."""
    return acts.is_needed(DEFINITIONS) and table.changes_definition()


@in_site_language
def ask_and_restore(table: SharedTable, by: User) -> None:
    """Have the change wait, and give the table back what it is until then."""
    stored = SharedTable.objects.get(pk=table.pk)
    before, after = _defined(stored), _defined(table)
    changed = [name for name in DEFINING if before[name] != after[name]]
    changes = (f"{name}: {before[name] or '–'} → {after[name] or '–'}" for name in changed)
    summary = _("Change the offered table “%(table)s”: %(changes)s") % {
        "table": stored,
        "changes": "; ".join(changes),
    }
    address = reverse("admin:connections_connection_change", args=[table.connection_id])
    services.ask(
        ApprovalQuestion(DEFINITIONS, table.pk, summary, address, {"before": before, "after": after}), by
    )
    for name, value in before.items():
        setattr(table, name, value)


def _defined(table: SharedTable) -> dict[str, str]:
    return {name: getattr(table, name) for name in DEFINING}


def _change(approval: Approval) -> None:
    table = SharedTable.objects.select_for_update().filter(pk=approval.subject).first()
    if table is None or _defined(table) != approval.arguments["before"]:
        raise OutdatedError(_("The offered table has changed since this was asked for."))
    if not (approval.by.is_active and approval.by.is_administrator):
        raise OutdatedError(_("Whoever asked is no administrator any more."))
    for name, value in approval.arguments["after"].items():
        setattr(table, name, value)
    try:
        table.full_clean()
    except ValidationError as fault:
        raise OutdatedError(" ".join(fault.messages)) from None
    table.save()
    audit.record(approval.by, "changed an offered table", table, approval.summary)


CHANGE = Act(DEFINITIONS, gettext_lazy("Change of an offered table"), _change)
