"""The forms that declare how a file is read: with an upload, and on a page of its own until the first release."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence

from django import forms
from django.utils.translation import gettext_lazy as _

from dpportal.datasets import records
from dpportal.datasets.models import Dataset
from dpportal.platform.form_types import CleanedData
from dpportal.platform.json_types import Json
from dpportal.tables import ReadOptions, formats
from dpportal.tables.facts import Sheet
from dpportal.tables.meaning.parse_options import (
    FINDING,
    MOST_FILLED,
    MOST_HEADER_LINES,
    MOST_TITLE_LINES,
    OptionError,
)

AROUND = ("title_lines", "header_lines", "fewest_filled", "note_words")
LONGEST_SHEET = 31  # name of a sheet, by the format
PROPOSED = ("", _("As the first rows suggest"))
DELIMITERS = [PROPOSED, (",", _("Comma ,")), (";", _("Semicolon ;")), ("\t", _("Tab")), ("|", _("Bar |"))]
HEADERS = [("names", _("Holds the names of the columns")), ("data", _("Contains data"))]
SPACES = [("ignored", _("Do not count")), ("kept", _("Keep them"))]
MERGED = [("first", _("Only the first row has the value")), ("filled", _("Fill down: each row has it"))]
QUOTES = [('"', _('Double quotes "…"')), ("'", _("Single quotes '…'")), ("none", _("Nothing"))]
ENCODINGS = [
    PROPOSED,
    ("utf-8", "UTF-8"),
    ("utf-16", _("UTF-16, in the order that the file's mark says")),
    ("utf-16-le", _("UTF-16, low byte first (Windows)")),
    ("utf-16-be", _("UTF-16, high byte first")),
    ("utf-32", _("UTF-32, in the order that the file's mark says")),
    ("utf-32-le", _("UTF-32, low byte first")),
    ("utf-32-be", _("UTF-32, high byte first")),
    ("windows-1252", _("Windows-1252 (Western Europe)")),
    ("latin-1", _("Latin-1 (ISO 8859-1)")),
    ("iso-8859-15", _("Latin-9 (ISO 8859-15)")),
    ("windows-1250", _("Windows-1250 (Central Europe)")),
    ("iso-8859-2", _("Latin-2 (ISO 8859-2)")),
    ("windows-1251", _("Windows-1251 (Cyrillic)")),
    ("koi8-r", _("KOI8-R (Cyrillic)")),
    ("windows-1253", _("Windows-1253 (Greek)")),
    ("windows-1254", _("Windows-1254 (Turkish)")),
    ("windows-1257", _("Windows-1257 (Baltic)")),
    ("gb18030", _("GB 18030 (Chinese)")),
    ("big5", _("Big5 (traditional Chinese)")),
    ("shift-jis", _("Shift JIS (Japanese)")),
    ("euc-kr", _("EUC-KR (Korean)")),
]
DECIMALS = [PROPOSED, (".", _("Point: 1.5")), (",", _("Comma: 1,5"))]
THOUSANDS = [
    PROPOSED,
    ("none", _("None: 1234")),
    (",", _("Comma: 1,234")),
    (".", _("Point: 1.234")),
    (" ", _("Space: 1 234")),
    ("'", _("Apostrophe: 1'234")),
    ("\u2019", _("Curved apostrophe: 1’234")),
]
DATE_FORMATS = [
    PROPOSED,
    ("iso", _("Year first: 2024-01-31")),
    ("day-first", _("Day first: 31.01.2024")),
    ("month-first", _("Month first: 01/31/2024")),
    ("own", _("My own format")),
]
NO_UNIT = "none"
NAMED_FORMATS = ("iso", "day-first", "month-first")
WRONG_OPTIONS = {
    "thousands": _("The thousands mark and the decimal mark must differ. Change one of the two."),
    "units": _(
        "A unit has a letter, or a sign such as %, ° or €; no digits, spaces, commas or brackets, and at most ten "
        "characters."
    ),
    "date_format": _(
        "Write the format with %d, %m (or %b, %B for English names) and %Y (or %y) once each, and if there is a time "
        "%H, %M and %S; for example %d.%m.%Y."
    ),
}
OPEN_QUOTE = _("A quotation mark is not closed. Put words that hold spaces between two quotation marks.")


class ReadingForm(forms.Form):
    """Every option of how a file is read; `options()` after `is_valid()`."""

    header = forms.ChoiceField(
        label=_("the first row"),
        choices=HEADERS,
        required=False,
        help_text=_("Without names the columns are called column_1, column_2 and so on."),
    )
    delimiter = forms.ChoiceField(label=_("fields are separated by"), choices=DELIMITERS, required=False)
    quote = forms.ChoiceField(label=_("texts stand between"), choices=QUOTES, required=False, initial='"')
    encoding = forms.ChoiceField(label=_("text encoding"), choices=ENCODINGS, required=False)
    sheet = forms.CharField(
        label=_("sheet of a workbook"),
        required=False,
        max_length=LONGEST_SHEET,
        help_text=_("If empty, we read the first sheet that is not hidden."),
    )
    fill_merged = forms.ChoiceField(
        label=_("merged cells of a workbook"),
        choices=MERGED,
        required=False,
        help_text=_("Fill down where a merged cell holds for every row that it reaches over."),
    )
    title_lines = forms.IntegerField(
        label=_("lines above the names"),
        required=False,
        min_value=0,
        max_value=MOST_TITLE_LINES,
        help_text=_("Titles and blank lines, which are passed over. If empty, as the first rows suggest."),
    )
    header_lines = forms.IntegerField(
        label=_("lines that hold the names"),
        required=False,
        min_value=1,
        max_value=MOST_HEADER_LINES,
        help_text=_("Merged headings in several lines are joined, such as “Persons: age”."),
    )
    fewest_filled = forms.IntegerField(
        label=_("values that every row has at least"),
        required=False,
        min_value=0,
        max_value=MOST_FILLED,
        help_text=_("A line with fewer is a note and no row. 0: all lines are rows."),
    )
    note_words = forms.CharField(
        label=_("words with which notes begin"),
        required=False,
        max_length=400,
        help_text=_(
            "Separated by spaces, for example: Total Source 'Own computation'. Lines that begin so are no rows."
        ),
    )
    decimal = forms.ChoiceField(label=_("decimal mark in numbers"), choices=DECIMALS, required=False)
    thousands = forms.ChoiceField(label=_("thousands mark in numbers"), choices=THOUSANDS, required=False)
    units = forms.CharField(
        label=_("units behind numbers"),
        required=False,
        max_length=200,
        help_text=_(
            "Separated by spaces, for example: € % kg. Then 35 kg is read as 35. If empty, as the first rows suggest; "
            "none: such texts are no numbers."
        ),
    )
    date_format = forms.ChoiceField(label=_("format of dates"), choices=DATE_FORMATS, required=False)
    own_format = forms.CharField(
        label=_("my own format of dates"),
        required=False,
        max_length=60,
        help_text=_("For example %d.%m.%Y or %B %d, %Y; only used where “My own format” is chosen."),
    )
    strip = forms.ChoiceField(label=_("spaces around a value"), choices=SPACES, required=False)
    missing = forms.CharField(
        label=_("values that mean “missing”"),
        required=False,
        max_length=400,
        help_text=_(
            "Separated by spaces, for example: NA ? -99 'not known'. An empty field is always missing."
        ),
    )

    def clean(self) -> CleanedData:
        data = super().clean() or {}
        if all(name in data for name in ReadingForm.base_fields if name in self.fields):
            self._check(data)
        return data

    def _check(self, data: CleanedData) -> None:
        words: dict[str, tuple[str, ...]] = {}
        for name in ("missing", "note_words", "units"):
            try:
                words[name] = tuple(shlex.split(data.get(name, "").replace("\\", "\\\\"), posix=True))
            except ValueError:
                self.add_error(name, OPEN_QUOTE)
                return
        try:
            self.declared = self._declared(data, words)
        except OptionError as error:
            field = "own_format" if error.field == "date_format" else error.field
            self.add_error(field, WRONG_OPTIONS.get(error.field, str(error)))

    @staticmethod
    def _declared(data: CleanedData, words: dict[str, tuple[str, ...]]) -> ReadOptions:
        units = () if words["units"] == (NO_UNIT,) else words["units"] or None
        own = data["date_format"] == "own"
        return ReadOptions(
            delimiter=data.get("delimiter") or None,
            encoding=data.get("encoding") or None,
            header=data.get("header") != "data",
            thousands="" if data["thousands"] == "none" else data["thousands"] or None,
            decimal=data["decimal"] or None,
            missing=words["missing"],
            note_words=words["note_words"],
            units=units,
            strip=data["strip"] != "kept",
            date_format=data["own_format"] if own else data["date_format"] or None,
            quote="" if data.get("quote") == "none" else data.get("quote") or '"',
            sheet=data.get("sheet") or None,
            title_lines=data.get("title_lines"),
            header_lines=data.get("header_lines"),
            fewest_filled=data.get("fewest_filled") or 0,
            fill_merged=data.get("fill_merged") == "filled",
        )

    def options(self) -> ReadOptions:
        """The declared options; call after `is_valid()`."""
        return self.declared


def reading_form(dataset: Dataset, data: Mapping[str, object] | None = None) -> ReadingForm:
    """The form with what is declared of a dataset's file; a workbook's sheets are named to choose from."""
    form = ReadingForm(data, initial=_initial(records.options_of(dataset)))
    sheets = dataset.facts.get("sheets", [])
    if dataset.is_remote:
        _without_file(form)
        return form
    if not formats.has_lines(dataset.facts.get("format")):
        for name in AROUND:
            del form.fields[name]
    if sheets:
        name_sheets(form, [Sheet(**sheet) for sheet in sheets])
    elif "format" in dataset.facts and not formats.has_sheets(dataset.facts["format"]):
        del form.fields["sheet"], form.fields["fill_merged"]
    return form


def name_sheets(form: ReadingForm, sheets: Sequence[Sheet]) -> None:
    """Let the curator choose from a workbook's sheets; a file without any has no such field."""
    hidden = _("%(sheet)s (hidden)")
    choices = [(s.name, hidden % {"sheet": s.name} if s.hidden else s.name) for s in sheets]
    if choices:
        form.fields["sheet"] = forms.ChoiceField(label=_("sheet of a workbook"), choices=choices)
    else:
        form.fields.pop("sheet", None)


MARKS = {
    "decimal": DECIMALS,
    "thousands": THOUSANDS,
    "date_format": DATE_FORMATS,
}


def _without_file(form: ReadingForm) -> None:
    """Leave out what finds the fields of a file, and proposals from its first rows."""
    for name in FINDING:
        del form.fields[name]
    for name, choices in MARKS.items():
        field = form.fields[name]
        assert isinstance(field, forms.ChoiceField)
        field.choices = [choice for choice in choices if choice != PROPOSED]


def _initial(options: ReadOptions) -> Json:
    own = options.date_format is not None and options.date_format not in NAMED_FORMATS
    return {
        **options.to_json(),
        "header": "names" if options.header else "data",
        "fill_merged": "filled" if options.fill_merged else "first",
        "strip": "ignored" if options.strip else "kept",
        "quote": options.quote or "none",
        "thousands": "none" if options.thousands == "" else options.thousands,
        "date_format": "own" if own else options.date_format,
        "own_format": options.date_format if own else "",
        "missing": shlex.join(options.missing),
        "note_words": shlex.join(options.note_words),
        "units": NO_UNIT if options.units == () else shlex.join(options.units or ()),
    }
