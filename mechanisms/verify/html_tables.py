"""Tables of a report: whether each line shows the numbers of the line with its labels in one table of the bundle.

In a table more is known of a number than in a sentence: labels name the line, and one column shows one thing. So each
column of numbers is given the column of a CSV table, or the margin between two, that it shows in every line; a number
that was changed, or swapped with another line's, is in none.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from mechanisms.domain import MISSING_LABEL
from mechanisms.inert_text import as_shown
from mechanisms.verify.headings import WORDS, numbers_of
from mechanisms.verify.page_tables import PageTable
from mechanisms.verify.page_text import plain
from mechanisms.verify.shown_numbers import DATE, Rounding, is_shown

_TABLE = re.compile(r"<table\b.*?</table>", re.DOTALL)
_ROW = re.compile(r"<tr\b.*?</tr>", re.DOTALL)
_CELL = re.compile(r"<t[dh]\b[^>]*>(.*?)</t[dh]>", re.DOTALL)
_NUMBER = r"[0-9][0-9,\u202f]*(?:\.[0-9]+)?(?:e[+-]?[0-9]+)?"
_SIGNED = re.compile(f"[-\u2212]?{_NUMBER}")
_SHOWN = re.compile(f"{DATE.pattern}|{_SIGNED.pattern}")
# Of a table's rows so many at least have labels and numbers of one table's lines, or it shows something else.
_SHARE = 0.5
# In place of a text of a row.
_NOTHING = "–"
TableRows = list[list[str]]
# What a column may show of the lines of a table: how it is called, its values, and how they are rounded.
Candidate = tuple[str, np.ndarray, Rounding]


@dataclass(frozen=True)
class ComparedTables:
    """How many numbers of a text's tables were compared with their lines, and those that are not theirs."""

    numbers: int
    strange: list[str]


def compared(
    sources: Mapping[str, pd.DataFrame], text: str, own: Sequence[PageTable] | None = None
) -> ComparedTables:
    """Each table is compared with its own lines, or with the one of the bundle's that it agrees with most.

    own: the tables that the page may have, each once; None where nobody knows.
    """
    numbers, strange, left = 0, [], list(own or ())
    for table in tables_of(text):
        fitting = next((each for each in left if each.has(headings_of(table))), None)
        if fitting is not None:
            left.remove(fitting)
        elif own is not None:
            strange += headings_of(table)[:1] or [""]
        if fitting is None or fitting.lines is None:
            best = _most_like(sources, table)
        else:
            best = _of_its_lines(fitting, fitting.lines, table)
        numbers += best.numbers
        strange += best.strange
    return ComparedTables(numbers, strange)


def _most_like(sources: Mapping[str, pd.DataFrame], table: str) -> ComparedTables:
    """Compared with the table that it agrees with most; with none where it shows something else."""
    every = [_compared(rows, source) for rows in _readings(table) for source in sources.values()]
    likely = [each for each in every if each is not None]
    best = max(likely, key=lambda each: each.numbers - len(each.strange), default=ComparedTables(0, []))
    return best if len(best.strange) <= _SHARE * best.numbers else ComparedTables(0, [])


def _of_its_lines(own: PageTable, lines: pd.DataFrame, table: str) -> ComparedTables:
    """Line by line, as many as it shows; each column by what its heading says that it shows."""
    rows, headings = rows_of(table), headings_of(table)
    if len(rows) > len(lines) or any(len(row) != len(headings) for row in rows):
        return ComparedTables(0, headings[:1])
    shown = lines.iloc[_places(own.key, lines, rows)]
    numbers, strange = 0, []
    values = list(_candidates(shown))
    for place, heading in enumerate(headings):
        cells = [row[place] for row in rows]
        words = own.labels[place] if place < len(own.labels) else [WORDS.get(heading, "")]
        if place < len(own.labels) or heading in WORDS:
            strange += _other_labels(cells, [shown[name] for name in words if name in shown])
        elif meant := numbers_of(heading):
            numbers += sum(len(_SHOWN.findall(cell)) for cell in cells)
            strange += _strange(cells, [each for each in values if meant.fullmatch(each[0])])
    return ComparedTables(numbers, strange)


