"""A range of cells that a reader picks of a release of all ranges, and its answer with its own margin."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from django import forms
from django.http import QueryDict
from django.utils.translation import gettext as _

from dpportal.charts.cell_names import cell_names
from dpportal.platform.json_types import Json
from dpportal.releases.models import Release
from dpportal.releases.products.queries.parts import WorkloadPart, answer_shown, margin_shown
from dpportal.releases.products.queries.words import label_text
from dpportal.releases.products.queries.workloads import label_of
from dpportal.releases.products.shared import stored_estimates
from dpportal.releases.products.shared.explorer import LISTED
from dpportal.releases.products.shared.listed_choice import ListedSelect
from mechanisms.domain import Attribute
from mechanisms.matrix.mechanism import QueryPlan
from mechanisms.matrix.workload.factor import AllRange, Factor, Identity
from mechanisms.matrix.workload.range_views import range_place

PREFIX = "range"


@dataclass(frozen=True)
class _RangeAxis:
    """A column of which ranges are asked, or single cells; place: among the columns."""

    place: int
    attribute: Attribute
    factor: Factor

    @property
    def has_ends(self) -> bool:
        return isinstance(self.factor, AllRange)

    def fields(self) -> dict[str, forms.ChoiceField]:
        """A list for each end of a range, or one of the single cells."""
        name, last = self.attribute.shown_name, self.attribute.size - 1
        if not self.has_ends:
            return {f"at-{self.place}": _list_of(name, self.attribute, 0)}
        ends = {"from": (_("%(column)s, from"), 0), "to": (_("%(column)s, to"), last)}
        return {
            f"{end}-{self.place}": _list_of(label % {"column": name}, self.attribute, first)
            for end, (label, first) in ends.items()
        }

    def place_of(self, picked: Json) -> int:
        """Which of its queries is picked. Raises ValidationError."""
        if not self.has_ends:
            return int(picked[f"at-{self.place}"])
        first, last = (int(picked[f"{end}-{self.place}"]) for end in ("from", "to"))
        if first > last:
            raise forms.ValidationError(_("It ends before it begins."))
        return range_place(self.attribute.size, first, last + 1)


class RangeForm(forms.Form):
    """One of the answers, by the ends of its range. asks_of_all: whether it is of the release's only column."""

    def __init__(
        self, axes: list[_RangeAxis], part: WorkloadPart, question: QueryDict, *, asks_of_all: bool
    ) -> None:
        self.axes, self.part, self.asks_of_all = axes, part, asks_of_all
        is_answered = any(key.startswith(f"{PREFIX}-") for key in question)
        super().__init__(question if is_answered else None, prefix=PREFIX, label_suffix="")
        for axis in axes:
            self.fields.update(axis.fields())

    @property
    def others(self) -> Iterator[tuple[str, str]]:
        """Which chart is shown meanwhile."""
        yield from ((key, value) for key, value in self.data.items() if key == "part")

    def clean(self) -> Json:
        picked = super().clean() or {}
        if not self.errors:
            own = tuple(axis.place_of(picked) for axis in self.axes)
            sizes = tuple(axis.factor.queries for axis in self.axes)
            assert isinstance(self.part.place, slice)
            self.query = self.part.place.start + int(np.ravel_multi_index(own, sizes))
        return picked


def _list_of(label: str, attribute: Attribute, first: int) -> forms.ChoiceField:
    choices = [(str(cell), name) for cell, name in enumerate(cell_names(attribute))]
    return forms.ChoiceField(label=label, choices=choices, initial=str(first), widget=ListedSelect)


def range_form(plan: QueryPlan, question: QueryDict) -> RangeForm | None:
    """Of the first term with all ranges of a column and at most single cells of others; None where none is."""
    if plan.workload.shape != plan.domain.shape:
        return None
    columns = plan.domain.for_readers.attributes
    for term, place in plan.workload.offsets():
        part = WorkloadPart(term, place)
        axes = [_RangeAxis(axis, columns[axis], factor) for axis, factor in part.factors.items()]
        are_read = all(isinstance(a.factor, AllRange | Identity) and a.attribute.size <= LISTED for a in axes)
        if are_read and any(axis.has_ends for axis in axes):
            return RangeForm(axes, part, question, asks_of_all=len(columns) == 1)
    return None


def counted_range(release: Release, plan: QueryPlan, question: QueryDict) -> Json:
    """The form, and what the picked range holds; nothing where no ranges were asked. release: with stored answers."""
    form = range_form(plan, question)
    if form is None:
        return {}
    if not form.is_valid():
        return {"range_form": form}
    with stored_estimates.estimates(release) as (answers, margins):
        answer, margin = float(answers[form.query]), float(margins[form.query])
    label = label_of(plan.workload, plan.domain.for_readers, form.query + 1)
    counted = {
        "name": label_text(label),
        "answer": answer_shown(answer, margin, people=True),
        "margin": margin_shown(margin, people=True),
    }
    return {"range_form": form, "range": counted}
