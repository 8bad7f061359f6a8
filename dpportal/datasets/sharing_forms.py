"""The form in which an owner shares a dataset."""

from __future__ import annotations

from typing import Any

from django import forms
from django.utils.functional import lazy
from django.utils.html import format_html
from django.utils.translation import gettext_lazy as _

from dpportal.datasets.models import Right

# What each right opens, as `access` has it.
OPENS = {
    Right.SEE: _(
        "Reads the declaration, the ledger, and finished releases and running counts, also those that are not "
        "published. Sees no row, no true count, and not how many rows there are."
    ),
    Right.RELEASE: _(
        "Besides: drafts, spends the budget, feeds running counts, compares with the true counts, publishes and "
        "withdraws. Sees true counts, but no row."
    ),
    Right.OWN: _(
        "All that you can: looks at rows, declares columns, asks for budget, deletes the records, shares with others "
        "and takes back."
    ),
}
_titled = lazy(lambda right: format_html("<strong>{}</strong> {}", right.label, OPENS[right]), str)


class ShareForm(forms.Form):
    """With whom, and what for."""

    name = forms.CharField(
        label=_("User name or e-mail address"),
        help_text=_("Of another curator of this portal, exactly as they sign in. Ask them for it."),
        max_length=254,
        widget=forms.TextInput(attrs={"autocomplete": "off", "autocapitalize": "none"}),
    )
    right = forms.TypedChoiceField(
        label=_("What they may do"),
        choices=[(int(right), _titled(right)) for right in Right],
        coerce=lambda value: Right(int(value)),
        initial=int(Right.SEE),
        widget=forms.RadioSelect,
    )

    def clean_name(self) -> Any:
        return self.cleaned_data["name"].strip()
