"""What a token may spend: its limit is kept in the transaction that reserves a charge."""

from __future__ import annotations

from decimal import Decimal

from django.db.models import Sum
from django.utils.translation import gettext as _, gettext_noop

from dpportal.accounts import audit
from dpportal.accounts.audit_words import clause
from dpportal.api import tokens
from dpportal.api.models import ApiToken, TokenCharge
from dpportal.budgets.amounts import plain
from dpportal.budgets.charged_publication import ChargedPublication
from dpportal.budgets.models import LedgerEntry
from dpportal.value_choices.models import ValueChoice


class LimitError(Exception):
    """A charge beyond what a token may spend; the message says how much is left."""


def spent_by(token: ApiToken) -> Decimal:
    """What was reserved or spent by it; what was given back does not count."""
    charges = TokenCharge.objects.filter(token=token).exclude(entry__state=LedgerEntry.State.VOID)
    return charges.aggregate(sum=Sum("entry__amount"))["sum"] or Decimal(0)


def charge(token: ApiToken, publication: ChargedPublication | ValueChoice) -> None:
    """Enter the charge that was just reserved. Raises LimitError or AuthenticationError, which undo the reservation.

    In the caller's transaction.
    """
    held = tokens.locked_token(token)
    publication.refresh_from_db()
    assert publication.charge is not None
    entry = publication.charge
    if entry.budget.definition != held.counted_in:
        text = _("This token spends %(own)s, and this budget is counted in %(symbol)s. Make another token.")
        raise LimitError(text % {"own": held.symbol, "symbol": entry.budget.symbol})
    left = (held.limit or Decimal(0)) - spent_by(held)
    if entry.amount > left:
        text = _("This costs %(symbol)s = %(cost)s; the token may still spend %(left)s. Make another token.")
        values = {"symbol": held.symbol, "cost": plain(entry.amount), "left": plain(left)}
        raise LimitError(text % values)
    TokenCharge.objects.create(token=held, entry=entry)
    named = clause(gettext_noop("token %(id)s"), id=held.pk)
    audit.record(held.by, gettext_noop("spent by a token"), publication, named)
