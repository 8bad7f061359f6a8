"""What somebody who looks for a publication can say."""

from __future__ import annotations

from collections.abc import Mapping, Sized
from types import MappingProxyType

from django import forms
from django.forms import BoundField
from django.http import QueryDict
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from dpportal.catalogue.entries import KINDS, CatalogueEntry, SearchQuery, counted

EMPTY: Mapping[str, str | Promise] = MappingProxyType({})


class SearchForm(forms.Form):
    """Offers the kinds, years, places, publishers and columns that there are, with their numbers.

    What an address says otherwise looks for nothing in particular.
    """

    words = forms.CharField(
        label=_("Words"),
        required=False,
        max_length=200,
        widget=forms.TextInput(attrs={"type": "search", "placeholder": _("Title, dataset, column, keyword")}),
    )
    kind = forms.ChoiceField(label=_("Kind"), required=False)
    year = forms.ChoiceField(label=_("Published in"), required=False)
    place = forms.ChoiceField(label=_("Place"), required=False)
    publisher = forms.ChoiceField(label=_("Publisher"), required=False)
    covered = forms.ChoiceField(label=_("Data of"), required=False)
    column = forms.ChoiceField(label=_("Column"), required=False)

    def __init__(self, data: QueryDict, publications: list[CatalogueEntry]) -> None:
        super().__init__(data, label_suffix="")
        kinds = counted(p.kind for p in publications)
        years = counted(p.published_at.year for p in publications)
        self._offer("kind", _("Any kind"), {kind: kinds[kind] for kind in KINDS if kind in kinds}, KINDS)
        self._offer("year", _("Any year"), dict(reversed(years.items())))
        places = counted(p.place for p in publications)
        publishers = counted(p.publisher for p in publications)
        self._offer("place", _("Any place"), places)
        self._offer("publisher", _("Any publisher"), publishers)
        covered = counted(year for p in publications for year in p.years)
        columns = counted(column for p in publications for column in set(p.columns))
        self._offer("covered", _("Any time"), dict(reversed(covered.items())))
        self._offer("column", _("Any column"), columns)
        among: Mapping[str, Sized] = {
            "covered": covered,
            "column": columns,
            "place": places,
            "publisher": publishers,
        }
        self.several = [name for name, numbers in among.items() if len(numbers) > 1]

    def _offer(
        self,
        name: str,
        any_of_them: str | Promise,
        numbers: Mapping[str, int] | Mapping[int, int],
        names: Mapping[str, str | Promise] = EMPTY,
    ) -> None:
        """The values that there are, under their names if they have other ones."""
        field = self.fields[name]
        assert isinstance(field, forms.ChoiceField)
        there = [(value, f"{names.get(str(value), value)} ({number})") for value, number in numbers.items()]
        field.choices = [("", any_of_them), *there]

    def query(self) -> SearchQuery:
        """What is asked for; a field with a mistake counts as left open."""
        self.is_valid()
        values = self.cleaned_data
        year, covered = values.get("year"), values.get("covered")
        return SearchQuery(
            values.get("words", ""),
            values.get("kind", ""),
            int(year) if year else None,
            values.get("place", ""),
            values.get("publisher", ""),
            int(covered) if covered else None,
            values.get("column", ""),
        )

    def facets(self) -> list[BoundField]:
        """The lists to choose from, most of them where there are any two."""
        return [self["kind"], self["year"], *(self[name] for name in self.several)]
