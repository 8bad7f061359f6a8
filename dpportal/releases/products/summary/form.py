"""Which columns to summarise, by which groups, and which of them matter twice."""

from __future__ import annotations

from django import forms
from django.utils.translation import gettext as _, gettext_lazy

from dpportal.datasets.people_estimate import people_field
from dpportal.platform.json_types import Json
from dpportal.platform.listed_names import listed
from dpportal.releases.models import Release
from dpportal.releases.products.shared.draft_form import ChoiceForm
from mechanisms.domain import Domain
from mechanisms.summary.mechanism import MAX_COLUMNS, MAX_GROUPS

GROUP, TWICE = "group", "twice"


def group_name(draft: Release) -> str:
    """The column whose values are the groups; empty where everybody is one group."""
    name: str = draft.parameters.get(GROUP, "")
    return name if name in draft.columns else ""


def group_names(domain: Domain) -> list[str]:
    """The columns that have few enough cells for groups."""
    return [a.name for a in domain.attributes if a.size <= MAX_GROUPS]


def usual_columns(domain: Domain) -> list[str]:
    """Every column, but of several declarations of the same column the first alone; as many as are summarised."""
    read = {a.column: a.name for a in reversed(domain.attributes)}
    return [a.name for a in domain.attributes if read[a.column] == a.name][:MAX_COLUMNS]


class SummaryForm(ChoiceForm):
    """The table's columns, the column that makes its groups, and those whose margins are to be smaller."""

    columns = forms.MultipleChoiceField(
        label=gettext_lazy("Columns"),
        widget=forms.CheckboxSelectMultiple,
        error_messages={"required": gettext_lazy("Choose at least one column.")},
    )
    group = forms.ChoiceField(
        label=gettext_lazy("Groups"),
        required=False,
        help_text=gettext_lazy(
            "The table then has a column for each value. All groups together cost what one costs, but a small "
            "group has wide margins."
        ),
    )
    twice = forms.MultipleChoiceField(
        label=gettext_lazy("Columns that matter twice"), widget=forms.CheckboxSelectMultiple, required=False
    )
    people = people_field()

    def adapt(self, draft: Release) -> None:
        self.offer_columns(TWICE)
        group = self.fields[GROUP]
        assert isinstance(group, forms.ChoiceField)
        names = group_names(self.declared)
        refused = _(
            "This column cannot make groups: it has more than %(most)s values, or is not declared. Choose one of "
            "those listed."
        )
        group.error_messages["invalid_choice"] = refused % {"most": MAX_GROUPS}
        group.choices = [("", _("None: everybody together")), *((name, self.named[name]) for name in names)]
        if not draft.columns:
            self.initial["columns"] = usual_columns(self.declared)

    def clean(self) -> Json:
        data = super().clean() or {}
        group = data.get(GROUP, "")
        if data.get("columns") == [group]:
            self.add_error("columns", _("Choose a column besides the one that makes the groups."))
        if len(set(data.get("columns", [])) - {group}) > MAX_COLUMNS:
            text = _("Choose at most %(most)s columns: more are not summarised together.")
            self.add_error("columns", text % {"most": MAX_COLUMNS})
        others = set(data.get("columns", [])) - {group}
        if "columns" in data and (odd := [name for name in data.get(TWICE, []) if name not in others]):
            text = _(
                "Only a chosen column that makes no groups can matter twice. Leave out here: %(columns)s."
            )
            self.add_error(TWICE, text % {"columns": listed(self.named[name] for name in odd)})
        return data

    def apply(self, draft: Release) -> None:
        data = self.cleaned_data
        choose(draft, data["columns"], data[GROUP], data[TWICE])
        draft.people = data["people"]


def choose(draft: Release, columns: list[str], group: str, twice: list[str]) -> None:
    """Write columns and groups into a draft, the grouping column first."""
    others = [name for name in columns if name != group]
    draft.columns = [group, *others] if group else others
    draft.parameters = {GROUP: group, TWICE: twice}
