"""A grant for a table that has a budget elsewhere, which waits for a second administrator where a site wants that."""

from __future__ import annotations

from django.http import QueryDict
from django.urls import reverse
from django.utils.translation import gettext as _, gettext_lazy

from dpportal.accounts.models import User
from dpportal.approvals import acts, services
from dpportal.approvals.acts import Act, OutdatedError
from dpportal.approvals.models import Approval
from dpportal.approvals.services import ApprovalQuestion
from dpportal.budgets.amounts import plain, with_delta
from dpportal.budgets.forms import GrantForm
from dpportal.budgets.ledger import BudgetRefusedError
from dpportal.datasets.models import Dataset
from dpportal.platform.stored_texts import in_site_language
from dpportal.platform.two_people import KNOWN_TABLES
from mechanisms.accounting import SYMBOL, Definition


def asks_first(form: GrantForm) -> bool:
    """Whether this valid grant asks for a second person, and grants nothing yet."""
    return bool(form.similar) and acts.is_needed(KNOWN_TABLES)


@in_site_language
def ask(form: GrantForm, by: User) -> Approval:
    """Have the grant wait as it was sent."""
    data, dataset = form.cleaned_data, form.dataset
    assert isinstance(form.data, QueryDict)
    summary = _(
        "Grant %(amount)s for “%(dataset)s”, although nearly the same table has a budget: %(known)s. %(reason)s"
    )
    words = {
        "amount": with_delta(
            f"{SYMBOL[Definition(data['definition'])]} = {plain(data['amount'])}", data["delta"]
        ),
        "dataset": dataset.name,
        "known": ", ".join(each.dataset.name for each in form.similar),
        "reason": data["reason"],
    }
    sent = {name: form.data.getlist(name) for name in form.fields if name in form.data}
    address = reverse("grant", args=[dataset.pk])
    return services.ask(ApprovalQuestion(KNOWN_TABLES, dataset.pk, summary % words, address, sent), by)


def _grant(approval: Approval) -> None:
    dataset = Dataset.objects.filter(pk=approval.subject).first()
    if dataset is None:
        raise OutdatedError(_("The dataset was deleted."))
    if not (approval.by.is_active and approval.by.is_administrator):
        raise OutdatedError(_("Whoever asked is no administrator any more."))
    sent = QueryDict(mutable=True)
    for name, values in approval.arguments.items():
        sent.setlist(name, values)
    form = GrantForm(sent, dataset=dataset)
    if not form.is_valid():
        raise OutdatedError(" ".join(str(text) for texts in form.errors.values() for text in texts))
    try:
        form.save_as(approval.by)
    except BudgetRefusedError as refusal:
        raise OutdatedError(str(refusal)) from None


GRANT = Act(KNOWN_TABLES, gettext_lazy("Budget for a known table"), _grant)
