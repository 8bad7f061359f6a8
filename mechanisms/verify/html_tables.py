"""Tables of a report: whether each line shows the numbers of the line with its labels in one table of the bundle.

A number in a sentence is looked for among all numbers of a bundle (`wording`). In a table more is known: labels name
the line, and one column shows one thing. So each column of numbers is given the column of a CSV table, or the margin
between two, that it shows in every line; a number that was changed, or swapped with another line's, is in none.
"""

from __future__ import annotations

import io
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from html import unescape

import numpy as np
import pandas as pd

from mechanisms.verify.bundle import Bundle

_TABLE = re.compile(r"<table\b.*?</table>", re.DOTALL)
_ROW = re.compile(r"<tr\b.*?</tr>", re.DOTALL)
_CELL = re.compile(r"<t([dh])\b([^>]*)>(.*?)</t[dh]>", re.DOTALL)
_TAG = re.compile(r"<[^>]*>")
_NUMBER = re.compile(r"[0-9][0-9,\u202f]*(?:\.[0-9]+)?(?:e[+-]?[0-9]+)?")
_MOST_LINES = 100_000
_SIGNED = re.compile(f"[-\u2212]?{_NUMBER.pattern}")
# Of the last digit's step: files have fewer digits than what a report rounds, and errors are rounded twice.
_APART = 0.55
# Of a table's rows so many at least have labels and numbers of one table's lines, or it shows something else.
_SHARE = 0.5
Rows = list[list[str]]


@dataclass(frozen=True)
class Compared:
    """How many numbers of a text's tables were compared with their lines, and those that are not theirs."""

    numbers: int
    strange: list[str]


def compared(bundle: Bundle, text: str) -> Compared:
    """Each table is compared with the one of the bundle that it agrees with most."""
    sources = list(_sources(bundle))
    numbers, strange = 0, []
    for match in _TABLE.finditer(text):
        rows = _rows(match[0])
        found = [each for table in sources if (each := _compared(rows, table)) is not None]
        best = max(found, key=lambda each: each.numbers - len(each.strange), default=Compared(0, []))
        if len(best.strange) <= _SHARE * best.numbers:
            numbers += best.numbers
            strange += best.strange
    return Compared(numbers, strange)


def _rows(table: str) -> Rows:
    """The cells of its lines; of none where some lines have other cells than the first."""
    rows = [[_plain(cell[2]) for cell in _CELL.findall(row)] for row in _ROW.findall(table) if "<td" in row]
    return rows if rows and all(len(row) == len(rows[0]) for row in rows) else []


def _plain(cell: str) -> str:
    return " ".join(unescape(_TAG.sub(" ", cell)).split())


def _sources(bundle: Bundle) -> Iterator[pd.DataFrame]:
    for name in bundle.entries:
        if name.endswith(".csv") and not name.endswith(".sdmx.csv"):
            content = io.BytesIO(bundle.content(name))
            yield pd.read_csv(content, dtype=str, keep_default_na=False, nrows=_MOST_LINES)


def _compared(rows: Rows, table: pd.DataFrame) -> Compared | None:
    """None where the labels of its rows name no lines of this table."""
    texts = {str(name): [" ".join(text.split()) for text in table[name]] for name in table.columns}
    labels = _labels(rows, texts)
    lines = list(zip(*(texts[name] for name in labels.values()), strict=True))
    keys = [tuple(row[j] for j in labels) for row in rows]
    place = {line: number for number, line in enumerate(lines)}
    own = [number for number, key in enumerate(keys) if key in place]
    if not labels or len(place) < len(lines) or len(set(keys)) < len(keys) or len(own) < _SHARE * len(rows):
        return None
    values = list(_values(table.iloc[[place[keys[number]] for number in own]]))
    shown = [[rows[number][j] for number in own] for j in range(len(rows[0])) if j not in labels]
    strange = [number for column in shown for number in _strange(column, values)]
    # A row of all has another label, which is a word.
    others = [number for number, key in enumerate(keys) if key not in place]
    named = [
        (text, name) for number in others for text, name in zip(keys[number], labels.values(), strict=True)
    ]
    strange += [text for text, name in named if _NUMBER.search(text) and text not in texts[name]]
    return Compared(sum(len(_NUMBER.findall(cell)) for column in shown for cell in column), strange)


def _labels(rows: Rows, texts: Mapping[str, Sequence[str]]) -> dict[int, str]:
    """Which columns of a report's table name its lines, and by which column of the other table."""
    labels: dict[int, str] = {}
    for j in range(len(rows[0]) if rows else 0):
        cells = [row[j] for row in rows]
        for name in texts.keys() - labels.values():
            known = set(texts[name])
            is_label = name == "number" or not all(map(_is_number, known))
            if is_label and sum(cell in known for cell in cells) >= _SHARE * len(cells):
                labels[j] = name
                break
    return labels


def _is_number(text: str) -> bool:
    return not text or _SIGNED.fullmatch(text) is not None


def _values(lines: pd.DataFrame) -> Iterator[tuple[np.ndarray, bool]]:
    """What a column may show of these lines: a column of theirs, or margins between the ends of an interval.

    With each whether it is rounded up, as margins are on some pages.
    """
    columns = {name: pd.to_numeric(lines[name], errors="coerce").to_numpy(float) for name in lines.columns}
    own = {name: column for name, column in columns.items() if not np.isnan(column).all()}
    names, margins = list(own), []
    for place, name in enumerate(names):
        upper = f"{name.removesuffix('lower')}upper"
        if name.endswith("lower") and upper in own:
            low, high = own[name], own[upper]
            before = [own[each] for each in names[:place][-3:] if not each.endswith("error")]
            margins += [(high - low) / 2, *(np.maximum(each - low, high - each) for each in before)]
    for values in (*own.values(), *margins):
        yield from ((values, False), (100 * values, False))
    for values in margins:
        yield from ((values, True), (100 * values, True))


def _strange(cells: Sequence[str], values: Sequence[tuple[np.ndarray, bool]]) -> list[str]:
    """The numbers in a column's cells that are not those of the column which most cells of their form show there."""
    forms: dict[str, list[int]] = {}
    for line, cell in enumerate(cells):
        forms.setdefault(_SIGNED.sub("#", cell), []).append(line)
    strange: list[str] = []
    for form, lines in forms.items():
        for slot in range(form.count("#")):
            own = [(line, _NUMBER.findall(cells[line])[slot]) for line in lines]
            wrong: list[list[str]] = [
                [number for line, number in own if not _shows(number, each[line], up)] for each, up in values
            ]
            fewest: list[str] = min(wrong or [[number for _line, number in own]], key=len)
            strange += fewest
    return strange


def _shows(number: str, value: float, up: bool) -> bool:
    """Whether a number is this value without its sign, rounded, or rounded up; below 0 it may be cut to 0."""
    given = float(re.sub("[,\u202f]", "", number))
    step = 10.0 ** -len(number.partition(".")[2].partition("e")[0])
    apart = (given - abs(value)) / step
    is_value = -1e-4 <= apart < 1 - 1e-4 if up else abs(apart) <= _APART
    return is_value or (value < 0 and not given)
