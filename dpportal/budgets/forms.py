"""The administrator's form for granting and reducing budgets."""

from __future__ import annotations

import hashlib
import uuid
from decimal import Decimal
from typing import Any

from django import forms
from django.utils.translation import gettext, gettext_lazy as _

from dpportal.accounts.models import User
from dpportal.budgets import ledger, promises, refusals, requests
from dpportal.budgets.amounts import amount_formfield, plain
from dpportal.budgets.models import Budget, BudgetRequest, LedgerEntry
from dpportal.datasets import near_duplicates
from dpportal.datasets.models import Dataset
from dpportal.datasets.near_duplicates import SimilarDataset
from dpportal.datasets.protection import Protection
from dpportal.platform.form_types import CleanedData
from dpportal.platform.paragraphs import ParagraphsField

# The sign between a dataset's key and the digest of whom it protects.
APART = "."
CHANGES = [(LedgerEntry.Kind.GRANT.value, _("Grant")), (LedgerEntry.Kind.REDUCTION.value, _("Reduction"))]


class ReasonForm(forms.Form):
    """Why a curator asks for a budget, or why it is declined."""

    reason = ParagraphsField(max_length=500)


class ProtectedDatasetField(forms.ModelChoiceField[Dataset]):
    """A dataset to grant for, named with whom it protects; a choice holds for whom it named."""

    default_error_messages = {
        "changed": _(
            "Whom this dataset protects has changed since you opened this page. The list says whom now: choose again."
        )
    }

    def label_from_instance(self, obj: Dataset) -> str:
        return f"{obj.name} – {Protection.of(obj.current_domain())}"

    def prepare_value(self, value: object) -> object:
        """The dataset with the protection that the page names; what was posted stays as it is."""
        if not isinstance(value, Dataset):
            return value
        return f"{value.pk}{APART}{_named(value)}"

    def to_python(self, value: object) -> Dataset | None:
        key, _apart, named = str(value or "").partition(APART)
        dataset = super().to_python(key)
        if dataset is not None and named != _named(dataset):
            raise forms.ValidationError(self.error_messages["changed"], code="changed")
        return dataset


class WaitingRequestField(forms.ModelChoiceField[BudgetRequest]):
    """A question for a budget: one of those that wait is offered, any is read, so that a late answer is told so."""

    def label_from_instance(self, obj: BudgetRequest) -> str:
        return f"{obj.dataset.name} – {obj.reason}"

    def to_python(self, value: object) -> BudgetRequest | None:
        try:
            return BudgetRequest.objects.get(pk=str(value)) if value else None
        except (ValueError, BudgetRequest.DoesNotExist):
            raise forms.ValidationError(
                self.error_messages["invalid_choice"], code="invalid_choice"
            ) from None


def _named(dataset: Dataset) -> str:
    """A digest of whom a dataset protects now, as part of a form's value."""
    return hashlib.sha256(repr(Protection.of(dataset.current_domain())).encode()).hexdigest()[:12]