def _places(key: str, lines: pd.DataFrame, rows: TableRows) -> list[int]:
    """Which lines the rows show: those that their first cells name, each once, or as many as there are rows."""
    place = {text: number for number, text in enumerate(lines[key])} if key else {}
    named = list(dict.fromkeys(place[row[0]] for row in rows if row[0] in place))
    return named if len(named) == len(rows) else list(range(len(rows)))


def _other_labels(cells: Sequence[str], labels: Sequence[pd.Series]) -> list[str]:
    """Those that are none of their line's; one without a text is called so by pages."""
    texts = [{" ".join(as_shown(text).split()) for text in line} for line in zip(*labels, strict=True)]
    known = [own | ({MISSING_LABEL, _NOTHING} if "" in own else set()) for own in texts]
    return [cell for cell, own in zip(cells, known, strict=True) if cell not in own]


def headings_of(table: str) -> list[str]:
    """The cells of the first line of a table, where it has headings alone."""
    first = next(iter(_ROW.findall(table)), "<td")
    return [] if "<td" in first else [_plain(cell) for cell in _CELL.findall(first)]


def rows_of(table: str) -> TableRows:
    """The cells of its lines that have any but headings."""
    return [[_plain(cell) for cell in _CELL.findall(row)] for row in _ROW.findall(table) if "<td" in row]


def every_row(table: str) -> TableRows:
    """The cells of all its lines."""
    return [[_plain(cell) for cell in _CELL.findall(row)] for row in _ROW.findall(table)]


def tables_of(text: str) -> Iterator[str]:
    """The tables of a page, as they are written."""
    return (match[0] for match in _TABLE.finditer(text))


def _readings(table: str) -> Iterator[TableRows]:
    """The lines of a table; of a single one the columns, whose headings are its labels."""
    rows = rows_of(table)
    if rows and all(len(row) == len(rows[0]) for row in rows):
        yield rows
    headings = [
        _plain(cell) for row in _ROW.findall(table) if "<td" not in row for cell in _CELL.findall(row)
    ]
    if len(rows) == 1 and len(headings) == len(rows[0]):
        yield [list(pair) for pair in zip(headings, rows[0], strict=True)]


def _plain(cell: str) -> str:
    return " ".join(plain(cell).split())


def _compared(rows: TableRows, table: pd.DataFrame) -> ComparedTables | None:
    """None where the labels of its rows name no lines of this table."""
    texts = {str(name): [" ".join(as_shown(text).split()) for text in table[name]] for name in table.columns}
    labels = _labels(rows, texts)
    lines = list(zip(*(texts[name] for name in labels.values()), strict=True))
    keys = [tuple(row[j] for j in labels) for row in rows]
    place = {line: number for number, line in enumerate(lines)}
    own = [number for number, key in enumerate(keys) if key in place]
    if not labels or len(place) < len(lines) or len(set(keys)) < len(keys) or len(own) < _SHARE * len(rows):
        return None
    values = list(_candidates(table.iloc[[place[keys[number]] for number in own]]))
    shown = [[rows[number][j] for number in own] for j in range(len(rows[0])) if j not in labels]
    strange = [number for column in shown for number in _strange(column, values)]
    # A row of all has another label, which is a word.
    others = [number for number, key in enumerate(keys) if key not in place]
    named = [
        (text, name) for number in others for text, name in zip(keys[number], labels.values(), strict=True)
    ]
    strange += [text for text, name in named if _SIGNED.search(text) and text not in texts[name]]
    strange += _strangely_named(
        [keys[number] for number in others], [set(texts[name]) for name in labels.values()]
    )
    return ComparedTables(sum(len(_SHOWN.findall(cell)) for column in shown for cell in column), strange)


