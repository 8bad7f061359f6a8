"""The one column to randomise."""

from __future__ import annotations

from django import forms
from django.utils.translation import gettext_lazy

from dpportal.platform.json_types import Json
from dpportal.platform.typed_numbers import NOT_INTEGER, IntegerInput
from dpportal.releases.models import Release
from dpportal.releases.products.shared.draft_form import ChoiceForm


class ColumnForm(ChoiceForm):
    """The one column to randomise, and how many people the curator thinks there are."""

    columns = forms.ChoiceField(label=gettext_lazy("Column"), widget=forms.RadioSelect)
    people = forms.IntegerField(
        label=gettext_lazy("Your estimate of the number of people"),
        min_value=1,
        max_value=10**10,
        widget=IntegerInput,
        error_messages={"invalid": NOT_INTEGER},
        help_text=gettext_lazy("Used only to show what errors mean; it need not be exact."),
    )

    def chosen(self, draft: Release) -> Json:
        return {**super().chosen(draft), "columns": next(iter(draft.columns), None)}

    def apply(self, draft: Release) -> None:
        draft.columns, draft.people = [self.cleaned_data["columns"]], self.cleaned_data["people"]