class BudgetChangeForm(forms.ModelForm[LedgerEntry]):
    """A grant or a reduction, with its reason; written through the ledger."""

    kind = forms.ChoiceField(label=_("change"), choices=CHANGES, initial=LedgerEntry.Kind.GRANT)
    definition = forms.ChoiceField(
        label=_("counted in"),
        choices=Budget.Kind.choices,
        help_text=_(
            "Pure ε admits Laplace noise and selection. zCDP ρ also admits Gaussian noise and is shown as (ε, δ). "
            "The first grant decides; later ones must agree."
        ),
    )
    delta_exponent = forms.IntegerField(
        label=_("n in δ = 10⁻ⁿ"),
        min_value=3,
        max_value=15,
        initial=6,
        help_text=_(
            "For zCDP only: the δ at which it is shown as (ε, δ). Below one over the number of people."
        ),
    )
    amount = amount_formfield(label=_("amount"))
    reason = forms.CharField(
        label=_("reason"), max_length=300, help_text=_("Kept in the ledger for ever; the curator sees it.")
    )

    dataset = ProtectedDatasetField(
        queryset=Dataset.objects.order_by("name", "pk").prefetch_related("budgets", "domain_versions"),
        label=_("dataset"),
        help_text=_("With whom its domain protects now: a grant is for them."),
    )
    budget = forms.ModelChoiceField(
        queryset=Budget.objects.select_related("dataset"),
        label=_("account"),
        required=False,
        help_text=_("To reduce another account than that of whom the domain protects now."),
    )

    answers = WaitingRequestField(
        queryset=requests.waiting(),
        label=_("answers the request"),
        required=False,
        help_text=_(
            "Whoever asked hears of it. Empty for a grant that answers none; a request then goes on waiting."
        ),
    )

    knowing = forms.TypedMultipleChoiceField(
        label=_("same people elsewhere"),
        coerce=uuid.UUID,
        widget=forms.CheckboxSelectMultiple,
        required=False,
        help_text=_(
            "Datasets with a budget whose table is nearly the same are listed here once the dataset is chosen. No "
            "curator learns of them; do not write of them in the reason. A table that lies elsewhere is recognised by "
            "its place, and what is read from it by the database's own plan; an upload or a copy of it is not. Of "
            "counts without a table nothing is known: ask whose they are."
        ),
    )

    promises = forms.MultipleChoiceField(
        label=_("other promises to the same people"),
        widget=forms.CheckboxSelectMultiple,
        required=False,
        help_text=_(
            "Budgets of the dataset for other protections are listed here once it is chosen, with what they mean for "
            "one person. Tick each once you have read it. If something was released that hides the number of rows, it "
            "stays hidden."
        ),
    )

    class Meta:
        model = LedgerEntry
        fields = [
            "dataset",
            "budget",
            "kind",
            "definition",
            "delta_exponent",
            "amount",
            "answers",
            "knowing",
            "promises",
            "reason",
        ]

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        named = self.data.get(self.add_prefix("dataset")) or self.initial.get("dataset") or ""
        field = self.fields["knowing"]
        assert isinstance(field, forms.TypedMultipleChoiceField)
        key = str(named).partition(APART)[0]
        field.choices = _similar_choices(key)
        others = self.fields["promises"]
        assert isinstance(others, forms.MultipleChoiceField)
        chosen = dataset_of(key)
        others.choices = _promises_of(chosen) if chosen else []

    def clean(self) -> CleanedData:
        """Check against the budget while its row is locked, so that the write that follows cannot be refused."""
        data = super().clean() or {}
        dataset = data.get("dataset")
        # Its lock makes changes of one dataset's domain and accounts wait for each other.
        similar = ledger.lock_with_similar(dataset) if dataset else []
        list(Budget.objects.select_for_update().filter(dataset=dataset))
        chosen = data.get("budget")
        budget = chosen or (Budget.of(dataset) if dataset else None)
        data["budget"] = budget
        if budget and budget.dataset_id != (dataset and dataset.pk):
            self.add_error(
                "budget", _("This account belongs to another dataset. Choose one of this dataset, or none.")
            )
        if data.get("kind") == LedgerEntry.Kind.REDUCTION:
            self._check_reduction(budget, data.get("amount"))
        elif chosen:
            self.add_error(
                "budget",
                _(
                    "A grant goes to the account of whom the domain protects now. Leave this empty for a grant."
                ),
            )
        else:
            self._check_grant(data, dataset, budget, similar)
        if request := data.get("answers"):
            self._check_answer(request, dataset)
        return data

    def _check_grant(
        self, data: CleanedData, dataset: Dataset | None, budget: Budget | None, similar: list[SimilarDataset]
    ) -> None:
        if dataset and (refusal := self._incomplete(dataset)):
            self.add_error("dataset", refusal)
        elif dataset and ledger.has_no_table(dataset):
            self.add_error("dataset", refusals.no_table_text())
        elif dataset and dataset.is_converting:
            self.add_error("dataset", refusals.being_read_text())
        elif {k.dataset.pk for k in similar} - set(data.get("knowing") or ()):
            self.add_error("knowing", refusals.unknowing_text())
        elif dataset and self._unread_promises(dataset):
            self.add_error(
                "promises",
                _(
                    "Another promise was made to the same people. Read what it means for one person, and tick it."
                ),
            )
        elif budget and budget.definition != data.get("definition"):
            self.add_error("definition", refusals.other_kind_text(budget))
        elif budget and ledger.moves_delta(budget, data.get("delta_exponent", budget.delta_exponent)):
            self.add_error("delta_exponent", refusals.other_delta_text(budget))

    def _check_answer(self, request: BudgetRequest, dataset: Dataset | None) -> None:
        if dataset and request.dataset_id != dataset.pk:
            self.add_error("answers", _("This request is for another dataset."))
        elif self.cleaned_data.get("kind") == LedgerEntry.Kind.REDUCTION:
            self.add_error(
                "answers", _("A reduction answers no request. Leave this empty, or decline in the office.")
            )
        elif not requests.waits(request):
            self.add_error("answers", requests.answered_text())

    def _unread_promises(self, dataset: Dataset) -> set[str]:
        """The accounts for other protections that were not ticked."""
        read = self.cleaned_data.get("promises") or ()
        return {key for key, _sentence in _promises_of(dataset)} - set(read)

    def _incomplete(self, dataset: Dataset) -> str:
        """Why nothing can be granted while the ledger lacks a charge; empty where it lacks none."""
        try:
            ledger.require_complete(dataset)
        except ledger.BudgetRefusedError as refusal:
            return str(refusal)
        return ""

    def _check_reduction(self, budget: Budget | None, amount: Decimal | None) -> None:
        if amount is not None and (budget is None or amount > budget.left):
            self.add_error("amount", refusals.reduction_text(budget))

    def save_as(self, by: User) -> LedgerEntry:
        """Write the change. Raises BudgetRefusedError."""
        data = self.cleaned_data
        if data["kind"] == LedgerEntry.Kind.REDUCTION:
            return ledger.reduce(data["budget"], data["amount"], reason=data["reason"], by=by)
        return ledger.grant(
            data["dataset"],
            data["amount"],
            definition=data["definition"],
            reason=data["reason"],
            by=by,
            terms=ledger.GrantTerms(data["delta_exponent"], data["knowing"], data["answers"]),
        )


def dataset_of(key: str) -> Dataset | None:
    """The dataset that an address or a form names, if there is one."""
    try:
        return Dataset.objects.get(pk=uuid.UUID(key))
    except (ValueError, Dataset.DoesNotExist):
        return None


def _promises_of(dataset: Dataset) -> list[tuple[str, str]]:
    return promises.before_grant(dataset, Protection.of(dataset.current_domain()))


def _similar_choices(key: str) -> list[tuple[str, str]]:
    """The datasets with nearly the same table that have a budget, and what it has spent."""
    dataset = dataset_of(key)
    if dataset is None:
        return []
    return [
        (str(similar.dataset.pk), _similar_text(similar))
        for similar in ledger.with_budget(near_duplicates.similar_datasets(dataset))
    ]


def _similar_text(similar: SimilarDataset) -> str:
    spent = ", ".join(
        f"{b.symbol} = {plain(b.spent)} of {plain(b.total)}"
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
    return f"{text}. {hidden}" if similar.dataset.total_stays_private else text
