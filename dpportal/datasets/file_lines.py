"""The lines of an uploaded file as its owner sees them, to say which of them are the table."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Literal

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from dpportal.datasets import records
from dpportal.datasets.models import Dataset
from dpportal.datasets.parse_options_forms import ReadingForm, name_sheets, reading_form
from dpportal.platform import storage
from dpportal.platform.sealing_faults import FileGoneFault
from dpportal.platform.stored_texts import translated
from dpportal.tables import FileLook, ReadOptions, UploadFault, formats
from dpportal.tables.facts import SeenLine
from dpportal.tables.formats.frame import filled, is_note

LineRole = Literal["title", "names", "row", "note"]
ROLES = {"title": _("title"), "names": _("names"), "row": _("row"), "note": _("note")}


@dataclass(frozen=True)
class ShownLine:
    """A line with what it is. is_first: whether names, or rows where there are none, begin with it."""

    number: int
    fields: tuple[str, ...]
    role: LineRole
    is_first: bool = False

    @property
    def choice(self) -> int:
        """The number of lines above it."""
        return self.number - 1

    def get_role_display(self) -> str | Promise:
        return ROLES[self.role]


@dataclass(frozen=True)
class Shown:
    """The lines of a file by what the form says.

    fault: why there are none. proposes_notes: whether the form has a rule about notes that nobody declared yet.
    """

    form: ReadingForm
    first: tuple[ShownLine, ...] = ()
    last: tuple[ShownLine, ...] = ()
    names: tuple[str, ...] = ()
    proposes_notes: bool = False
    fault: str = ""

    @property
    def is_wide(self) -> bool:
        """Whether most lines have several values, as those of notes and covers have not."""
        return 2 * sum(filled(line.fields) > 1 for line in self.first) > len(self.first)

    @property
    def seems_table(self) -> bool:
        """Whether a table stands here, perhaps with notes below it."""
        return self.is_wide or self.proposes_notes

    @property
    def lacks_a_name(self) -> bool:
        """Whether most columns of this table have a name of their own, and others none."""
        named = {name for name in self.names if name}
        return self.lacks_names and 2 * len(named) > len(self.names) and filled(self.names) == len(named)

    @property
    def lacks_names(self) -> bool:
        """Whether this is a table some of whose columns have no name of their own in these lines."""
        is_named = filled(self.names) == len(set(self.names)) == len(self.names)
        return bool(self.names) and self.is_wide and not is_named


def can_be_seen(dataset: Dataset) -> bool:
    """Whether the file is kept, and it can still be said how it is read."""
    has_lines = formats.has_lines(dataset.facts.get("format"))
    return has_lines and bool(dataset.upload) and dataset.can_change_parse_options


def shown_lines(dataset: Dataset, form: ReadingForm, *, is_new: bool) -> Shown:
    """The lines by what a form says, else by what is declared; the form with what is proposed where nobody said it.

    is_new: whether what stands above the table is to be proposed again, as for another sheet.
    """
    is_declared = form.is_bound and form.is_valid()
    options = form.options() if is_declared else records.options_of(dataset)
    if is_new:
        options = replace(options, title_lines=None, header_lines=None)
    try:
        look = _look(dataset, options)
    except (UploadFault, FileGoneFault, storage.StorageFault) as fault:
        return Shown(form, fault=translated(fault))
    if "title_lines" not in form.fields or not look.first:
        return Shown(form, fault=str(_("The lines of this file cannot be shown.")))
    proposes = bool(look.fewest_filled or look.note_words) and (is_new or not is_declared)
    resolved = replace(options, title_lines=look.title_lines, header_lines=look.header_lines)
    if proposes:
        resolved = replace(resolved, fewest_filled=look.fewest_filled, note_words=look.note_words)
    first, last = (tuple(_shown(lines, look, resolved)) for lines in (look.first, look.last))
    return Shown(_filled(dataset, form, resolved, look), first, last, look.names, proposes)


def _look(dataset: Dataset, options: ReadOptions) -> FileLook:
    """How the file begins and ends; of a workbook without the declared sheet the first one, with the names of all."""
    try:
        return records.look(dataset, options)
    except UploadFault as fault:
        if fault.code != "sheet":
            raise
        return records.look(dataset, replace(options, sheet=None))


def _filled(dataset: Dataset, form: ReadingForm, options: ReadOptions, look: FileLook) -> ReadingForm:
    """The form with the options that say which lines are the table."""
    values = {
        "title_lines": options.title_lines,
        "header_lines": options.header_lines,
        "fewest_filled": options.fewest_filled,
        "note_words": shlex.join(options.note_words),
    }
    if form.is_bound:
        form = reading_form(
            dataset, {**dict(form.data.items()), **{name: str(value) for name, value in values.items()}}
        )
    else:
        form.initial.update(values)
    name_sheets(form, look.sheets)
    return form


def _shown(lines: tuple[SeenLine, ...], look: FileLook, options: ReadOptions) -> Iterator[ShownLine]:
    width = max((len(line.fields) for line in (*look.first, *look.last)), default=0)
    above = next((line.number for line in look.first if line.number > look.title_lines), 1)
    last_name = above + look.header_lines - 1 if options.header else above - 1
    for line in lines:
        role: LineRole = "row"
        if line.number < above:
            role = "title"
        elif line.number <= last_name:
            role = "names"
        elif is_note(line.fields, options):
            role = "note"
        fields = (*line.fields, *[""] * (width - len(line.fields)))
        yield ShownLine(line.number, fields, role, line.number == above)
