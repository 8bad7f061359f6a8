"""The part of a column's form that says where values go that fit nothing declared."""

from __future__ import annotations

from dataclasses import replace

from django import forms
from django.utils.translation import gettext_lazy as _

from mechanisms import domain

# Kinds in which only a missing or unreadable value fits nothing: what is out of bounds goes to the nearest bound.
ORDERED = ("integer", "real", "date")


class FieldError(domain.DomainError):
    """What is wrong with one field of a declaration."""

    def __init__(self, field: str, message: object) -> None:
        super().__init__(str(message))
        self.field = field


class MisfitForm(forms.Form):
    """Whether a column is closed. A form that adds `kind` and `missing_cell` calls `closed_as_declared`."""

    closed = forms.ChoiceField(
        label=_("values that do not fit"),
        required=False,
        widget=forms.RadioSelect,
        choices=[
            ("open", _("Have the cell “Other”, or the first cell where the kind has none")),
            ("value", _("Count as one of the values")),
            ("left-out", _("Are left out, with their rows")),
        ],
        help_text=_("If rows are left out, the number of rows stays secret."),
    )
    misfits_to = forms.CharField(
        label=_("the value they count as"),
        required=False,
        max_length=200,
        help_text=_("As the picture of the cells names it; for yes or no: their labels, or true or false."),
    )

    def misfits_go(self) -> str:
        """Where misfits go; a yes-or-no column is closed unless somebody says otherwise."""
        default = "left-out" if self.cleaned_data["kind"] == "boolean" else "open"
        return self.cleaned_data["closed"] or default

    def closed_as_declared(self, attribute: domain.Attribute) -> domain.Attribute:
        """The attribute with what is declared of values that do not fit. Raises FieldError."""
        way, named = self.misfits_go(), self.cleaned_data["misfits_to"].strip()
        self._check_together(attribute, way, named)
        if way == "open":
            return attribute
        closed = replace(attribute, closed=True)
        return replace(closed, misfits_to=_cell_named(closed, named)) if way == "value" else closed

    @staticmethod
    def _check_together(attribute: domain.Attribute, way: str, named: str) -> None:
        if way != "open" and attribute.missing_cell and attribute.kind in ORDERED:
            raise FieldError(
                "closed",
                _(
                    "Missing and unreadable values have a cell of their own here, so nothing is left to go elsewhere. "
                    "Take that cell away, or leave this as it is."
                ),
            )
        if way != "value" and named:
            raise FieldError(
                "misfits_to",
                _(
                    "A value is named here, but nothing is to count as it. Empty this, or choose that it does."
                ),
            )


def _cell_named(attribute: domain.Attribute, named: str) -> int:
    """The cell of that label; a bin may be written with a hyphen for its dash."""
    labels = attribute.regular_labels()
    if named not in labels:
        labels, named = [label.replace("–", "-") for label in labels], named.replace("–", "-")
    if named not in labels:
        raise FieldError("misfits_to", _("Write one of the declared values, as the cells are named."))
    return labels.index(named)
