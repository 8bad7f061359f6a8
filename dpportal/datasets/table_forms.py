"""The table in which all columns are declared: a row of small fields for each."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from django import forms
from django.utils.translation import gettext as _, gettext_lazy

from dpportal.datasets.cell_strip import Strip, strip
from dpportal.datasets.common_values import common_values
from dpportal.datasets.forms import AttributeForm
from dpportal.datasets.labels import BETWEEN
from dpportal.datasets.people_estimate import people_field
from dpportal.datasets.proposals import lacks_words, proposed
from dpportal.datasets.shown_declarations import initial_of
from dpportal.datasets.truths import is_unread
from dpportal.datasets.unlike_rows import unreadable_text
from dpportal.platform.json_types import Json
from dpportal.platform.listed_names import joint
from mechanisms.domain import Attribute

# Columns on a page of the table.
PAGE_COLUMNS = 40
# Without which a column of this kind is not declared.
NEEDED = {"categorical": ("values",), **dict.fromkeys(("integer", "real", "date"), ("lower", "upper"))}
# The words beside a field of a row, which are spoken, too; other fields have those of the column's own page.
LABELS = {
    "title": gettext_lazy("readers see"),
    "width": gettext_lazy("in steps of"),
    "bins": gettext_lazy("number of cells"),
    "single_values": gettext_lazy("count separately"),
    "step": gettext_lazy("by"),
    "no": gettext_lazy("no is written"),
    "yes": gettext_lazy("yes is written"),
    "missing_cell": gettext_lazy("count missing separately"),
}
# Cells of a column of numbers until its curator says another number.
USUAL_BINS = 10
# What the table does not show goes through it as it is.
HIDDEN = ("closed", "misfits_to", "edges", "as_numbers", "with_words", "binning")


class EstimateForm(forms.Form):
    """How many people there are, as the curator thinks; a draft begins with it."""

    people = people_field(label=gettext_lazy("Your estimate of the number of people"), required=False)


class RowForm(AttributeForm):
    """A column's declaration in one row. Fields that only its own page shows are sent along as they were."""

    def __init__(self, data: Mapping[str, object] | None, *, line: Json, suggests: bool) -> None:
        """line: of the list of columns. suggests: whether it begins with what the column's name suggests."""
        column, self.before, self.suggests = line["name"], line["attribute"], suggests
        super().__init__(
            data,
            column=column,
            initial=_initial(line, suggests),
            looks=[line["look"]],
            date_format=line["date_format"],
        )
        self.prefix = f"c{line['position']}"
        for name in HIDDEN:
            self.fields[name].widget = forms.HiddenInput()
        self.fields["kind"].widget = forms.Select(choices=self.KINDS)
        self.fields["values"].widget = forms.Textarea(
            attrs={"rows": 2, "placeholder": _("one a line, such as 1 = label")}
        )
        for name, example in (
            ("single_values", _("such as 0")),
            ("no", _("0 = female")),
            ("yes", _("1 = male")),
        ):
            self.fields[name].widget.attrs["placeholder"] = example
        self.fields["title"].widget.attrs["placeholder"] = column.replace("_", " ")
        for name, field in self.fields.items():
            field.label = LABELS.get(name, field.label)
            field.widget.attrs["aria-label"] = f"{field.label}{joint(':')}{column}"

    def has_changed_or_is_invalid(self) -> bool:
        """Whether the row says something else than is declared."""
        return not self.is_valid() or self.declared != self.before

    def clean(self) -> Json:
        """With what the fields that are not shown say of another kind forgotten."""
        data = self.cleaned_data
        if self.suggests and self._was_left(data):
            data["kind"] = "ignored"
        if "kind" in data:
            if data["kind"] != self.initial["kind"]:
                data |= {"closed": "", "misfits_to": "", "edges": ""}
            if data["kind"] == "categorical":
                data["closed"] = data["closed"] or "open"
                lines = data.get("values", "").splitlines()
                if lines != str(self.initial.get("values", "")).splitlines():
                    data["with_words"] = any(BETWEEN in line for line in lines)
            if data["kind"] in ("integer", "real") and not data.get("edges"):
                data["binning"] = "width" if data["kind"] == "real" or data.get("width") else "per_value"
        return super().clean()

    def _was_left(self, data: Json) -> bool:
        """Whether nothing was written beside a kind that only the column's name suggests."""
        lacks = data.get("kind") == "boolean" and any(map(is_unread, self.looks))
        needed = ("no", "yes") if lacks else NEEDED.get(data.get("kind", ""), ())
        return bool(needed) and data["kind"] == self.initial["kind"] and not any(data.get(n) for n in needed)


def _initial(line: Json, suggests: bool) -> Json:
    """What a row begins with; of a column that is not declared its name's suggestion, chosen already if it suggests."""
    initial = initial_of(line["attribute"], line["name"], line["truths"])
    if not line["attribute"]:
        initial.setdefault("bins", USUAL_BINS)
    return initial if line["attribute"] or suggests else {**initial, "kind": "ignored", "closed": ""}


@dataclass(frozen=True)
class Row:
    """A row of the table with the picture of what it says now."""

    line: Json
    form: RowForm
    attribute: Attribute | None
    strip: Strip | None

    @property
    def fills(self) -> bool:
        """Whether something is chosen in it that nobody chose yet, since the column's name suggests it."""
        return not self.line["attribute"] and self.form.initial.get("kind", "ignored") != "ignored"

    @property
    def common(self) -> list[str]:
        """Values that share a cell and may be common."""
        return common_values(self.attribute)

    @property
    def unreadable(self) -> str:
        """How many values of the first rows the chosen kind cannot read."""
        return unreadable_text(self.form["kind"].value() or "", self.line["look"], self.attribute)


def rows(lines: list[Json], data: Mapping[str, object] | None, *, suggests: bool) -> Iterator[Row]:
    """lines: of the columns that are shown, as the list of columns has them. suggests: whether none is declared yet."""
    for line in lines:
        yield row(line, data, suggests=suggests)


def row(line: Json, data: Mapping[str, object] | None, *, suggests: bool) -> Row:
    """A row, valid or not. What its first rows contradict is not suggested."""
    suggests = suggests and not line["is_contradicted"]
    form = RowForm(data, line=line, suggests=suggests)
    is_complete = suggests and not lacks_words(line["name"], line["look"])
    attribute = line["attribute"] or (proposed(line["name"], line["truths"]) if is_complete else None)
    if data is not None:
        attribute = form.attribute() if form.is_valid() else None
    return Row(line, form, attribute, strip(attribute) if attribute else None)
