"""What somebody who looks for a publication can say."""

from __future__ import annotations

from collections.abc import Mapping
from heapq import nlargest
from types import MappingProxyType

from django import forms
from django.forms import BoundField
from django.http import QueryDict
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from dpportal.catalogue.entries import KINDS, Catalogue, FacetValue, SearchQuery
from dpportal.platform.listed_names import with_number

EMPTY: Mapping[str, str | Promise] = MappingProxyType({})
# What is offered where there is more than one of it, in the order of the page.
SEVERAL = ("covered", "column", "place", "publisher")
# Of one list: a page with thousands to choose from is slow to make and of no use.
MOST_OFFERED = 200


class SearchForm(forms.Form):
    """Offers the kinds, years, places, publishers and columns that there are, with their numbers.

    What an address says otherwise looks for nothing in particular.
    """

    words = forms.CharField(
        label=_("Words"),
        required=False,
        max_length=200,
        widget=forms.TextInput(
            attrs={"type": "search", "placeholder": _("Title, dataset, column, value, keyword")}
        ),
    )
    kind = forms.ChoiceField(label=_("Kind"), required=False)
    year = forms.ChoiceField(label=_("Published in"), required=False)
    place = forms.ChoiceField(label=_("Place"), required=False)
    publisher = forms.ChoiceField(label=_("Publisher"), required=False)
    covered = forms.ChoiceField(label=_("Data of"), required=False)
    column = forms.ChoiceField(label=_("Column"), required=False)

    def __init__(self, data: QueryDict, catalogue: Catalogue) -> None:
        super().__init__(data, label_suffix="")
        facets = catalogue.facets
        kinds = facets["kind"]
        self._offer("kind", _("Any kind"), {kind: kinds[kind] for kind in KINDS if kind in kinds}, KINDS)
        self._offer("year", _("Any year"), dict(reversed(facets["year"].items())))
        self._offer("place", _("Any place"), facets["place"])
        self._offer("publisher", _("Any publisher"), facets["publisher"])
        self._offer("covered", _("Any time"), dict(reversed(facets["covered"].items())))
        columns = facets["column"]
        shown = sorted(columns, key=lambda name: str(catalogue.titles.get(str(name), name)).casefold())
        self._offer("column", _("Any column"), {name: columns[name] for name in shown}, catalogue.titles)
        self.several = [name for name in SEVERAL if len(facets[name]) > 1]

    def _offer(
        self,
        name: str,
        any_of_them: str | Promise,
        numbers: Mapping[FacetValue, int],
        names: Mapping[str, str | Promise] = EMPTY,
    ) -> None:
        """The values that there are, under their names if they have other ones: the most frequent, and the chosen."""
        field, chosen = self.fields[name], self.data.get(name)
        assert isinstance(field, forms.ChoiceField)
        frequent = set(nlargest(MOST_OFFERED, numbers, key=lambda value: numbers[value]))
        offered = (value for value in numbers if value in frequent or str(value) == chosen)
        there = [(value, with_number(names.get(str(value), value), numbers[value])) for value in offered]
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
