"""Which columns to count together."""

from __future__ import annotations

from django import forms
from django.utils.translation import gettext as _, gettext_lazy

from dpportal.datasets.people_estimate import people_field
from dpportal.releases.models import Release
from dpportal.releases.products.shared.average_group import declared_cells
from dpportal.releases.products.shared.draft_form import ChoiceForm, DraftError
from mechanisms.domain import Attribute, Domain

MAX_COLUMNS, FEW_COLUMNS = 4, 2
# In a typical cell of the columns that are ticked in advance; cells of them where nobody estimated the people.
FEWEST_PEOPLE, USUAL_CELLS = 20, 1000
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


def usual_columns(declared: Domain, people: int | None) -> list[str]:
    """The columns that are ticked in advance, by the declaration and the curator's estimate of the people alone.

    All of them where hardly any is declared; else the first ones beside which a typical cell still has people.
    """
    names = list(declared.names)
    if len({a.column for a in declared.attributes}) == len(names) <= FEW_COLUMNS:
        return names
    most = people // FEWEST_PEOPLE if people else USUAL_CELLS
    chosen: list[Attribute] = []
    for attribute in declared.attributes:
        is_new = attribute.column not in [a.column for a in chosen]
        if is_new and declared_cells(Domain((*chosen, attribute))) <= most:
            chosen.append(attribute)
        if len(chosen) == FEW_COLUMNS:
            break
    smallest = min(declared.attributes, key=lambda a: a.size, default=None)
    return [a.name for a in chosen] or ([smallest.name] if smallest else [])


class CellsForm(ChoiceForm):
    """Which declared columns to count together, and how many people the curator thinks there are."""

    columns = forms.MultipleChoiceField(
        label=gettext_lazy("Columns"),
        widget=forms.CheckboxSelectMultiple,
        error_messages={"required": gettext_lazy("Choose between one and four columns.")},
    )
    people = people_field()

    def adapt(self, draft: Release) -> None:
        # Whether a person's rows agree in a column only the curator knows, and counts by one row of each rest on that.
        usual = [] if draft.picks_row else usual_columns(self.declared, draft.people)
        self.initial["columns"] = draft.columns or usual

    def clean_columns(self) -> list[str]:
        columns = [name for name in self.declared.names if name in self.cleaned_data["columns"]]
        try:
            check_columns(self.declared.project(columns))
        except DraftError as error:
            raise forms.ValidationError(error.message) from None
        return columns

    def apply(self, draft: Release) -> None:
        draft.columns, draft.people = self.cleaned_data["columns"], self.cleaned_data["people"]
