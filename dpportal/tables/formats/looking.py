"""How a file begins and ends, for its curator, who says which of its lines are the table."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import islice

from dpportal.tables.facts import FileLook, SeenLine
from dpportal.tables.formats.csv_table import framed
from dpportal.tables.formats.dialect import CsvDialect, first_lines
from dpportal.tables.formats.empty_columns import without_empty_columns
from dpportal.tables.formats.encoding import PlainText, plain_text, settled_encoding
from dpportal.tables.formats.frame import Line, is_note, joined_names, proposed_notes, usual_width
from dpportal.tables.formats.progress import part
from dpportal.tables.formats.reader import Reading
from dpportal.tables.formats.sheet_frame import resolved_top, sampled
from dpportal.tables.formats.xlsx_table import Unpacked, opened_sheet
from dpportal.tables.meaning.parse_options import ReadOptions

FIRST, LAST = 15, 6
# Last lines that are looked at for notes; above these, so many rows are shown.
MOST_LAST, ROWS_ABOVE = 20, 2
# Rows of a sheet up to which its end is looked for: each takes as long as a line of a million.
MOST_ROWS = 20_000
SHOWN_COLUMNS, SHOWN_LETTERS = 30, 60
LONGEST_TITLE = 300
TAIL_BYTES = 32 * 1024


def look_at_text(reading: Reading) -> FileLook:
    """The first and last lines of a text file. Raises UploadFault if they cannot be read."""
    encoding = settled_encoding(reading.source, reading.options.encoding)
    plain = plain_text(
        reading.source, reading.target.with_name("plain.csv"), encoding, part(reading.report, 0, 1)
    )
    options = framed(plain, reading.file_name, replace(reading.options, encoding=encoding))
    dialect = CsvDialect(str(options.delimiter), options.quote, 0)
    first = dialect.numbered(first_lines(plain.path))
    lines = without_empty_columns([*first, *_tail(plain, dialect, options)])
    return _look(lines[: len(first)], lines[len(first) :], options)


def _tail(plain: PlainText, dialect: CsvDialect, options: ReadOptions) -> list[Line]:
    """The last lines that say something, or would be rows, with their numbers."""
    with plain.path.open("rb") as file:
        size = file.seek(0, 2)
        file.seek(max(0, size - TAIL_BYTES))
        text = file.read().decode("utf-8", "replace")
    lines = [f"{line}\n" for line in text.split("\n")[:-1]][-2 * MOST_LAST :]
    before = plain.lines - len(lines)
    numbered = dialect.numbered(lines, keeps_empty=not options.leaves_out_notes)
    return [Line(line.first + before, line.after + before, line.fields) for line in numbered[-MOST_LAST:]]


def look_at_sheet(reading: Reading) -> FileLook:
    """The first rows of a sheet, and its last if it is short. Raises UploadFault if they cannot be read."""
    unpacked = Unpacked(reading.options)
    with opened_sheet(reading, unpacked) as rows:
        first = [row for row in islice(rows, MOST_ROWS // 100) if row[1]]
        options, _rows = resolved_top(iter(first), reading.options)
        last = deque((row for row in islice(rows, MOST_ROWS) if row[1]), MOST_LAST)
        is_long = next(rows, None) is not None
    lines = sampled([*first, *last])
    ends = [] if is_long else lines[-MOST_LAST:]
    return replace(_look(lines[: len(first)], ends, options), sheets=unpacked.sheets)


def _look(lines: Sequence[Line], last: Sequence[Line], options: ReadOptions) -> FileLook:
    """options: with the lines above the table."""
    titles, names = options.title_lines or 0, options.header_lines or 1
    below = [line for line in lines if line.first >= titles]
    width = usual_width(below[:40])
    of_names = (
        [line.fields for line in below if line.first < below[0].first + names] if options.header else []
    )
    end = below[0].first + names if below else 0
    rule = _with_notes([line for line in last if line.first >= end], width, options)
    shown = _with_rows_above(last, rule)
    return FileLook(
        _seen(lines[:FIRST]),
        _seen([line for line in shown if line.first >= (lines[:FIRST] or lines)[-1].after]),
        titles,
        names,
        tuple(joined_names(of_names)) if of_names else (),
        rule.fewest_filled,
        rule.note_words,
        titles=tuple(_text(line) for line in lines if line.first < titles),
    )


def _with_notes(last: Sequence[Line], width: int, options: ReadOptions) -> ReadOptions:
    """The rule that would leave out notes among the last lines beside those that are declared; none without others."""
    rows = [line for line in last if not (options.leaves_out_notes and is_note(line.fields, options))]
    fewest, words = proposed_notes(rows, width)
    if not (fewest or words):
        return ReadOptions()
    together = tuple(sorted({*options.note_words, *words}))
    return ReadOptions(fewest_filled=max(fewest, options.fewest_filled), note_words=together)


def _with_rows_above(last: Sequence[Line], rule: ReadOptions) -> Sequence[Line]:
    """The last lines that are shown: from some rows above the first that is proposed as a note."""
    notes = [place for place, line in enumerate(last) if rule.leaves_out_notes and is_note(line.fields, rule)]
    start = min([*notes[:1], len(last)]) - ROWS_ABOVE
    return last[max(0, min(start, len(last) - LAST)) :]


def _text(line: Line) -> str:
    return " ".join(" ".join(line.fields).split())[:LONGEST_TITLE]


def _seen(lines: Iterable[Line]) -> tuple[SeenLine, ...]:
    return tuple(
        SeenLine(line.first + 1, tuple(text[:SHOWN_LETTERS] for text in line.fields[:SHOWN_COLUMNS]))
        for line in lines
    )
