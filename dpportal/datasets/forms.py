"""Forms of the datasets room: upload, a column's declaration, the privacy unit."""

from __future__ import annotations

import math
from typing import Any

from django import forms
from django.db.models import QuerySet
from django.utils.translation import gettext_lazy as _

from dpportal.datasets.labels import lines_of, with_words, wrong_values
from dpportal.datasets.models import Dataset, DomainVersion
from dpportal.datasets.out_of_domain_forms import FieldError, MisfitForm
from dpportal.datasets.parse_options_forms import ReadingForm
from dpportal.datasets.proposals import proposed, proposed_kind
from dpportal.tables import formats
from dpportal.tables.connections.models import SharedTable
from mechanisms import domain
from mechanisms.accounting import Neighbours

MAX_CELLS_OF_A_COLUMN = 10**6
MAX_VALUES_TEXT = 500_000
WHOLE = "whole"
EMPTY = _("This file is empty. Choose one with a line of column names and at least one row.")
CUT_SHORT = _("The upload did not arrive whole. Choose the file and start it again; nothing was kept.")


class UploadForm(ReadingForm, forms.ModelForm):
    """A table and a name for it. How the file is read is proposed from its first rows, and can be said."""

    file = forms.FileField(
        label=_("table"),
        help_text=f"{formats.TITLES}.",
        widget=forms.ClearableFileInput(attrs={"accept": formats.ENDINGS}),
        error_messages={
            "required": _("Choose a file first."),
            "empty": EMPTY,
        },
    )
    name = forms.CharField(
        label=_("name"), max_length=120, required=False, help_text=_("Left empty, the file's name is used.")
    )
    # The last field of the request: where it is missing, the connection broke and the file may be cut short.
    arrived = forms.CharField(widget=forms.HiddenInput, initial=WHOLE, required=False)

    formats = formats.TITLES

    class Meta:
        model = Dataset
        fields = ["name", "description"]
        widgets = {"description": forms.Textarea(attrs={"rows": 2})}

    def clean(self) -> dict[str, Any]:
        data = super().clean() or {}
        if data.get("arrived") != WHOLE:
            self.errors.pop("file", None)
            self.add_error("file", CUT_SHORT)
        return data


