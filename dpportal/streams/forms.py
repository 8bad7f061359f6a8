"""Forms of a stream: what is counted, when, at which cost; and a period's counts."""

from __future__ import annotations

import io
from collections.abc import Sequence
from typing import Any

from django import forms
from django.core.files.uploadedfile import UploadedFile
from django.http import QueryDict
from django.utils.datastructures import MultiValueDict
from django.utils.translation import gettext, gettext_lazy as _

from dpportal.budgets.amounts import amount_formfield
from dpportal.charts.cell_names import cell_names, named
from dpportal.platform.json_types import Json
from dpportal.platform.listed_names import alternatives
from dpportal.platform.stored_texts import translated
from dpportal.platform.visible_text import VisibleTexts
from dpportal.streams import bulk_csv, preview
from dpportal.streams.bulk_csv import ManyError
from dpportal.streams.calendar import Calendar, CalendarError
from dpportal.streams.drafts import MAX_HORIZON
from dpportal.streams.execution import PeriodRefusedError
from dpportal.streams.measure import MAX_INCREMENT
from dpportal.streams.models import Stream
from dpportal.streams.vault import VaultError
from dpportal.tables import formats
from mechanisms.continual.compare import StreamOffer
from mechanisms.domain import Attribute, Integer

EVERY, CHOSEN, EACH = "every", "chosen", "each"
MODES = [
    (EVERY, _("Every row")),
    (CHOSEN, _("Rows where a column has certain values")),
    (EACH, _("A running count for each value of a column, at no extra cost")),
]
TABLELESS_MODES = [
    (EVERY, _("One number for each period")),
    (EACH, _("A number for each category, at no extra cost")),
]
MAX_CHOICES = 1_000
MAX_PASTED = 2**20
DATE_FORMS = [
    (bulk_csv.ISO, _("2020-03-31")),
    ("%m/%d/%Y", _("3/31/2020 (month first)")),
    ("%d/%m/%Y", _("31/3/2020 (day first)")),
    ("%d.%m.%Y", _("31.3.2020")),
]


class CountedForm(VisibleTexts, forms.ModelForm[Stream]):
    """What a stream counts."""

    mode = forms.ChoiceField(
        label=_("which rows count"),
        choices=MODES,
        widget=forms.RadioSelect,
        error_messages={"required": _("Choose which rows count.")},
    )

    class Meta:
        model = Stream
        fields = ["name", "description", "mode", "column", "summed", "largest_increment"]
        widgets = {"description": forms.Textarea(attrs={"rows": 2})}
        labels = {"largest_increment": _("largest count of one period")}
        help_texts = {
            "name": _("For the public page; it is fixed when the budget is spent."),
            "largest_increment": _(
                "A safeguard against slips of the pen: a larger count or sum is taken as this one, and only you see "
                "how often. No period is refused or delayed for its size, since everyone would see that. It changes "
                "neither cost nor noise."
            ),
        }
        error_messages = {"name": {"required": _("Give the running count a name.")}}

    def __init__(self, data: QueryDict | None, *, instance: Stream, declared: list[Attribute]) -> None:
        super().__init__(data, instance=instance)
        columns = [(a.name, a.name) for a in declared]
        numbers = [(a.name, a.name) for a in declared if isinstance(a, Integer) and a.lower >= 0 < a.upper]
        self.fields["column"] = forms.ChoiceField(
            label=_("column"), choices=[("", _("(none)")), *columns], required=False
        )
        self.fields["summed"] = forms.ChoiceField(
            label=_("add up"),
            choices=[("", _("Count rows")), *numbers],
            required=False,
            help_text=_(
                "Instead of counting, the values of a whole-number column can be added up. Values beyond the limits "
                "you declared count as the limit, and the noise grows with the upper limit."
            ),
        )
        self.fields["largest_increment"] = forms.IntegerField(
            label=_("largest count of one period"),
            min_value=1,
            max_value=MAX_INCREMENT,
            required=False,
            help_text=self.fields["largest_increment"].help_text,
        )
        self.initial["mode"] = EACH if self.instance.split else CHOSEN if self.instance.column else EVERY
        if self.instance.dataset.is_tableless:
            self._without_rows(declared)

    def _without_rows(self, declared: list[Attribute]) -> None:
        """Of people whom the curator counts there is one number for each period, or one for each category."""
        del self.fields["summed"]
        mode = self.fields["mode"]
        assert isinstance(mode, forms.ChoiceField)
        mode.label, mode.choices = _("what is counted"), TABLELESS_MODES
        if not declared:
            del self.fields["column"]
            mode.widget, self.initial["mode"] = forms.HiddenInput(), EVERY
        elif self.instance._state.adding:
            self.initial = {**self.initial, "mode": EACH, "column": declared[0].name}

    def clean(self) -> Json:
        data = super().clean() or {}
        if data.get("mode") in (CHOSEN, EACH) and not data.get("column"):
            self.add_error("column", _("Choose the column whose values decide."))
        if data.get("mode") == EVERY:
            data["column"] = ""
        return data

    def apply(self) -> tuple[str, ...]:
        """Put what was chosen into the draft, and name it; values chosen of another column are forgotten."""
        draft: Stream = self.instance
        draft.forget_proposal()
        draft.split = self.cleaned_data["mode"] == EACH
        if "column" in self.changed_data or draft.split or not draft.column:
            draft.cells = []
        shown = [name for name in ("column", "summed") if name in self.fields]
        return (
            "name",
            "description",
            *shown,
            "largest_increment",
            "split",
            "cells",
            *Stream.METHOD,
            *Stream.PRICE,
        )


