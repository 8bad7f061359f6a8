"""What a choice of values may cost."""

from __future__ import annotations

from django import forms
from django.utils.translation import gettext_lazy as _

from dpportal.budgets.amounts import amount_formfield, delta_formfield


class CostForm(forms.Form):
    """How much to spend of the budget's ε or ρ, and of its δ."""

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
