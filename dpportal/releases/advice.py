"""Which method the wizard advises, from public statements alone: nothing is simulated, and no data is read."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal

from django.utils.translation import gettext as _

from dpportal.releases import drafts
from dpportal.releases.models import Release
from dpportal.releases.products import DraftError
from mechanisms import registry
from mechanisms.advice import ranking, table
from mechanisms.advice.ranking import Ranking
from mechanisms.advice.table import Checked
from mechanisms.protocol import PlanError


@dataclass(frozen=True)
class Advice:
    """The ranking for a draft, and how good such advice was on tables drawn afterwards.

    titles: of the methods, by name. columns: 1 or 2, of the drawn tables.
    """

    ranking: Ranking
    checked: Checked
    titles: dict[str, str]
    columns: int


def asked(draft: Release, amount: Decimal, purpose: str) -> Advice:
    """The advice on a draft at a cost, for a purpose. Raises DraftError if there is none."""
    _version, domain = drafts.domain_of(draft)
    offers = drafts.offers(draft, amount)
    methods = [registry.mechanism(offer.mechanism.name) for offer in offers if offer.plan]
    if not methods:
        raise DraftError(offers[0].refusal, "method")
    if draft.people is None:
        raise DraftError(_("State your estimate of the number of people first."), "columns")
    loss = drafts.loss_at(draft, amount)
    columns = table.columns_of(domain)
    try:
        ranked = ranking.rank(methods, domain, loss, purpose, draft.people)
    except PlanError as refusal:
        raise DraftError(str(refusal), "method") from None
    checked = table.checked(columns, loss.definition, purpose)
    return Advice(ranked, checked, {m.name: m.title for m in methods}, columns)