def _strangely_named(keys: Sequence[tuple[str, ...]], known: Sequence[set[str]]) -> list[str]:
    """Lines that no table has, though it has each of their labels, by the first of these."""
    if len(known) < 2:
        return []
    return [key[0] for key in keys if all(text in own for text, own in zip(key, known, strict=True))]


def _labels(rows: TableRows, texts: Mapping[str, Sequence[str]]) -> dict[int, str]:
    """Which columns of a report's table name its lines, and by which column of the other table.

    Of several that would do it is the one that has most of the labels, and of these the first.
    """
    labels: dict[int, str] = {}
    for j in range(len(rows[0])):
        cells = [row[j] for row in rows]
        free = [name for name in texts if name not in labels.values() and _names_lines(name, texts[name])]
        known = {name: set(texts[name]) for name in free}
        count = {name: sum(cell in known[name] for cell in cells) for name in free}
        best = max(free, key=lambda name: count[name], default="")
        if best and count[best] >= _SHARE * len(cells):
            labels[j] = best
    return labels


def _names_lines(name: str, texts: Sequence[str]) -> bool:
    return name == "number" or not all(not text or _SIGNED.fullmatch(text) for text in texts)


def _candidates(lines: pd.DataFrame) -> Iterator[Candidate]:
    """Columns of these lines, and margins between the ends of an interval, also in percent.

    Margins and ends of intervals are rounded outward on some pages.
    """
    columns = {name: pd.to_numeric(lines[name], errors="coerce").to_numpy(float) for name in lines.columns}
    own = {name: column for name, column in columns.items() if not np.isnan(column).all()}
    every: list[Candidate] = [(name, values, Rounding.NEAREST) for name, values in own.items()]
    for place, name in enumerate(own):
        upper = f"{name.removesuffix('lower')}upper"
        if name.endswith("lower") and upper in own:
            low, high = own[name], own[upper]
            before = [own[each] for each in list(own)[:place][-3:] if not each.endswith("error")]
            every += [(name, low, Rounding.DOWN), (upper, high, Rounding.UP)]
            margin = f"{name.removesuffix('_lower')}±"
            every += [(margin, *each) for each in _margins(low, high, before)]
    for name, values, rounding in every:
        yield from ((name, values, rounding), (name, 100 * values, rounding))


def _margins(
    low: np.ndarray, high: np.ndarray, estimates: Sequence[np.ndarray]
) -> Iterator[tuple[np.ndarray, Rounding]]:
    """Of counts, whose ends are whole numbers as the counts are, also between the rounded ones.

    An end that a file has with a half, of which it wrote no further digit, was rounded up or down.
    """
    margins = [(high - low) / 2, *(np.maximum(each - low, high - each) for each in estimates)]
    for values in margins:
        yield from ((values, Rounding.NEAREST), (values, Rounding.UP))
    for each in estimates:
        for end in (np.floor(high + 0.5), np.ceil(high - 0.5)):
            yield end - np.round(each), Rounding.NEAREST


def _strange(cells: Sequence[str], values: Sequence[Candidate]) -> list[str]:
    """The numbers in a column's cells that are not those of the column which most cells of their form show there."""
    forms: dict[str, list[int]] = {}
    for line, cell in enumerate(cells):
        forms.setdefault(_SHOWN.sub("#", cell), []).append(line)
    strange: list[str] = []
    for form, lines in forms.items():
        for slot in range(form.count("#")):
            own = [(line, _SHOWN.findall(cells[line])[slot]) for line in lines]
            wrong: list[list[str]] = [
                [number for line, number in own if not is_shown(number, each[line], rounding)]
                for _name, each, rounding in values
            ]
            fewest: list[str] = min(wrong or [[number for _line, number in own]], key=len)
            strange += fewest
    return strange
