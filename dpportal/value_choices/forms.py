"""What a choice of values may cost."""

from __future__ import annotations

from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _

from dpportal.budgets.amounts import amount_formfield, delta_formfield
from dpportal.datasets.models import Dataset
from dpportal.platform.form_types import CleanedData
from dpportal.value_choices import services
from dpportal.value_choices.services import ChoiceError
from mechanisms.partition_selection.choosing import ValueChoicePlan


class CostForm(forms.Form):
    """How much to spend of the budget's ε or ρ, and of its δ; for pages and for programs.

    plan: what a choice at this cost would do, once the form is valid; None before.
    """

    amount = amount_formfield(
        label=_("privacy cost"),
        help_text=_("A larger cost keeps values that fewer people have. Releases of the column cost extra."),
    )
    delta = delta_formfield(
        label=_("spent δ"),
        help_text=_(
            "The chance with which this may fail for one of the people. Well below one over the number of people, such "
            "as 0.000000001. It is spent, too."
        ),
    )
    plan: ValueChoicePlan | None = None

    def __init__(self, *args: Any, dataset: Dataset, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.dataset = dataset

    def clean(self) -> CleanedData:
        data = super().clean() or {}
        if not self.errors:
            try:
                self.plan = services.plan_of(self.dataset, data["amount"], data["delta"])
            except ChoiceError as refusal:
                self.add_error(None, str(refusal))
        return data
