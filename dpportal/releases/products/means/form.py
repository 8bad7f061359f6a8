"""Which columns to measure, in which steps, and by which groups."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

from django import forms
from django.forms import BoundField
from django.utils.translation import gettext as _, gettext_lazy

from dpportal.datasets.people_estimate import people_field
from dpportal.platform.json_types import Json
from dpportal.platform.listed_names import listed
from dpportal.platform.typed_numbers import DecimalInput
from dpportal.releases.models import Release
from dpportal.releases.products.shared.draft_form import ChoiceForm
from mechanisms.accounting import plainly
from mechanisms.domain import Date, Domain, Integer, Real
from mechanisms.moments.column import MeasuredColumn, usual_step
from mechanisms.moments.mechanism import MAX_GROUPS
from mechanisms.protocol import PlanError

MAX_GROUP_COLUMNS = 3
STEP = "step-"


def measured_names(draft: Release) -> list[str]:
    """The columns that are added up; the draft's others say the groups."""
    return [name for name in draft.parameters.get("measured", []) if name in draft.columns]


def group_names(draft: Release) -> list[str]:
    """The columns that make groups."""
    measured = measured_names(draft)
    return [name for name in draft.columns if name not in measured]


def measured_columns(draft: Release, domain: Domain) -> list[MeasuredColumn]:
    """The columns that are added up, with their steps. Raises PlanError."""
    steps = draft.parameters.get("steps", {})
    attributes = domain.project(measured_names(draft)).attributes
    return [MeasuredColumn.of(a, Fraction(steps[a.name]) if a.name in steps else None) for a in attributes]


class MeansForm(ChoiceForm):
    """Columns to measure with their steps, columns that say the groups, and whether deviations are wanted."""

    columns = forms.MultipleChoiceField(
        label=gettext_lazy("Columns to measure"),
        widget=forms.CheckboxSelectMultiple,
        error_messages={"required": gettext_lazy("Choose at least one column to measure.")},
    )
    groups = forms.MultipleChoiceField(
        label=gettext_lazy("Groups"), widget=forms.CheckboxSelectMultiple, required=False
    )
    deviation = forms.BooleanField(
        label=gettext_lazy("Standard deviation, too"),
        required=False,
        help_text=gettext_lazy(
            "It makes the margins of numbers up to 1.2 times as wide, and those of means hardly wider."
        ),
    )
    people = people_field()

    def adapt(self, draft: Release) -> None:
        self.offer_columns("groups")
        field = self.fields["columns"]
        assert isinstance(field, forms.MultipleChoiceField)
        field.choices = [
            (a.name, self.named[a.name])
            for a in self.declared.attributes
            if isinstance(a, Integer | Real | Date)
        ]
        chosen = draft.parameters.get("steps", {})
        for place, attribute in enumerate(self.numeric):
            usual = plainly(usual_step(attribute))
            self.fields[f"{STEP}{place}"] = forms.DecimalField(
                label=self.named[attribute.name],
                required=False,
                widget=DecimalInput,
                initial=chosen.get(attribute.name),
                help_text=_("If empty: %(step)s") % {"step": usual},
            )

    @property
    def numeric(self) -> list[Integer | Real]:
        """The columns whose step can be chosen: dates are counted in days."""
        return [a for a in self.declared.attributes if isinstance(a, Integer | Real)]

    @property
    def steps(self) -> Iterator[BoundField]:
        return (self[name] for name in self.fields if name.startswith(STEP))

    @property
    def has_step_errors(self) -> bool:
        return any(name.startswith(STEP) for name in self.errors)

    def chosen(self, draft: Release) -> Json:
        initial = {"deviation": True, **super().chosen(draft)}
        return {**initial, "columns": measured_names(draft), "groups": group_names(draft)}

    def clean(self) -> Json:
        data = super().clean() or {}
        both = set(data.get("columns", [])) & set(data.get("groups", []))
        if both:
            text = _("%(columns)s cannot be measured and say the groups at once. Choose one of the two.")
            self.add_error("groups", text % {"columns": listed(self.named[name] for name in sorted(both))})
        if len(data.get("groups", [])) > MAX_GROUP_COLUMNS:
            text = _("Choose at most %(most)s columns for the groups.")
            self.add_error("groups", text % {"most": MAX_GROUP_COLUMNS})
        self._check_size(data)
        for place, attribute in enumerate(self.numeric):
            self._check_step(f"{STEP}{place}", attribute)
        return data

    def _check_size(self, data: Json) -> None:
        """Add an error where there are more means than are released together."""
        groups = self.declared.project(data.get("groups", [])).size
        if groups * len(data.get("columns", [])) > MAX_GROUPS:
            text = _(
                "These are %(groups)s groups; at most %(most)s means are released together. Choose fewer columns, or "
                "declare wider bins."
            )
            self.add_error("groups", text % {"groups": f"{groups:,}", "most": f"{MAX_GROUPS:,}"})

    def _check_step(self, field: str, attribute: Integer | Real) -> None:
        """Add an error where a column that is measured cannot be in its step."""
        step = self.cleaned_data.get(field)
        if attribute.name not in self.cleaned_data.get("columns", []) or field in self.errors:
            return
        try:
            MeasuredColumn.of(attribute, None if step is None else Fraction(step))
        except PlanError as refusal:
            self.add_error(field, str(refusal))

    def apply(self, draft: Release) -> None:
        data = self.cleaned_data
        draft.columns, draft.people = [*data["groups"], *data["columns"]], data["people"]
        steps = {a.name: data[f"{STEP}{place}"] for place, a in enumerate(self.numeric)}
        draft.parameters = {
            "measured": data["columns"],
            "deviation": data["deviation"],
            "steps": {
                name: plainly(Fraction(step), 15)
                for name, step in steps.items()
                if step is not None and name in data["columns"]
            },
        }
