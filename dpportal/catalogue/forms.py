"""What somebody who looks for a publication can say."""

from __future__ import annotations

from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _

from dpportal.catalogue.publications import KINDS, Publication, Wanted, kinds_of, years_of


class SearchForm(forms.Form):
    """Offers the kinds and years that there are. What an address says otherwise looks for nothing in particular."""

    words = forms.CharField(
        label=_("Words"),
        required=False,
        max_length=200,
        widget=forms.TextInput(
            attrs={"type": "search", "placeholder": _("Title, dataset, column, publisher")}
        ),
    )
    kind = forms.ChoiceField(label=_("Kind"), required=False)
    year = forms.ChoiceField(label=_("Published in"), required=False)

    def __init__(self, data: Any, publications: list[Publication]) -> None:
        super().__init__(data, label_suffix="")
        kinds = [(kind, f"{KINDS[kind]} ({number})") for kind, number in kinds_of(publications).items()]
        years = [(str(year), str(year)) for year in years_of(publications)]
        self._offer("kind", [("", _("Any kind")), *kinds])
        self._offer("year", [("", _("Any year")), *years])

    def _offer(self, name: str, choices: list[Any]) -> None:
        field = self.fields[name]
        assert isinstance(field, forms.ChoiceField)
        field.choices = choices

    def wanted(self) -> Wanted:
        """What is asked for; a field with a mistake counts as left open."""
        self.is_valid()
        said = self.cleaned_data
        year = said.get("year")
        return Wanted(said.get("words", ""), said.get("kind", ""), int(year) if year else None)
