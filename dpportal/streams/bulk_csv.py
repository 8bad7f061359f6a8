"""Many periods in one text file: a column that says the period, and a column for each running count."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from django.utils.translation import gettext as _

from dpportal.streams.calendar import CalendarError
from dpportal.streams.execution import Update
from dpportal.streams.measure import StreamDraftError, read_increments, shown
from dpportal.streams.models import Period, Stream

ISO = "%Y-%m-%d"
DELIMITERS = ",;\t"
PERIOD_NAMES = {"period", "date", "day", "week", "month"}
COUNT = "count"
# Of `read`, by name.
OPTIONS = ("column", "dates", "delimiter")
_INTEGER = re.compile(r"-?[0-9]{1,30}")


class ManyError(Exception):
    """A file that cannot be read as periods; the message says where and what to do, and holds no count."""


@dataclass(frozen=True)
class Columns:
    """Where in a line the period stands, and each running count by its label."""

    period: int
    counts: dict[str, int]
    length: int


def read(
    lines: Iterable[str], stream: Stream, *, column: str = "", dates: str = ISO, delimiter: str | None = None
) -> Iterator[Update]:
    """The periods of a file, in its order. Raises ManyError.

    lines: of text, the first with the names. column: of the counts, where a file has several. dates: how days are
    written, in strptime letters.
    """
    source = iter(lines)
    try:
        header = next(source, "")
        rows = csv.reader(source, delimiter=_delimiter(header), strict=True)
        columns = _columns(next(csv.reader([header], delimiter=_delimiter(header)), []), stream, column)
        for row in rows:
            if "".join(row).strip():
                yield _update(row, columns, stream, dates, rows.line_num + 1)
    except (csv.Error, UnicodeDecodeError):
        raise ManyError(
            _("This is not a text file with one line for each period. Save it as CSV in UTF-8 and try again.")
        ) from None


def _delimiter(header: str) -> str:
    return max(DELIMITERS, key=header.count)


def _columns(header: list[str], stream: Stream, column: str) -> Columns:
    names = [name.strip() for name in header]
    periods = [i for i, name in enumerate(names) if name.casefold() in PERIOD_NAMES]
    if len(periods) != 1:
        raise ManyError(
            _(
                "The first line must name the columns, and exactly one of them “period” or “date”. Add that line."
            )
        )
    if len(set(names)) < len(names):
        raise ManyError(_("Two columns have the same name. Give each its own."))
    others = {name: i for i, name in enumerate(names) if i != periods[0]}
    return Columns(periods[0], _count_columns(others, stream, column.strip()), len(names))


def _count_columns(others: dict[str, int], stream: Stream, column: str) -> dict[str, int]:
    labels: list[str] = stream.labels
    if labels == [""]:
        name = column or (COUNT if COUNT in others else next(iter(others), "") if len(others) == 1 else "")
        if name not in others:
            raise ManyError(
                _(
                    "The file has no column of that name, or several that could be meant. Name the one with the counts."
                )
            )
        return {"": others[name]}
    if unlisted := [place + 1 for name, place in others.items() if name not in labels]:
        # Of the curator's own names none is repeated: a refusal is kept with its job, and a name may be a person's.
        raise ManyError(
            _(
                "Line 1: what column %(columns)s is called is no value that is counted here. Take it out, or write "
                "it as declared. The values are: %(values)s."
            )
            % {"columns": shown([str(place) for place in unlisted]), "values": shown(labels)}
        )
    if lacking := [label for label in labels if label not in others]:
        raise ManyError(
            _("The file needs one column for each value, under its name. Missing: %(values)s.")
            % {"values": shown(lacking)}
        )
    return {label: others[label] for label in labels}


def _update(row: list[str], columns: Columns, stream: Stream, dates: str, line: int) -> Update:
    try:
        if len(row) != columns.length:
            raise ManyError(_("it has more or fewer fields than the first line."))
        index = _index(row[columns.period].strip(), stream, dates)
        given = {label: _number(row[place]) for label, place in columns.counts.items()}
        increments = read_increments(stream, given[""] if stream.labels == [""] else given)
    except (ManyError, StreamDraftError, CalendarError) as error:
        raise ManyError(_("Line %(line)s: %(error)s") % {"line": f"{line:,}", "error": str(error)}) from None
    return Update(index, increments, Period.Source.COUNTS)


def _index(text: str, stream: Stream, dates: str) -> int:
    if dates == ISO or text.isdigit():
        return stream.calendar.read(text)
    return stream.calendar.read_day(text, dates)


def _number(text: str) -> int | str:
    """A whole number as it is written; anything else stays text, to be refused where all counts are checked."""
    text = text.strip()
    return int(text) if _INTEGER.fullmatch(text) else text
