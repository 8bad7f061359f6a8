"""The form of a coarser column: a group for each value, the edges that stay, or a longer calendar step."""

from __future__ import annotations

from collections.abc import Mapping

from django import forms
from django.utils.translation import gettext_lazy as _

from dpportal.accounts.models import User
from dpportal.datasets import coarser, services
from dpportal.datasets.declared import declared_of
from dpportal.datasets.labels import BETWEEN
from dpportal.datasets.models import Dataset
from dpportal.platform.form_types import CleanedData
from dpportal.platform.visible_text import VisibleTexts
from mechanisms.domain import Attribute, Categorical, Date, DomainError, Integer, Real

STEP_NAMES = {"week": _("Week"), "month": _("Month"), "quarter": _("Quarter"), "year": _("Year")}
TOO_FEW_CELLS = _("Declare the column in at least two cells first; then some can be put together.")
GONE = _("There is no such coarser column any more.")


class CoarserForm(VisibleTexts, forms.Form):
    """What the new column is called, and what is put together. finer: the declared column."""

    name = forms.CharField(
        label=_("Name of the new column"),
        max_length=120,
        help_text=_("Such as “age group” or “education level”. It is published with what you release of it."),
    )

    def __init__(self, data: Mapping[str, object] | None, *, finer: Attribute) -> None:
        super().__init__(data)
        self.finer = finer
        if isinstance(finer, Categorical):
            self.fields["groups"] = _groups_field(finer)
        elif isinstance(finer, Date):
            steps = coarser.COARSER_STEPS.get(finer.step, ())
            self.fields["step"] = forms.ChoiceField(
                label=_("Calendar step"), choices=[(step, STEP_NAMES[step]) for step in steps]
            )
        else:
            assert isinstance(finer, Integer | Real)
            self.fields["edges"] = _edges_field(finer)

    def clean(self) -> CleanedData:
        data = super().clean() or {}
        if not self.errors:
            try:
                data["attribute"] = self._attribute(data)
            except DomainError as wrong:
                raise forms.ValidationError(str(wrong)) from None
        return data

    def keep(self, dataset: Dataset, by: User) -> Attribute:
        """Declare it after `is_valid()`. Raises DomainError for the name of a coarser column that is there."""
        new: Attribute = self.cleaned_data["attribute"]
        existing = declared_of(dataset).get(new.name)
        if existing is not None and existing.source:  # it is never replaced unasked
            text = _(
                "%(column)s: there is a coarser column of this name already. Remove it, or choose another name."
            )
            raise DomainError(text % {"column": new.name})
        services.declare(dataset, new.name, new, by=by)
        return new

    def _attribute(self, data: CleanedData) -> Attribute:
        name = data["name"].strip()
        if isinstance(self.finer, Categorical):
            return coarser.by_groups(self.finer, name, _groups(self.finer, data["groups"]))
        if isinstance(self.finer, Date):
            return coarser.by_step(self.finer, name, data["step"])
        assert isinstance(self.finer, Integer | Real)
        return coarser.by_edges(self.finer, name, _edges(self.finer, data["edges"]))


def _groups_field(finer: Categorical) -> forms.Field:
    lines = zip(finer.values, finer.words or finer.values, strict=True)
    return forms.CharField(
        label=_("Group of each value"),
        help_text=_(
            "A line for each value: the value, an equals sign between blanks, and the group that it belongs to. Values "
            "with the same group are counted together."
        ),
        initial="\n".join(f"{value}{BETWEEN}{word}" for value, word in lines),
        widget=forms.Textarea(attrs={"rows": min(20, len(finer.values) + 1), "class": "code"}),
    )


def _edges_field(finer: Integer | Real) -> forms.Field:
    return forms.CharField(
        label=_("Where groups begin, and the last one ends"),
        help_text=_("Between commas, from the lower to the upper limit, such as 0, 18, 65, 99."),
        initial=f"{finer.lower:g}, {finer.upper:g}"
        if isinstance(finer, Real)
        else f"{finer.lower}, {finer.upper}",
    )


def _groups(finer: Categorical, text: str) -> list[str]:
    """The group of each value, in the order of the values. Raises DomainError."""
    groups: dict[str, str] = {}
    for line in filter(None, map(str.strip, text.splitlines())):
        value, between, group = line.rpartition(BETWEEN)
        if not between or not group.strip():
            raise DomainError(
                str(_("Write each line as a value, an equals sign between blanks, and a group."))
            )
        value = value.strip()
        if value not in finer.values:
            raise DomainError(_("“%(value)s” is not declared in the finer column.") % {"value": value[:60]})
        if value in groups:
            raise DomainError(_("“%(value)s” has two lines.") % {"value": value[:60]})
        groups[value] = group.strip()
    if lacking := [value for value in finer.values if value not in groups]:
        raise DomainError(_("“%(value)s” has no group yet.") % {"value": lacking[0][:60]})
    return [groups[value] for value in finer.values]


def _edges(finer: Integer | Real, text: str) -> list[float]:
    is_integer = isinstance(finer, Integer)
    try:
        return [(int if is_integer else float)(edge.strip()) for edge in text.replace(";", ",").split(",")]
    except ValueError:
        if is_integer:
            example = _(
                "Write whole numbers between commas, such as 0, 18, 65, 99: the finer column holds no others."
            )
        else:
            example = _("Write numbers between commas, such as 0, 18.5, 65, 99.")
        raise DomainError(str(example)) from None
