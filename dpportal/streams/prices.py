"""What drafts of running counts cost and how wrong they will be, as administrators are told; no data is read here."""

from __future__ import annotations

from django.urls import reverse
from django.utils.functional import lazy
from django.utils.translation import gettext as _

from dpportal.budgets.models import Budget
from dpportal.budgets.requests import PricedDraft
from dpportal.publications.verdict import rounded
from dpportal.streams import drafts, strategy_page
from dpportal.streams.measure import StreamDraftError
from dpportal.streams.models import Stream
from mechanisms.continual.mechanism import StreamPlan


def priced(draft: Stream, plan: StreamPlan | None) -> PricedDraft:
    """plan: None where the draft has none yet; then no margin can be said."""
    budget = Budget.for_planning(draft.dataset)
    margin = lazy(_margin, str)(plan) if plan else ""
    return PricedDraft(
        draft.name,
        draft.amount_of(budget),
        budget.definition,
        margin,
        reverse("streams:review", args=[draft.pk]),
    )


def of_draft(draft: Stream) -> PricedDraft:
    """With the margin of its plan, if it has one already."""
    return priced(draft, _plan(draft))


def _margin(plan: StreamPlan) -> str:
    return _("± %(half)s at the end") % {"half": rounded(strategy_page.half_width(plan))}


def _plan(draft: Stream) -> StreamPlan | None:
    try:
        return drafts.plan_of(draft)[1]
    except StreamDraftError:
        return None
