"""A draft that a program confirms: the budget is reserved once for a key, and charged to the token that was sent."""

from __future__ import annotations

from typing import NoReturn

from django.db import transaction
from django.urls import reverse
from django.utils.translation import gettext as _

from dpportal.accounts.permissions import current_user
from dpportal.api import spending
from dpportal.api.authentication import token_of
from dpportal.api.problems import RefusedError
from dpportal.api.refused_forms import require_valid
from dpportal.api.repeating import RepeatableRequest
from dpportal.api.schemas import Spend
from dpportal.budgets import confirming, second_person
from dpportal.budgets.charged_publication import ChargedPublication
from dpportal.budgets.models import Budget
from dpportal.platform.form_data import form_data
from dpportal.publications.confirmation import ConfirmForm


def refuse(payload: Spend, reviewed: str, page: str) -> NoReturn:
    """Tell what is mistaken in an answer, and else that a second person is asked for on this page.

    reviewed: the digest of the present plan. Raises RefusedError.
    """
    require_valid(ConfirmForm(form_data(payload.dict())))
    if payload.reviewed != reviewed:
        text = _("The declaration or the method changed since you reviewed it. Read the review again.")
        raise RefusedError(409, text)
    raise RefusedError(409, second_person.missing_text(), page=page)


def confirm(sent: RepeatableRequest, payload: Spend, draft: ChargedPublication, reviewed: str) -> None:
    """Reserve the budget for what was reviewed, and queue the job.

    reviewed: the digest of the present plan. Raises RefusedError, also where a second person
    has to approve: what is spent then would be no token's.
    """
    if second_person.asks_first(draft, Budget.for_planning(draft.dataset)):
        refuse(payload, reviewed, reverse(f"{draft._meta.app_label}:review", args=[draft.pk]))
    spender, by = second_person.spender_of(draft), current_user(sent.request)
    shown = confirming.ShownPlan(reviewed)
    form = confirming.review_form(form_data(payload.dict()), by, draft, shown)
    with form.taking(*spender.refusals):
        if confirming.is_to_be_spent(form, by, draft, shown):
            with transaction.atomic():
                if spender.request(draft, reviewed=form.digest_read, by=by):
                    spending.charge(token_of(sent.request), draft)
                sent.remember(draft.pk)
    require_valid(form)
