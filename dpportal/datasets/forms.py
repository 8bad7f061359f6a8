"""Forms of the datasets room: upload, a table elsewhere, a column's declaration."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import date
from typing import TypeVar

from django import forms
from django.db.models import QuerySet
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from dpportal.datasets.labels import LONGEST_TITLE, with_words, wrong_title, wrong_values
from dpportal.datasets.models import Dataset
from dpportal.datasets.out_of_domain_forms import FieldError, MisfitForm
from dpportal.datasets.parse_options_forms import ReadingForm
from dpportal.datasets.progressions import numbers_listed
from dpportal.datasets.truths import as_read, truth_words
from dpportal.datasets.typed_days import ISO, typed_day
from dpportal.datasets.typed_limits import limit_read
from dpportal.platform.form_data import ProgramData
from dpportal.platform.form_types import CleanedData
from dpportal.platform.json_types import Json
from dpportal.platform.listed_names import alternatives
from dpportal.platform.visible_text import VisibleTexts
from dpportal.tables import formats
from dpportal.tables.connections.models import SharedTable
from mechanisms import domain

N = TypeVar("N", int, float)
OrderedBound = TypeVar("OrderedBound", int, float, date)
MAX_CELLS_OF_A_COLUMN = 10**6
MAX_VALUES_TEXT = 500_000
COMPLETE = "whole"
EMPTY = _("This file is empty. Choose one with a line of column names and at least one row.")
CUT_SHORT = _("The upload did not arrive whole. Choose the file and start it again; nothing was kept.")


class UploadForm(VisibleTexts, ReadingForm, forms.ModelForm[Dataset]):
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
        label=_("name"), max_length=120, required=False, help_text=_("If empty, we use the file name.")
    )
    shown = ("name", "description")
    # The last field of the request: where it is missing, the connection broke and the file may be cut short.
    arrived = forms.CharField(widget=forms.HiddenInput, initial=COMPLETE, required=False)

    @property
    def formats(self) -> str:
        """The formats that are read, in the reader's language."""
        return alternatives(formats.each_title(formats.FORMATS))

    class Meta:
        model = Dataset
        fields = ["name", "description"]
        widgets = {"description": forms.Textarea(attrs={"rows": 2})}

    def clean(self) -> CleanedData:
        data = super().clean() or {}
        if data.get("arrived") != COMPLETE:
            self.errors.pop("file", None)
            self.add_error("file", CUT_SHORT)
        return data


