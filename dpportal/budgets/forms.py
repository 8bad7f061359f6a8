"""The forms of budgets: why one is asked for or declined, a grant, and a reduction."""

from __future__ import annotations

import hashlib
import uuid
from decimal import Decimal
from typing import Any

from django import forms
from django.utils.functional import cached_property
from django.utils.translation import gettext, gettext_lazy as _

from dpportal.accounts.models import User
from dpportal.budgets import ledger, promises, refusals, requests
from dpportal.budgets.amounts import amount_formfield, delta_formfield, plain, with_delta
from dpportal.budgets.models import Budget, BudgetRequest, LedgerEntry
from dpportal.budgets.odds import Odds, accounts_of_the_same_people
from dpportal.datasets import near_duplicates
from dpportal.datasets.models import Dataset
from dpportal.datasets.near_duplicates import SimilarDataset
from dpportal.datasets.protection import Protection
from dpportal.platform.form_types import CleanedData
from dpportal.platform.listed_names import joint, listed
from dpportal.platform.paragraphs import ParagraphsField
from dpportal.platform.visible_text import VisibleTexts
from mechanisms.accounting import Definition


class ReasonForm(VisibleTexts, forms.Form):
    """Why a curator asks for a budget, or why it is declined."""

    reason = ParagraphsField(max_length=500)


class WaitingRequestField(forms.ModelChoiceField[BudgetRequest]):
    """A request for a budget: any is read, so that a late answer is told that it is late."""

    widget = forms.HiddenInput

    def to_python(self, value: object) -> BudgetRequest | None:
        try:
            return BudgetRequest.objects.get(pk=str(value)) if value else None
        except (ValueError, BudgetRequest.DoesNotExist):
            raise forms.ValidationError(
                self.error_messages["invalid_choice"], code="invalid_choice"
            ) from None


def protection_digest(dataset: Dataset) -> str:
    """A digest of whom a dataset protects now: a form that was opened for others grants nothing."""
    return hashlib.sha256(repr(Protection.of(dataset.current_domain())).encode()).hexdigest()[:12]


def reason_field() -> forms.CharField:
    """Why a budget was changed."""
    return forms.CharField(
        label=_("reason"), max_length=300, help_text=_("The curator sees it. It stays in the ledger forever.")
    )


