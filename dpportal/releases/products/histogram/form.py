"""Which columns to count together."""

from __future__ import annotations

from django import forms
from django.utils.translation import gettext as _, gettext_lazy

from dpportal.releases.models import Release
from dpportal.releases.products.shared.draft_form import ChoiceForm, DraftError, people_field
from mechanisms.domain import Domain

MAX_COLUMNS, FEW_COLUMNS = 4, 2
WARN_CELLS = 10**6
MAX_CELLS = 10**8


def check_columns(domain: Domain) -> None:
    """Raise DraftError if these columns make no histogram."""
    if not 1 <= len(domain.attributes) <= MAX_COLUMNS:
        raise DraftError(_("Choose between one and four columns."), "columns")
    if domain.size > MAX_CELLS:
        text = _(
            "These columns make %(cells)s cells; at most 100,000,000 can be released. Use fewer columns, wider "
            "bins, or fewer categories."
        )
        raise DraftError(text % {"cells": f"{domain.size:,}"}, "columns")


class CellsForm(ChoiceForm):
    """Which declared columns to count together, and how many people the curator thinks there are."""

    columns = forms.MultipleChoiceField(
        label=gettext_lazy("Columns"),
        widget=forms.CheckboxSelectMultiple,
        error_messages={"required": gettext_lazy("Choose between one and four columns.")},
    )
    people = people_field()

    def adapt(self, draft: Release) -> None:
        """Where hardly any column is declared, all of them are meant."""
        names = list(self.declared.names)
        if len({a.column for a in self.declared.attributes}) == len(names) <= FEW_COLUMNS:
            self.initial["columns"] = draft.columns or names

    def clean_columns(self) -> list[str]:
        columns = [name for name in self.declared.names if name in self.cleaned_data["columns"]]
        try:
            check_columns(self.declared.project(columns))
        except DraftError as error:
            raise forms.ValidationError(error.message) from None
        return columns

    def apply(self, draft: Release) -> None:
        draft.columns, draft.people = self.cleaned_data["columns"], self.cleaned_data["people"]
