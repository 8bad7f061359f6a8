"""What a reader picks of a release's cells: a form without programs, and the picks in words."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import date

import numpy as np
from django import forms
from django.forms import BoundField
from django.http import QueryDict
from django.utils.translation import gettext as _, gettext_lazy

from dpportal.charts.cell_names import cell_name, cell_names
from dpportal.platform.json_types import Json
from dpportal.platform.listed_names import joint, listed
from dpportal.releases.products.shared.listed_choice import (
    ListedCheckboxes,
    ListedSelect,
    ListedSelectMultiple,
)
from mechanisms.arrays import Integers
from mechanisms.box_queries import CellSum, Picks
from mechanisms.domain import MISSING_LABEL, Attribute, Date, Domain, Integer, Real

# Cells up to which stored numbers are added up while a page waits, and up to which a sum is estimated from sums that
# were measured; those of more are in the downloads.
MAX_CELLS, MAX_ESTIMATED_CELLS = 2**22, 2**18
# Cells of a column up to which they are listed to choose from; of more they are typed.
LISTED = 400
TICKED = 24
LONGEST_TEXT = 4_000
# Columns up to which cells of all are asked for, so that a page stays short; of more, a reader says first which matter,
# and of so many at most.
MOST_AT_ONCE, MAX_PICKED_COLUMNS = 4, 6
PREFIX = "pick"
# Of an earlier pick, which the next one is compared with; and the button that asks for that.
FIRST, COMPARE = "first", "compare"
NO_INTERVAL = gettext_lazy("The error of this method depends on the data, so no margin can be stated.")
# Of an ordered column the missing cell is in no range, so it is asked for by itself.
UNRANGED, WITH, LEFT_OUT, ALONE = "", "with", "left-out", "alone"
WITHOUT_VALUE = (
    (UNRANGED, gettext_lazy("included unless a range is picked")),
    (WITH, gettext_lazy("include")),
    (LEFT_OUT, gettext_lazy("exclude")),
    (ALONE, gettext_lazy("only")),
)
_READERS: dict[str, Callable[[str], int | float | date]] = {
    Integer.kind: int,
    Real.kind: float,
    Date.kind: date.fromisoformat,
}
SumOfPicks = Callable[[Picks], CellSum | None]
DifferenceOfPicks = Callable[[Picks, Picks], CellSum | None]


@dataclass(frozen=True)
class ExplorerColumn:
    """The fields that ask for cells of one column. ticked: whether they are boxes to tick."""

    name: str
    fields: Sequence[BoundField]
    ticked: bool


class ExplorerForm(forms.Form):
    """Which columns matter to the reader, of many."""

    columns = forms.MultipleChoiceField(
        label=gettext_lazy("Columns"),
        widget=ListedCheckboxes,
        error_messages={"required": gettext_lazy("Pick at least one column.")},
    )

    def __init__(self, domain: Domain, data: QueryDict | None) -> None:
        super().__init__(data, prefix=PREFIX, label_suffix="")
        field = self.fields["columns"]
        assert isinstance(field, forms.MultipleChoiceField)
        field.choices = [(str(place), name) for place, name in enumerate(domain.shown_names)]

    def clean_columns(self) -> list[int]:
        places = sorted({int(place) for place in self.cleaned_data["columns"]})
        if len(places) > MAX_PICKED_COLUMNS:
            text = _("Pick at most %(limit)s columns; of the others all cells count.")
            raise forms.ValidationError(text % {"limit": MAX_PICKED_COLUMNS})
        return places


class PickForm(forms.Form):
    """Cells of some columns: from one to another where they have an order, else any of them. Nothing said means all."""

    def __init__(self, domain: Domain, data: QueryDict | None, places: Sequence[int] | None = None) -> None:
        """places: the places of the columns that are asked about; None: all."""
        super().__init__(data, prefix=PREFIX, label_suffix="")
        self.domain = domain
        self.places = range(len(domain.attributes)) if places is None else places
        for place in self.places:
            fields = _fields(domain.attributes[place])
            self.fields.update({f"{name}-{place}": field for name, field in fields.items()})

    def columns(self) -> Iterator[ExplorerColumn]:
        for place in self.places:
            attribute = self.domain.attributes[place]
            fields = [self[name] for name in self.fields if name.endswith(f"-{place}")]
            ticked = isinstance(fields[0].field.widget, forms.CheckboxSelectMultiple)
            yield ExplorerColumn(attribute.shown_name, fields, ticked)

    def clean(self) -> Json:
        data = super().clean() or {}
        self.picks: list[Integers] = [np.arange(attribute.size) for attribute in self.domain.attributes]
        for place in self.places:
            attribute = self.domain.attributes[place]
            try:
                self.picks[place] = self._picked(attribute, place, data)
            except forms.ValidationError as wrong:
                self.add_error(f"{'to' if attribute.ordered else 'in'}-{place}", wrong)
        return data

    def _picked(self, attribute: Attribute, place: int, data: Json) -> Integers:
        """The places that are picked of a column. Raises ValidationError with what to change."""
        if not attribute.ordered:
            chosen = data.get(f"in-{place}")
            places = _typed(attribute, chosen) if isinstance(chosen, str) else [int(c) for c in chosen or ()]
            return np.array(sorted(places), dtype=np.int64) if places else np.arange(attribute.size)
        ends = [_end(attribute, data.get(f"{end}-{place}") or "") for end in ("from", "to")]
        without = data.get(f"missing-{place}") or UNRANGED
        if ends == [None, None] and without in (UNRANGED, WITH):
            return np.arange(attribute.size)
        if without == ALONE:
            if ends != [None, None]:
                raise forms.ValidationError(_("Missing values are in no range. Leave both ends at any."))
            return np.array([attribute.regular_size], dtype=np.int64)
        first = 0 if ends[0] is None else ends[0]
        last = attribute.regular_size - 1 if ends[1] is None else ends[1]
        if first > last:
            raise forms.ValidationError(_("It ends before it begins."))
        span = np.arange(first, last + 1)
        return np.append(span, attribute.regular_size) if without == WITH else span


def _fields(attribute: Attribute) -> dict[str, forms.Field]:
    """The questions about one column, by name."""
    listed = attribute.size <= LISTED
    labels = [(str(i), label) for i, label in enumerate(cell_names(attribute))] if listed else []
    if not attribute.ordered:
        return {"in": _any_of(attribute, labels)}
    regular = labels[: attribute.regular_size]
    fields = {"from": _one_of(_("From"), regular), "to": _one_of(_("To"), regular)}
    if attribute.missing_cell:
        fields["missing"] = forms.ChoiceField(
            label=_("Missing values"), required=False, choices=WITHOUT_VALUE
        )
    return fields


def _any_of(attribute: Attribute, labels: list[tuple[str, str]]) -> forms.Field:
    if not labels:
        return forms.CharField(
            label=attribute.shown_name,
            required=False,
            max_length=LONGEST_TEXT,
            help_text=_("One value a line; none means all."),
            widget=forms.Textarea(attrs={"rows": 3}),
        )
    widget = forms.CheckboxSelectMultiple if len(labels) <= TICKED else ListedSelectMultiple
    return forms.MultipleChoiceField(
        label=attribute.shown_name,
        required=False,
        choices=labels,
        widget=widget,
        help_text=_("None means all.") if widget is ListedSelectMultiple else "",
    )


def _one_of(label: str, labels: list[tuple[str, str]]) -> forms.Field:
    if not labels:
        return forms.CharField(label=label, required=False, max_length=100)
    choices = [("", _("any")), *labels]
    return forms.ChoiceField(label=label, required=False, choices=choices, widget=ListedSelect)


def _typed(attribute: Attribute, text: str) -> set[int]:
    places = {label: place for place, label in enumerate(attribute.labels())}
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    unknown = next((line for line in lines if line not in places), None)
    if unknown is not None:
        raise forms.ValidationError(_("“%(value)s” is none of its values.") % {"value": unknown})
    return {places[line] for line in lines}


def _end(attribute: Attribute, text: str) -> int | None:
    """The cell that a list's choice names, or that holds a typed value. Raises ValidationError."""
    if not text:
        return None
    if attribute.size <= LISTED:
        return int(text)
    assert isinstance(attribute, Integer | Real | Date)
    try:
        value = _READERS[attribute.kind](text.strip())
        cell = bisect_right(range(attribute.regular_size), value, key=attribute.start) - 1
    except (ValueError, OverflowError):
        raise forms.ValidationError(
            _("“%(value)s” cannot be read; write it like %(example)s.")
            % {"value": text, "example": attribute.lower}
        ) from None
    return max(0, cell)


