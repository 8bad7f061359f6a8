"""What drafts of releases cost and how wrong they will be, as administrators are told; no data is read here."""

from __future__ import annotations

from django.urls import reverse
from django.utils.functional import lazy
from django.utils.translation import gettext as _

from dpportal.budgets.margins import margin_text
from dpportal.budgets.models import Budget
from dpportal.budgets.requests import PricedDraft
from dpportal.publications.verdict import rounded
from dpportal.releases import drafts
from dpportal.releases.models import Release
from dpportal.releases.products import DraftError, ReleasePlan, planner_of


def priced(draft: Release, plan: ReleasePlan | None) -> PricedDraft:
    """plan: None where the draft has none yet; then no margin can be said."""
    title = draft.title or draft.proposed_title
    budget = Budget.for_planning(draft.dataset)
    margin = lazy(_margin, str)(draft, plan) if plan else ""
    return PricedDraft(
        title, draft.amount_of(budget), budget.definition, margin, reverse("releases:review", args=[draft.pk])
    )


def of_draft(draft: Release) -> PricedDraft:
    """With the margin of its plan, if it has one already."""
    return priced(draft, _plan(draft))


def _plan(draft: Release) -> ReleasePlan | None:
    try:
        return drafts.plan_of(draft)[1]
    except DraftError:
        return None


def _margin(draft: Release, plan: ReleasePlan) -> str:
    """± 10 people, and of what."""
    planner = planner_of(draft)
    error, label = planner.error_of(plan, draft), planner.error_label(draft)
    if error is None:
        return _("The margin depends on the data.")
    return margin_text(what=label.title, sign=label.sign, error=rounded(error), unit=label.unit)