class ElsewhereForm(forms.ModelForm):
    """A table that lies elsewhere, of those that are offered, and a name for it."""

    table = forms.ModelChoiceField(
        SharedTable.objects.none(),
        label=_("table"),
        widget=forms.RadioSelect,
        empty_label=None,
        error_messages={"required": _("Choose a table first.")},
    )
    name = forms.CharField(
        label=_("name"), max_length=120, required=False, help_text=_("Left empty, the table's title is used.")
    )

    class Meta:
        model = Dataset
        fields = ["name", "description"]
        widgets = {"description": forms.Textarea(attrs={"rows": 2})}

    field_order = ["table", "name", "description"]

    def __init__(self, *args: Any, offered: QuerySet[SharedTable], **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        field = self.fields["table"]
        assert isinstance(field, forms.ModelChoiceField)
        field.queryset = offered


class RenameForm(forms.ModelForm):
    class Meta:
        model = Dataset
        fields = ["name", "description"]
        widgets = {"description": forms.Textarea(attrs={"rows": 3})}


class UnitForm(forms.ModelForm):
    """Who is protected, and from which comparison."""

    neighbours = forms.ChoiceField(
        label=_("what stays hidden"),
        widget=forms.RadioSelect,
        choices=[
            (Neighbours.ADD_REMOVE.value, _("Whether a person is in the table at all (add or remove one)")),
            (Neighbours.REPLACE_ONE.value, _("What a person's rows say (replace one)")),
        ],
        help_text=_(
            "Add or remove: the number of people is protected too, and noise is smallest. "
            "Replace one: a histogram needs twice the noise scale; where every person has one row, no row is left out "
            "and no release before hides the number of rows, that number is published exactly."
        ),
    )
    unit_column = forms.ChoiceField(
        label=_("rows of a person"),
        required=False,
        help_text=_(
            "If every person has one row, nothing else is needed. Otherwise name the column that identifies a "
            "person, so that all of a person's rows are protected together. Rows without a value in it, or with a word "
            "that you declared to mean that, are left out of every release: they would protect nobody."
        ),
    )
    ignore_case = forms.BooleanField(
        label=_("Capital and small letters are the same in it"),
        required=False,
        help_text=_(
            "Two rows are of one person if this column says the same: spaces around it do not count, and é is é "
            "however it is written; 7, 7.0 and 007 count as three people."
        ),
    )
    max_rows = forms.IntegerField(
        label=_("largest number of rows per person"),
        min_value=1,
        max_value=1000,
        initial=1,
        help_text=_(
            "Rows beyond this number are left out, chosen at random for each release. Noise grows in proportion, so "
            "choose the smallest number that keeps most rows; take it from what you know, not from this table."
        ),
    )

    class Meta:
        model = DomainVersion
        fields = ["neighbours", "unit_column", "ignore_case", "max_rows"]

    def __init__(self, *args: Any, dataset: Dataset, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        # Without a table a person is told by what its curator names, which is no column.
        own = [self.instance.unit_column] if dataset.is_tableless and self.instance.unit_column else []
        names = [(name, name) for name in dict.fromkeys([*own, *(c["name"] for c in dataset.columns)])]
        field = self.fields["unit_column"]
        assert isinstance(field, forms.ChoiceField)
        field.choices = [("", _("Each person has one row")), *names]

    def clean(self) -> dict[str, Any]:
        data = super().clean() or {}
        if not data.get("unit_column") and data.get("max_rows", 1) != 1:
            self.add_error(
                "unit_column",
                _("To keep more than one row per person, name the column that identifies a person."),
            )
        return data


class AttributeForm(MisfitForm):
    """What is publicly known about one column. `attribute()` is the declared value; None means ignored."""

    KINDS = [
        ("ignored", _("Ignored")),
        ("categorical", _("Categories")),
        ("integer", _("Whole numbers")),
        ("real", _("Real numbers")),
        ("date", _("Dates")),
        ("boolean", _("Yes or no")),
    ]
    BINNING = [
        ("per_value", _("One cell per value")),
        ("width", _("Bins of equal width")),
        ("edges", _("My own bin edges")),
    ]
    kind = forms.ChoiceField(label=_("kind of column"), choices=KINDS, widget=forms.RadioSelect)
    values = forms.CharField(
        label=_("values"),
        required=False,
        strip=False,
        widget=forms.Textarea(attrs={"rows": 8}),
        help_text=_("One on each line."),
    )
    with_words = forms.BooleanField(
        label=_("Lines say value = label"),
        required=False,
        help_text=_(
            "Such as “1 = Primary school”. Pages show the labels, downloads have both. Values with the same label are "
            "counted together, as one coarser category."
        ),
    )
    as_numbers = forms.BooleanField(
        label=_("Compare as numbers"),
        required=False,
        help_text=_(
            "Then 1, 1.0 and 01 are one value. Otherwise each is counted by its text, as codes need it."
        ),
    )
    lower = forms.CharField(label=_("lower bound"), required=False, max_length=40)
    upper = forms.CharField(label=_("upper bound"), required=False, max_length=40)
    binning = forms.ChoiceField(label=_("cells"), choices=BINNING, required=False, widget=forms.RadioSelect)
    width = forms.IntegerField(
        label=_("whole numbers in a bin"), required=False, min_value=1, max_value=domain.MAX_INTEGER
    )
    bins = forms.IntegerField(
        label=_("number of bins"), required=False, min_value=1, max_value=MAX_CELLS_OF_A_COLUMN
    )
    edges = forms.CharField(
        label=_("bin edges"),
        required=False,
        max_length=100_000,
        help_text=_(
            "Increasing, separated by spaces; the first is the lower bound and the last the upper bound."
        ),
    )
    step = forms.ChoiceField(
        label=_("group dates by"),
        required=False,
        choices=[(step, step) for step in domain.STEPS],
        initial="month",
    )
    missing_cell = forms.BooleanField(
        label=_("Missing values have a cell of their own"),
        required=False,
        initial=True,
        help_text=_("Otherwise they go where values that do not fit go."),
    )

    def __init__(self, *args: Any, column: str, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.column = column

    def clean(self) -> dict[str, Any]:
        data = super().clean() or {}
        if self.errors:
            return data
        try:
            self.declared = self._build(data)
        except FieldError as error:
            self.add_error(error.field, str(error))
            return data
        except domain.DomainError as error:
            self.add_error(self._to_blame(data), str(error))
            return data
        if self.declared and self.declared.size > MAX_CELLS_OF_A_COLUMN:
            text = _(
                "This column would have %(cells)s cells; at most 1,000,000 are possible. Use wider bins."
            )
            self.add_error(self._finest(data), text % {"cells": f"{self.declared.size:,}"})
        return data

    def attribute(self) -> domain.Attribute | None:
        """The declaration; call after `is_valid()`."""
        return self.declared

    def _build(self, data: dict[str, Any]) -> domain.Attribute | None:
        build = {
            "ignored": lambda: None,
            "categorical": self._categorical,
            "integer": self._integer,
            "real": self._real,
            "date": self._date,
            "boolean": lambda: domain.Boolean(self.column, self._own_missing()),
        }
        attribute = build[data["kind"]]()
        # A column with too many cells is refused for that before anybody names one of them.
        if attribute is None or attribute.size > MAX_CELLS_OF_A_COLUMN:
            return attribute
        return self.closed_as_said(attribute)

    @staticmethod
    def _to_blame(data: dict[str, Any]) -> str | None:
        """The field beside which a declaration's own refusal is shown."""
        if data["kind"] == "categorical":
            return "values"
        return "edges" if data["kind"] != "date" and data["binning"] == "edges" else None

    @staticmethod
    def _finest(data: dict[str, Any]) -> str | None:
        """The field that decides how many cells there are."""
        if data["kind"] == "date":
            return "step"
        if data["kind"] == "real":
            return "bins"
        return "width" if data["binning"] == "width" else "binning"

    def _categorical(self) -> domain.Attribute:
        text: str = self.cleaned_data["values"]
        if len(text) > MAX_VALUES_TEXT:
            raise FieldError("values", _("The list of values is too long; group some of them."))
        lines = [line.strip() for line in text.splitlines() if line.strip()]
        values, words = with_words(lines) if self.cleaned_data["with_words"] else (tuple(lines), ())
        numbers = bool(self.cleaned_data["as_numbers"])
        declared = domain.Categorical(self.column, self._own_missing(), values, numbers, words)
        is_open = self.misfits_go() == "open"
        if wrong := wrong_values(declared, own_missing=self._own_missing(), is_open=is_open):
            raise FieldError("values", wrong)
        if not self.cleaned_data["closed"]:
            raise FieldError("closed", _("Choose where values go that are not on the list."))
        return declared

    def _integer(self) -> domain.Attribute:
        binning = self.cleaned_data["binning"]
        lower, upper = self._bounds(int)
        edges = tuple(self._numbers("edges", int)) if binning == "edges" else ()
        width = self._count("width") if binning == "width" else 1
        return domain.Integer(self.column, self._own_missing(), lower, upper, width, edges)

    def _real(self) -> domain.Attribute:
        own = self.cleaned_data["binning"] == "edges"
        lower, upper = self._bounds(float)
        edges = tuple(self._numbers("edges", float)) if own else ()
        bins = 1 if own else self._count("bins")
        return domain.Real(self.column, self._own_missing(), lower, upper, bins, edges)

    def _date(self) -> domain.Attribute:
        lower, upper = self._day("lower"), self._day("upper")
        self._check_order(lower, upper)
        step: Any = self.cleaned_data["step"] or "month"
        return domain.Date(self.column, self._own_missing(), lower, upper, step)

    def _own_missing(self) -> bool:
        return bool(self.cleaned_data["missing_cell"])

    def _bounds(self, number: type) -> tuple[Any, Any]:
        lower, upper = self._bound("lower", number), self._bound("upper", number)
        self._check_order(lower, upper)
        return lower, upper

    @staticmethod
    def _check_order(lower: Any, upper: Any) -> None:
        if lower > upper:
            raise FieldError("upper", _("The lower bound is above the upper bound; exchange them."))

    def _bound(self, name: str, number: type) -> Any:
        try:
            bound = number(self.cleaned_data[name].strip())
        except (ValueError, OverflowError):
            bound = math.nan
        if math.isfinite(bound):
            return bound
        if number is int:
            raise FieldError(name, _("Write this bound as a whole number, such as 0 or 120."))
        raise FieldError(name, _("Write this bound as a number, such as 0 or 99.5."))

    def _count(self, name: str) -> int:
        count: int | None = self.cleaned_data[name]
        if count is None:
            raise FieldError(name, _("Write a whole number of at least 1."))
        return count

    def _numbers(self, name: str, number: type) -> list[Any]:
        words = self.cleaned_data[name].replace(",", " ").replace(";", " ").split()
        try:
            numbers = [number(word) for word in words]
        except (ValueError, OverflowError):
            numbers = []
        if not numbers:
            raise FieldError(
                name, _("Write the bin edges as numbers with spaces between, such as 0 18 65 120.")
            )
        return numbers

    def _day(self, name: str) -> Any:
        field = forms.DateField(input_formats=["%Y-%m-%d"])
        try:
            return field.clean(self.cleaned_data[name].strip())
        except forms.ValidationError:
            raise FieldError(name, _("Write this bound as a day like 2024-01-31.")) from None


def initial_of(attribute: domain.Attribute | None, name: str) -> dict[str, Any]:
    """What the form shows for a declaration, or for a column that has none yet: what its name suggests."""
    attribute = attribute or proposed(name)
    if attribute is None:
        kind = proposed_kind(name) or "ignored"
        binning = "width" if kind == "real" else "per_value"
        return {"kind": kind, "binning": binning, "missing_cell": True, "closed": ""}
    values = attribute.to_json()
    to = attribute.misfits_to
    values["closed"] = "open" if not attribute.closed else "left-out" if to is None else "value"
    values["misfits_to"] = "" if to is None else attribute.regular_labels()[to]
    if isinstance(attribute, domain.Categorical):
        values |= {"values": "\n".join(lines_of(attribute)), "with_words": bool(attribute.words)}
    edges = values.get("edges")
    if isinstance(edges, list):
        values["edges"] = " ".join(map(str, edges))
        by_value = isinstance(attribute, domain.Integer) and attribute.width == 1
        values["binning"] = "edges" if edges else "per_value" if by_value else "width"
    return values
