"""The form in which an owner shares a dataset."""

from __future__ import annotations

from collections.abc import Callable

from django import forms
from django.utils.functional import lazy
from django.utils.html import format_html
from django.utils.translation import gettext_lazy as _

from dpportal.datasets.models import Right
from dpportal.platform.listed_names import joint

# What each right opens, as `access` has it.
OPENS = {
    Right.SEE: _(
        "Read the declaration, the ledger, and finished releases and running counts, also those that are not "
        "published. No row, no true count, and not how many rows there are."
    ),
    Right.RELEASE: _(
        "Read the declaration, the ledger and everything that was released; draft, spend the budget, feed running "
        "counts, compare with the true counts, publish and withdraw. True counts are open, but no row."
    ),
    Right.OWN: _(
        "Everything: also look at rows, declare columns, ask for budget, delete the records, share with others and "
        "take back."
    ),
}


def _title(right: Right) -> str:
    return format_html("<span><strong>{}</strong>{}{}</span>", right.label, joint(":"), OPENS[right])


_titled: Callable[[Right], str] = lazy(_title, str)


class ShareForm(forms.Form):
    """The person to share with, and the right to give."""

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

    def clean_name(self) -> str:
        return str(self.cleaned_data["name"]).strip()