def explored(
    domain: Domain,
    question: QueryDict,
    answer: SumOfPicks,
    *,
    difference: DifferenceOfPicks | None = None,
    reason: str = "",
    note: str = "",
) -> Json:
    """What the page shows of a reader's pick.

    answer: the sum of a box. difference: of two, where picks can be compared. reason: why a sum may have no interval.
    note: what to know of one that has.
    """
    answered, places = {key for key in question if key.startswith(f"{PREFIX}-")}, None
    if len(domain.attributes) > MOST_AT_ONCE:
        which = ExplorerForm(domain, question if answered else None)
        if not which.is_valid():
            return {"explorer_columns": which}
        places = which.cleaned_data["columns"]
    has_picks = bool(answered - {f"{PREFIX}-columns", f"{PREFIX}-which"})
    form = PickForm(domain, question if has_picks else None, places)
    context: Json = {
        "explorer": form,
        "explorer_places": places,
        "explorer_reason": reason,
        "explorer_note": note,
    }
    if has_picks and form.is_valid():
        total = answer(form.picks)
        context |= {"picked": _words(domain, form.picks), "explored": total, "unexplored": total is None}
        context |= _compared(form, question, answer, difference) if difference else {}
    return context


def _compared(form: PickForm, question: QueryDict, answer: SumOfPicks, difference: DifferenceOfPicks) -> Json:
    """The pick that the next one can be compared with, and what this one is like beside an earlier one."""
    first = _renamed(question, FIRST, PREFIX) if COMPARE in question else QueryDict()
    earlier = PickForm(form.domain, first, form.places)
    if not first or not earlier.is_valid():
        return {"explorer_first": _hidden(_renamed(question, PREFIX, FIRST))}
    between = difference(earlier.picks, form.picks)
    return {
        "explorer_first": _hidden(_renamed(first, PREFIX, FIRST)),
        "first_picked": _words(form.domain, earlier.picks),
        "first_explored": answer(earlier.picks),
        "difference": between,
        "is_certain": _is_certain(between),
    }