class GrantAmountForm(VisibleTexts, forms.Form):
    """How much is to be granted for whom a dataset protects now, and what all that is granted then means.

    A typed amount counts before a worked choice. Kind and δ are asked before the first grant alone.
    """

    choice = amount_formfield(required=False)
    amount = amount_formfield(label=_("another amount"), required=False)
    definition = forms.ChoiceField(
        label=_("counted in"),
        choices=Budget.Kind.choices,
        required=False,
        help_text=_(
            "Recommended: pure ε, the stronger and simpler promise. zCDP ρ also allows Gaussian noise, which is more "
            "accurate for many answers at once, and is shown as (ε, δ). The first grant decides; it cannot be changed."
        ),
    )
    delta_exponent = forms.IntegerField(
        label=_("n in δ = 10⁻ⁿ"),
        min_value=3,
        max_value=15,
        required=False,
        help_text=_(
            "For ρ only. Recommended: δ well below one over the number of people; 6 for most tables."
        ),
    )
    delta = delta_formfield(
        label=_("spendable δ"),
        required=False,
        help_text=_(
            "Only for values that nobody declared, such as towns of which no list is public: choosing which of them to "
            "publish costs a δ besides, the chance with which the promise may fail for one of the people. Recommended: "
            "nothing, or well below one over the number of people, such as 0.000000001. It is spent, as ε and ρ are, "
            "and adds to the δ at which ρ is read."
        ),
    )

    def __init__(self, *args: Any, dataset: Dataset, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.dataset = dataset

    def clean(self) -> CleanedData:
        """Kind and δ of the account where they are not asked."""
        data = super().clean() or {}
        budget = Budget.for_planning(self.dataset)
        data["definition"] = data.get("definition") or budget.definition
        data["delta_exponent"] = data.get("delta_exponent") or budget.delta_exponent
        data["delta"] = data.get("delta") or Decimal(0)
        if "amount" not in self.errors:
            data["amount"] = data.get("amount") or data.get("choice")
        return data

    @cached_property
    def odds(self) -> Odds | None:
        """What all that is granted for these people then means, as it was checked; None where no amount was read."""
        data = self.cleaned_data if self.is_bound and self.errors is not None else {}
        if not data.get("amount"):
            return None
        budget = Budget.for_planning(self.dataset)
        if not budget.is_granted:
            budget.definition, budget.delta_exponent = data["definition"], data["delta_exponent"]
        return Odds.of(budget, data["amount"], self.accounts, data["delta"])

    @cached_property
    def similar(self) -> list[SimilarDataset]:
        """The datasets with nearly the same table that have a budget."""
        return near_duplicates.with_budget(near_duplicates.similar_datasets(self.dataset))

    @cached_property
    def accounts(self) -> list[Budget]:
        """All accounts of the same people."""
        return accounts_of_the_same_people(self.dataset, self.similar)


class GrantForm(GrantAmountForm):
    """A grant for whom a dataset protects now, written through the ledger."""

    protects = forms.CharField(widget=forms.HiddenInput)
    answers = WaitingRequestField(queryset=BudgetRequest.objects.all(), required=False)
    knowing = forms.TypedMultipleChoiceField(
        label=_("the same people in other datasets"),
        coerce=uuid.UUID,
        widget=forms.CheckboxSelectMultiple,
        required=False,
        help_text=_(
            "These datasets hold nearly the same table. Costs for the same people add up, whoever uploaded them. Tick "
            "each to grant all the same. No curator learns of the others; do not write of them in the reason."
        ),
    )
    promises = forms.MultipleChoiceField(
        label=_("other promises to the same people"),
        widget=forms.CheckboxSelectMultiple,
        required=False,
        help_text=_("Tick each once you have read what it means for one person."),
    )
    reason = reason_field()
    certain = forms.BooleanField(
        label=_("I grant this although almost nothing protects these people any more."), required=False
    )

    def __init__(self, *args: Any, dataset: Dataset, **kwargs: Any) -> None:
        super().__init__(*args, dataset=dataset, **kwargs)
        knowing, others = self.fields["knowing"], self.fields["promises"]
        assert isinstance(knowing, forms.TypedMultipleChoiceField)
        assert isinstance(others, forms.MultipleChoiceField)
        knowing.choices = [(str(kin.dataset.pk), _similar_text(kin)) for kin in self.similar]
        others.choices = _promises_of(dataset)

    def clean(self) -> CleanedData:
        """Check against the budget while its row is locked, so that the write that follows cannot be refused."""
        # Its lock makes changes of one dataset's domain and accounts wait for each other.
        self.similar = ledger.lock_with_similar(self.dataset)
        self.accounts = accounts_of_the_same_people(self.dataset, self.similar)
        list(Budget.objects.select_for_update().filter(dataset=self.dataset))
        data = super().clean()
        if "amount" in data and data["amount"] is None:
            self.add_error("amount", _("Choose how much to grant, or type an amount."))
        self._check_dataset()
        self._check_people(data)
        self._check_kind(data, Budget.for_planning(self.dataset))
        self._check_answer(data.get("answers"))
        return data

    def _check_dataset(self) -> None:
        if self.cleaned_data.get("protects") not in (None, protection_digest(self.dataset)):
            text = _("Whom this dataset protects has changed since you opened this page. Read whom now.")
            self.add_error(None, text)
        if ledger.has_no_table(self.dataset):
            self.add_error(None, refusals.no_table_text())
        if self.dataset.is_converting:
            self.add_error(None, refusals.being_read_text())
        try:
            ledger.require_complete(self.dataset)
        except ledger.BudgetRefusedError as refusal:
            self.add_error(None, str(refusal))

    def _check_people(self, data: CleanedData) -> None:
        if {k.dataset.pk for k in self.similar} - set(data.get("knowing") or ()):
            self.add_error("knowing", refusals.unknowing_text())
        unread = {key for key, _sentence in _promises_of(self.dataset)} - set(data.get("promises") or ())
        if unread:
            text = _(
                "Another promise was made to the same people. Read what it means for one person, and tick it."
            )
            self.add_error("promises", text)

    def _check_kind(self, data: CleanedData, budget: Budget) -> None:
        """Kind and δ must be the account's; much is confirmed a second time."""
        if budget.is_granted and budget.definition != data["definition"]:
            self.add_error("definition", refusals.other_kind_text(budget))
        elif budget.is_granted and budget.is_moved_by(data["delta_exponent"]):
            self.add_error("delta_exponent", refusals.other_delta_text(budget))
        elif (odds := self.odds) and odds.needs_second_confirmation and not data.get("certain"):
            self.add_error("certain", _("From ε = 10 on, tick this to confirm a second time."))

    def _check_answer(self, request: BudgetRequest | None) -> None:
        if request is None:
            return
        if request.dataset_id != self.dataset.pk:
            self.add_error(None, _("This request is for another dataset."))
        elif not requests.waits(request):
            self.add_error(None, requests.answered_text())

    def save_as(self, by: User) -> LedgerEntry:
        """Write the grant. Raises BudgetRefusedError."""
        data = self.cleaned_data
        terms = ledger.GrantTerms(data["delta_exponent"], data["knowing"], data["answers"], data["delta"])
        return ledger.grant(
            self.dataset,
            data["amount"],
            definition=Definition(data["definition"]).value,
            reason=data["reason"],
            by=by,
            terms=terms,
        )


class ReductionForm(VisibleTexts, forms.Form):
    """Takes back a part of an account that is neither spent nor reserved."""

    budget = forms.ModelChoiceField(queryset=Budget.objects.none(), label=_("budget"), empty_label=None)
    amount = amount_formfield(label=_("amount"))
    delta = delta_formfield(label=_("spendable δ, too"), required=False)
    reason = reason_field()

    def __init__(self, *args: Any, dataset: Dataset, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        accounts = self.fields["budget"]
        assert isinstance(accounts, forms.ModelChoiceField)
        accounts.queryset = dataset.budgets.all()

    def clean(self) -> CleanedData:
        """Check against the budget while its row is locked."""
        data = super().clean() or {}
        chosen, amount = data.get("budget"), data.get("amount")
        data["delta"] = data.get("delta") or Decimal(0)
        if chosen and amount is not None:
            budget = Budget.objects.select_for_update().get(pk=chosen.pk)
            for name, left in (("amount", budget.left), ("delta", budget.delta_left)):
                if data[name] > left:
                    self.add_error(name, refusals.reduction_text(budget))
        return data

    def save_as(self, by: User) -> LedgerEntry:
        """Write the reduction. Raises BudgetRefusedError."""
        data = self.cleaned_data
        reason, delta = data["reason"], data["delta"]
        return ledger.reduce(data["budget"], data["amount"], reason=reason, by=by, delta=delta)


def _promises_of(dataset: Dataset) -> list[tuple[str, str]]:
    return promises.before_grant(dataset, Protection.of(dataset.current_domain()))


def _similar_text(similar: SimilarDataset) -> str:
    """What is shared with a dataset, and what that has spent."""
    spent = listed(
        with_delta(
            gettext("%(spent)s of %(total)s")
            % {"spent": f"{b.symbol} = {plain(b.spent)}", "total": plain(b.total)},
            b.delta_spent,
        )
        for b in similar.dataset.budgets.filter(total__gt=0)
    )
    text = gettext("shares %(what)s with %(name)s of %(owner)s, which has spent %(spent)s") % {
        "what": similar,
        "name": similar.dataset.name,
        "owner": similar.dataset.owner.get_username(),
        "spent": spent,
    }
    hidden = gettext(
        "It has promised that its number of rows stays hidden, which a release under “replace one” here would publish"
    )
    return joint(".").join((text, hidden)) if similar.dataset.total_stays_private else text