class PeriodsForm(forms.ModelForm[Stream]):
    """Which values count, where some do; and the periods."""

    class Meta:
        model = Stream
        fields = ["step", "first_day", "horizon", "expected"]
        widgets = {"first_day": forms.DateInput(attrs={"type": "date"}, format="%Y-%m-%d")}
        labels = {
            "step": _("a new count every"),
            "first_day": _("a day in the first period"),
            "horizon": _("number of periods"),
            "expected": _("your estimate of the running count at the end"),
        }
        help_texts = {
            "horizon": _(
                "Choose it with some room: a running count cannot go on beyond it, and a longer one costs little. "
                "If empty, it has no end and is noisier."
            ),
            "expected": _(
                "From what is known without these data, such as last year's number; of one count where there are "
                "several. It says whether the noise leaves anything of use, and is not published."
            ),
        }

    def __init__(self, data: QueryDict | None, *, instance: Stream, column: Attribute | None) -> None:
        super().__init__(data, instance=instance)
        self.fields["first_day"].required = False
        self.fields["expected"].required = False
        self.fields["horizon"] = forms.IntegerField(
            label=self.fields["horizon"].label,
            min_value=1,
            max_value=MAX_HORIZON,
            required=False,
            help_text=self.fields["horizon"].help_text,
            error_messages={
                "min_value": _("A running count has at least 1 period. If empty, it has no end."),
                "max_value": _(
                    "A series has at most %(limit_value)s periods. Choose fewer, or longer periods."
                ),
            },
        )
        if column is not None:
            labels = cell_names(column)[:MAX_CHOICES]
            self.fields["cells"] = forms.TypedMultipleChoiceField(
                label=_("values of %(column)s that count") % {"column": column.name},
                choices=[(i, label) for i, label in enumerate(labels)],
                coerce=int,
                widget=forms.CheckboxSelectMultiple,
                initial=self.instance.cells,
                error_messages={"required": _("Choose at least one value.")},
            )
            self.order_fields(["cells"])

    def clean(self) -> Json:
        data = super().clean() or {}
        if data.get("step") == Stream.Step.NEXT:
            data["first_day"] = None
        elif not data.get("first_day") and "first_day" not in self.errors:
            self.add_error("first_day", _("Give a day in the first period."))
        elif not self.errors:
            try:
                Calendar(data["step"], data["first_day"]).start(data.get("horizon") or 1)
            except CalendarError as error:
                self.add_error("horizon", str(error))
        return data

    def apply(self) -> tuple[str, ...]:
        """Put what was chosen into the draft, and name it."""
        self.instance.cells = self.cleaned_data.get("cells", [])
        self.instance.forget_proposal()
        return ("step", "first_day", "horizon", "expected", "cells", *Stream.METHOD, *Stream.PRICE)