def _is_certain(between: CellSum | None) -> bool:
    """Whether a difference is beyond its margin."""
    if between is None or between.half_width is None:
        return False
    return abs(between.estimate) > between.half_width


def _renamed(question: QueryDict, old: str, new: str) -> QueryDict:
    """The fields of one prefix under another one."""
    fields = QueryDict(mutable=True)
    for key, values in question.lists():
        if key.startswith(f"{old}-"):
            fields.setlist(f"{new}{key.removeprefix(old)}", values)
    return fields


def _hidden(fields: QueryDict) -> list[tuple[str, str]]:
    """Each value of the fields, with its name."""
    return [(key, value) for key, values in fields.lists() for value in values]


def asks_for_columns(domain: Domain, question: QueryDict) -> bool:
    """Whether a reader has said nothing yet, and has to say first which of many columns matter: names are enough."""
    has_changed_or_is_invalid = any(key.startswith(f"{PREFIX}-") for key in question)
    return len(domain.attributes) > MOST_AT_ONCE and not has_changed_or_is_invalid


def refusal(cells: int, limit: int) -> str:
    """Why no sum is worked out while a page waits; empty if it is."""
    text = _(
        "Of %(cells)s cells no sums are worked out on this page, only of up to %(limit)s. Take the downloads."
    )
    return "" if cells <= limit else text % {"cells": f"{cells:,}", "limit": f"{limit:,}"}


def without_picks(question: QueryDict) -> QueryDict:
    """What a reader asks but for cells: the public page shows the form empty."""
    other = question.copy()
    for key in [key for key in other if key.startswith((f"{PREFIX}-", f"{FIRST}-"))]:
        del other[key]
    return other


def has_form(explored: Json) -> bool:
    """Whether cells can be picked."""
    return "explorer" in explored or "explorer_columns" in explored


def _words(domain: Domain, picks: Picks) -> list[tuple[str, str]]:
    """Which cells were added, a line for each column of which some were left out."""
    pairs = zip(domain.attributes, picks, strict=True)
    return [(a.shown_name, _named(a, places)) for a, places in pairs if len(places) < a.size]


def _named(attribute: Attribute, places: Integers) -> str:
    regular = places[places < attribute.regular_size]
    if not attribute.ordered:
        labels = cell_names(attribute)
        return listed(labels[place] for place in places)
    if len(regular) <= 2:
        return listed(_label(attribute, int(place)) for place in places)
    ends = {"first": _label(attribute, int(regular[0])), "last": _label(attribute, int(regular[-1]))}
    rest = joint(",") + cell_name(MISSING_LABEL) if len(regular) < len(places) else ""
    return _("%(first)s to %(last)s") % ends + rest


def _label(attribute: Attribute, place: int) -> str:
    """What a cell of an ordered column is called. Of very many cells they are not all written out."""
    if place >= attribute.regular_size:
        return cell_name(MISSING_LABEL)
    if attribute.size > LISTED and isinstance(attribute, Integer | Real | Date):
        return "–".join(dict.fromkeys(map(str, attribute.bounds(place))))
    return attribute.labels()[place]
