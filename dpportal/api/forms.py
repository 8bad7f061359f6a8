"""The form of a new token."""

from __future__ import annotations

from django import forms
from django.utils.translation import gettext_lazy as _

from dpportal.accounts.program_tokens import LIFETIME
from dpportal.api.models import ApiToken, Scope
from dpportal.budgets.amounts import amount_formfield
from dpportal.budgets.models import Budget
from dpportal.platform.form_types import CleanedData
from dpportal.platform.visible_text import VisibleTexts

LONGEST_DAYS = 365


class TokenForm(VisibleTexts, forms.Form):
    """What a token is for, what it opens, what may be spent by it, and for how long."""

    name = forms.CharField(
        label=_("name"),
        max_length=ApiToken._meta.get_field("name").max_length,
        help_text=_("So that you know it again, such as “nightly job”."),
        error_messages={"required": _("Give the token a name.")},
    )
    scope = forms.ChoiceField(
        label=_("what it opens"), choices=Scope.choices, widget=forms.RadioSelect, initial=Scope.READ
    )
    limit = amount_formfield(
        label=_("may spend at most"),
        help_text=_("In all, of all your datasets together. Needed unless it only reads."),
        required=False,
    )
    counted_in = forms.ChoiceField(
        label=_("counted in"), choices=Budget.Kind.choices, initial=Budget.Kind.PURE, required=False
    )
    days = forms.IntegerField(
        label=_("works for so many days"), min_value=1, max_value=LONGEST_DAYS, initial=LIFETIME.days
    )

    def clean(self) -> CleanedData:
        data = super().clean() or {}
        if (
            data.get("scope") not in (None, Scope.READ)
            and "limit" not in self.errors
            and not data.get("limit")
        ):
            self.add_error("limit", _("Say how much may be spent by this token in all."))
        data["counted_in"] = data.get("counted_in") or Budget.Kind.PURE
        return data