class RemoteTableForm(VisibleTexts, forms.ModelForm[Dataset]):
    """A table that lies elsewhere, of those that are offered, and a name for it."""

    table = forms.ModelChoiceField(
        SharedTable.objects.none(),
        label=_("table"),
        widget=forms.RadioSelect,
        empty_label=None,
        error_messages={"required": _("Choose a table first.")},
    )
    name = forms.CharField(
        label=_("name"), max_length=120, required=False, help_text=_("If empty, we use the table's title.")
    )

    class Meta:
        model = Dataset
        fields = ["name", "description"]
        widgets = {"description": forms.Textarea(attrs={"rows": 2})}

    field_order = ["table", "name", "description"]

    def __init__(self, data: Mapping[str, object] | None, *, offered: QuerySet[SharedTable]) -> None:
        super().__init__(data)
        field = self.fields["table"]
        assert isinstance(field, forms.ModelChoiceField)
        field.queryset = offered


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
    title = forms.CharField(
        label=_("name for readers"),
        required=False,
        max_length=LONGEST_TITLE,
        help_text=_(
            "Such as “year of birth”, with the unit of numbers. Pages and charts show it; files keep the column's own "
            "name. If empty, that name is shown."
        ),
    )
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
    no = forms.CharField(
        label=_("how no is written"),
        required=False,
        max_length=200,
        help_text=_(
            "As the table writes it, then its label if it has one: nie, or 0 = female. If empty, the usual words, "
            "such as no, false and 0, are read, and files say false."
        ),
    )
    yes = forms.CharField(
        label=_("how yes is written"),
        required=False,
        max_length=200,
        help_text=_("Such as tak, or 1 = male. If empty, yes, true and 1 are read, and files say true."),
    )
    lower = forms.CharField(label=_("lower limit"), required=False, max_length=40)
    upper = forms.CharField(label=_("upper limit"), required=False, max_length=40)
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
            "Increasing, separated by spaces, or as 20 30 … 80; the first is the lower limit and the last the upper "
            "limit."
        ),
    )
    single_values = forms.CharField(
        label=_("values of their own"),
        required=False,
        max_length=5000,
        help_text=_(
            "Is one value common, such as 0, or a largest value that stands for all above it? Write it here to give it "
            "a cell of its own; separate several by spaces, or write 10 20 … 90. Take them from a codebook or general "
            "knowledge – never from this table."
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
        help_text=_("Otherwise they are treated as values that do not fit."),
    )

    def __init__(
        self,
        data: Mapping[str, object] | None,
        *,
        column: str,
        initial: Json | None = None,
        looks: Sequence[Json] = (),
        date_format: str = ISO,
    ) -> None:
        """looks: the described columns that are declared, where it is known what their first rows look like.

        date_format: in which the table writes its dates.
        """
        super().__init__(data, initial=initial)
        self.column, self.looks, self.date_format = column, looks, date_format

    def clean(self) -> CleanedData:
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

    def _build(self, data: CleanedData) -> domain.Attribute | None:
        build: dict[str, Callable[[], domain.Attribute | None]] = {
            "ignored": lambda: None,
            "categorical": self._categorical,
            "integer": self._integer,
            "real": self._real,
            "date": self._date,
            "boolean": self._boolean,
        }
        attribute = build[data["kind"]]()
        # A column with too many cells is refused for that before anybody names one of them.
        if attribute is None or attribute.size > MAX_CELLS_OF_A_COLUMN:
            return attribute
        return replace(self.closed_as_declared(attribute), title=self._title(data))

    @staticmethod
    def _title(data: CleanedData) -> str:
        title: str = data.get("title", "")
        if wrong := wrong_title(title):
            raise FieldError("title", wrong)
        return title

    @staticmethod
    def _to_blame(data: CleanedData) -> str | None:
        """The field beside which a declaration's own refusal is shown."""
        if data["kind"] in ("categorical", "boolean"):
            return "values" if data["kind"] == "categorical" else "no"
        return "edges" if data["kind"] != "date" and data["binning"] == "edges" else None

    @staticmethod
    def _finest(data: CleanedData) -> str | None:
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
        self._check_values(declared, "values")
        if not self.cleaned_data["closed"]:
            raise FieldError("closed", _("Choose where values go that are not on the list."))
        return declared

    def _check_values(self, declared: domain.Categorical, field: str) -> None:
        is_open = self.misfits_go() == "open"
        if wrong := wrong_values(declared, own_missing=self._own_missing(), is_open=is_open):
            raise FieldError(field, wrong)

    def _integer(self) -> domain.Attribute:
        binning = self.cleaned_data["binning"]
        lower, upper = self._bounds(int)
        edges = self._edges(int) if binning == "edges" else ()
        width = self._count("width") if binning == "width" else 1
        singles = self._single_values(int)
        return domain.Integer(
            self.column, self._own_missing(), lower, upper, width, edges, single_values=singles
        )

    def _real(self) -> domain.Attribute:
        own = self.cleaned_data["binning"] == "edges"
        lower, upper = self._bounds(float)
        edges = self._edges(float) if own else ()
        bins = 1 if own else self._count("bins")
        singles = self._single_values(float)
        return domain.Real(self.column, self._own_missing(), lower, upper, bins, edges, single_values=singles)

    def _date(self) -> domain.Attribute:
        lower, upper = self._day("lower"), self._day("upper")
        self._check_order(lower, upper)
        step = self.cleaned_data["step"]
        steps = {"step": step} if step else {}
        return domain.Date(self.column, self._own_missing(), lower, upper, **steps)

    def _boolean(self) -> domain.Attribute:
        values, words = truth_words(self.cleaned_data["no"], self.cleaned_data["yes"], self.looks)
        declared = as_read(domain.Boolean(self.column, self._own_missing(), values, words))
        if isinstance(declared, domain.Categorical):
            self._check_values(declared, "no")
        return declared

    def _own_missing(self) -> bool:
        return bool(self.cleaned_data["missing_cell"])

    def _bounds(self, number: type[N]) -> tuple[N, N]:
        lower, upper = self._bound("lower", number), self._bound("upper", number)
        self._check_order(lower, upper)
        return lower, upper

    @staticmethod
    def _check_order(lower: OrderedBound, upper: OrderedBound) -> None:
        if lower > upper:
            raise FieldError("upper", _("The lower limit is above the upper limit; exchange them."))

    def _bound(self, name: str, number: type[N]) -> N:
        # Programs write a point, and what the page shows unchanged was declared.
        is_typed = name in self.changed_data and not isinstance(self.data, ProgramData)
        return limit_read(name, self.cleaned_data[name], number, is_typed=is_typed)

    def _count(self, name: str) -> int:
        count: int | None = self.cleaned_data[name]
        if count is None:
            raise FieldError(name, _("Write a whole number of at least 1."))
        return count

    def _edges(self, number: type[N]) -> tuple[N, ...]:
        wrong = _("Write the bin edges as numbers with spaces between, such as 0 18 65 120.")
        edges = self._numbers("edges", number, wrong)
        if not edges:
            raise FieldError("edges", wrong)
        return tuple(edges)

    def _single_values(self, number: type[N]) -> tuple[N, ...]:
        wrong = _("Write these values as numbers of this kind with spaces between, such as 0 99999.")
        values = self._numbers("single_values", number, wrong)
        lower, upper = self._bounds(number)
        if not all(lower <= value <= upper for value in values):
            raise FieldError("single_values", _("Values of their own must lie within the limits."))
        return tuple(sorted(set(values)))

    def _numbers(self, name: str, number: type[N], wrong: str | Promise) -> list[N]:
        try:
            return numbers_listed(self.cleaned_data[name], number)
        except (ValueError, OverflowError):
            raise FieldError(name, wrong) from None

    def _day(self, name: str) -> date:
        day = typed_day(self.cleaned_data[name].strip(), self.date_format)
        if day is None:
            raise FieldError(
                name,
                _(
                    "Write this limit as a day like 2024-01-31 or 31.01.2024, or as the dates of the file are written."
                ),
            )
        return day