class StrategyForm(forms.Form):
    """What a stream may cost, and its strategy; empty for the most accurate."""

    amount = amount_formfield(label=_("cost"))
    proposed = forms.CharField(required=False, widget=forms.HiddenInput)
    mechanism = forms.ChoiceField(widget=forms.RadioSelect, required=False)

    def __init__(
        self, data: QueryDict | None, *, initial: Json | None = None, offers: Sequence[StreamOffer] = ()
    ) -> None:
        super().__init__(data, initial=initial)
        field = self.fields["mechanism"]
        assert isinstance(field, forms.ChoiceField)
        field.choices = [("", ""), *((o.mechanism.name, translated(o.mechanism.title)) for o in offers)]


class PeriodForm(forms.Form):
    """A period's counts, typed: one for each label of the stream."""

    index = forms.IntegerField(min_value=1, widget=forms.HiddenInput)

    def __init__(self, data: QueryDict | None = None, *, stream: Stream, initial: Json | None = None) -> None:
        super().__init__(data, initial=initial)
        self.stream = stream
        for place, label in enumerate(named(stream.labels)):
            self.fields[f"count-{place}"] = forms.IntegerField(
                label=label or _("new in this period"),
                min_value=0,
                error_messages={
                    "required": _("Type a number, 0 if there was none."),
                    "invalid": _("A count must be a whole number, such as 12."),
                    "min_value": _("A count must not be negative: a running count never falls."),
                },
            )

    @property
    def increments(self) -> tuple[int, ...]:
        """The counts in the order of the stream's labels; after `is_valid()`."""
        return tuple(self.cleaned_data[f"count-{place}"] for place in range(len(self.stream.labels)))

    def count_fields(self) -> list[forms.BoundField]:
        return [field for field in self if not field.is_hidden]


class RecordsForm(forms.Form):
    """A file of one period's new records."""

    index = forms.IntegerField(min_value=1, widget=forms.HiddenInput)
    file = forms.FileField(
        label=_("file of the period's new records"),
        widget=forms.ClearableFileInput(attrs={"accept": formats.ENDINGS}),
        allow_empty_file=True,
        error_messages={"required": _("Choose a file first.")},
    )

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        text = gettext(
            "%(formats)s (the ending of its name says which), with the same column names as the dataset. It is deleted "
            "once counted. In CSV and TSV each line is a row; a row that cannot be read is left out. If values hold "
            "line breaks, send %(others)s. A file without rows counts as 0."
        )
        others = formats.each_title(known for known in formats.FORMATS if known.holds_line_ends)
        every = formats.each_title(formats.FORMATS)
        values = {"formats": alternatives(every), "others": alternatives(others)}
        self.fields["file"].help_text = text % values


class ManyForm(forms.Form):
    """Many periods at once, from a file or pasted."""

    file = forms.FileField(label=_("CSV file"), required=False)
    pasted = forms.CharField(
        label=_("or paste the lines"),
        required=False,
        max_length=MAX_PASTED,
        strip=False,
        widget=forms.Textarea(attrs={"rows": 5, "placeholder": "period,count\n1,5\n2,3"}),
    )
    column = forms.CharField(
        label=_("column with the counts"),
        required=False,
        max_length=200,
        help_text=_("Only needed if the file has several."),
    )
    dates = forms.ChoiceField(label=_("days are written as"), choices=DATE_FORMS, initial=bulk_csv.ISO)

    def __init__(
        self,
        data: QueryDict | None = None,
        files: MultiValueDict[str, UploadedFile[bytes]] | None = None,
        *,
        stream: Stream,
    ) -> None:
        super().__init__(data, files, auto_id="many_%s")
        self._stream = stream

    def clean(self) -> Json:
        data = super().clean() or {}
        if not self.errors and bool(data.get("file")) == bool((data.get("pasted") or "").strip()):
            raise forms.ValidationError(_("Choose a file or paste lines: one of the two."))
        if not self.errors and not data.get("file"):
            self._check_pasted(data["pasted"])
        return data

    def _check_pasted(self, pasted: str) -> None:
        """What a worker will check again: so that lines in which something is wrong stay in their box."""
        lines = io.StringIO(pasted.removeprefix("\ufeff"), newline="")
        try:
            preview.previewed(self._stream, bulk_csv.read(lines, self._stream, **self.options))
        except (ManyError, PeriodRefusedError, VaultError) as refusal:
            self.add_error("pasted", str(refusal))

    @property
    def options(self) -> dict[str, str]:
        """Of `many.read`; after `is_valid()`."""
        return {"column": self.cleaned_data["column"], "dates": self.cleaned_data["dates"]}
