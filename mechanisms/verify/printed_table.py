"""Table 1: whether each cell has the numbers of its column, group and statistic, and is the same in every file."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from html import unescape
from itertools import zip_longest

import numpy as np
import pandas as pd

from mechanisms.inert_text import as_shown
from mechanisms.summary.plan import SummaryPlan
from mechanisms.tabular.headers import Headers
from mechanisms.verify import printed_cell
from mechanisms.verify.html_tables import TableRows, rows_of, tables_of
from mechanisms.verify.printed_cell import CellEnds
from mechanisms.verify.shown_numbers import Rounding, is_shown

_NUMBER = re.compile("[-\u2212]?[0-9](?:[0-9,\u202f]*[0-9])?(?:\\.[0-9]+)?")
_ENDS = ("estimate", "interval_lower", "interval_upper")
# By the words of a line what it shows; those of categories are called after a value.
_STATISTICS = {
    "Mean (SD)": ("mean", "deviation"),
    "Median (Q1, Q3)": ("quantile_50", "quantile_25", "quantile_75"),
    "5 %, 95 %": ("quantile_05", "quantile_95"),
    # Of a column of categories also how many they are.
    "Missing": ("missing_count", "missing"),
    "People, n": ("number",),
    "Rows, n": ("number",),
}
_EVERYBODY, _PEOPLE = "Overall", "number"
_IN_PERCENT = ("share",)


def cell_ends(plan: SummaryPlan) -> dict[str, CellEnds]:
    """Of each column of numbers or dates, by its name in files."""
    names = Headers.of(plan.domain).columns
    return {
        names[name]: CellEnds(
            float(line.edges[1][0]),
            float(line.edges[0][-1]),
            1.0 if line.has_integer_values else float(line.measured.step),
        )
        for name, line in plan.lines.items()
    }


def strange_cells(
    printed: pd.DataFrame, summary: pd.DataFrame, ends: Mapping[str, CellEnds]
) -> tuple[int, list[str]]:
    """How many numbers of table1.csv were compared with those of summary.csv, and those that are not theirs.

    ends: see `cell_ends`.
    """
    count, strange = 0, []
    forms = {_NUMBER.sub("#", words) for words in _STATISTICS if _NUMBER.search(words)}
    for _place, line in printed.iterrows():
        if line["row"] not in _STATISTICS and _NUMBER.sub("#", str(line["row"])) in forms:
            strange += _NUMBER.findall(str(line["row"]))
        for group, called in _groups(printed, summary):
            own = _lines(summary, str(line["column"]), str(line["row"]), called)
            numbers = _NUMBER.findall(str(line[group]))
            if len(own) and numbers:
                count += len(numbers)
                is_quantile = own["statistic"].str.startswith("quantile_").all()
                own_ends = ends.get(str(line["column"])) if is_quantile else None
                strange += _strange_in(str(line[group]), own, own_ends)
    return count, strange


def _groups(printed: pd.DataFrame, summary: pd.DataFrame) -> Iterator[tuple[str, str]]:
    """Each column of numbers, and which group it is of: headers have no blanks or signs, which names may have."""
    names = map(str, summary.loc[summary["whose"] == "group", "group"].unique())
    called = {_letters(name): name for name in names}
    for head in map(str, printed.columns[2:]):
        yield head, called.get(_letters(head), head)


def _letters(name: str) -> str:
    return re.sub(r"[\W_]+", "", name).casefold()


def _strange_in(cell: str, lines: pd.DataFrame, ends: CellEnds | None = None) -> list[str]:
    """By the places of its numbers; where its form is not known, those that are nowhere in these lines."""
    parts = _ends(lines)
    scales = [100.0 if unit in _IN_PERCENT else 1.0 for unit in lines["unit"]]
    found = printed_cell.strange(cell, parts, scales, ends)
    told = parts[np.isfinite(parts).all(axis=1)]
    return found if found is not None else [each for each in _NUMBER.findall(cell) if not _is_of(each, told)]


def _lines(summary: pd.DataFrame, column: str, row: str, group: str) -> pd.DataFrame:
    """The lines of the summary that a cell shows, in its order."""
    chosen = summary[
        _is_of_group(summary, group) & (summary["column"] == column) & (summary["reference"] == "")
    ]
    if row not in _STATISTICS:
        return chosen[chosen["value"] == row]
    order = [chosen[chosen["statistic"] == name] for name in _STATISTICS[row]]
    return pd.concat(order)


def _is_of_group(lines: pd.DataFrame, group: str) -> pd.Series:
    """Which lines are a group's, or everybody's."""
    if group == _EVERYBODY:
        return lines["whose"] == "everybody"
    return (lines["whose"] == "group") & (lines["group"] == group)


def _ends(lines: pd.DataFrame) -> np.ndarray:
    """Estimate and ends of the interval of each: (n, 3)."""
    numbers = [pd.to_numeric(lines[name], errors="coerce").to_numpy(float) for name in _ENDS]
    return np.array(numbers).T.reshape(-1, 3)


def _is_of(number: str, lines: np.ndarray) -> bool:
    """As an estimate, an end rounded outward, or a margin rounded up; in percent, too."""
    for factor in (1.0, 100.0):
        for estimate, low, high in factor * lines:
            margin = max(estimate - low, high - estimate)
            shown = (
                (estimate, Rounding.NEAREST),
                *((low, Rounding.DOWN), (low, Rounding.NEAREST)),
                *((high, Rounding.UP), (high, Rounding.NEAREST)),
                *((margin, Rounding.UP), ((high - low) / 2, Rounding.UP)),
            )
            if any(is_shown(number, value, rounding) for value, rounding in shown):
                return True
    return False


def strange_lines(name: str, text: str, printed: pd.DataFrame, summary: pd.DataFrame) -> list[str]:
    """Numbers of the same table in another file that table1.csv does not have in the line with its words."""
    known: dict[str, list[list[str]]] = {}
    for _place, line in printed.iterrows():
        known.setdefault(as_shown(str(line["row"])), []).append(_numbers(map(str, line.iloc[2:])))
    forms = {_NUMBER.sub("#", words) for words in known if _NUMBER.search(words)}
    strange: list[str] = []
    for words, *cells in _rows(name, text):
        numbers = _numbers(cells)
        if words in known and numbers not in known[words]:
            strange += [each for each in numbers if all(each not in own for own in known[words])] or numbers[
                :1
            ]
        elif words not in known and _NUMBER.sub("#", words) in forms:
            strange += _NUMBER.findall(words)
        elif words == "" and cells[:1] != [_EVERYBODY]:
            strange += _strange_people(
                cells, [called for _head, called in _groups(printed, summary)], summary
            )
    return strange


def _strange_people(cells: Sequence[str], groups: Sequence[str], summary: pd.DataFrame) -> list[str]:
    """Of the line that says how many people there are, in all and in each group."""
    people = summary[(summary["statistic"] == _PEOPLE) & (summary["column"] == "")]
    strange: list[str] = []
    # A page has a further column for bars.
    for cell, group in zip(filter(_NUMBER.search, cells), groups, strict=False):
        own = people[_is_of_group(people, group)]
        if len(own) == 1:
            strange += _strange_in(cell, own)
    return strange


def _numbers(cells: Iterator[str] | Sequence[str]) -> list[str]:
    return [number for cell in cells for number in _NUMBER.findall(cell)]


def _rows(name: str, text: str) -> TableRows:
    """Those of the whole table: what stands in parts has its columns beside each other again."""
    if name.endswith(".tex"):
        parts = [_tex_rows(part) for part in text.split(r"\begin{longtable}")[1:]]
    else:
        parts = [rows_of(table) for table in tables_of(text) if "Table 1" in table]
    return [row for beside in zip_longest(*parts, fillvalue=[""]) for row in _single_row(beside)]


def _single_row(rows: Sequence[list[str]]) -> TableRows:
    """One row of rows that are called alike; else each for itself."""
    if len({row[0] for row in rows}) > 1:
        return list(rows)
    return [[rows[0][0], *(cell for row in rows for cell in row[1:])]]


def _tex_rows(part: str) -> TableRows:
    lines = [line.removesuffix("\\\\") for line in part.splitlines() if " & " in line]
    return [[_plain(cell) for cell in line.split(" & ")] for line in lines]


def _plain(cell: str) -> str:
    words = (
        cell.replace("n = ", "")
        .replace("\\quad", "")
        .replace("\\dots{}", "…")
        .replace("\\%", "%")
        .replace("$\\pm$", "±")
        .replace("~", " ")
        .replace("$-$", "\u2212")
    )
    return " ".join(unescape(words).split())
