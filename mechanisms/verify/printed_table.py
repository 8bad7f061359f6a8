"""Table 1: whether each cell has the numbers of its column, group and statistic, and is the same in every file."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from html import unescape

import numpy as np
import pandas as pd

from mechanisms.verify.html_tables import Rows, rows_of, tables_of
from mechanisms.verify.shown_numbers import Rounding, is_shown

_NUMBER = re.compile("[-\u2212]?[0-9][0-9,\u202f]*(?:\\.[0-9]+)?")
_ENDS = ("estimate", "interval_lower", "interval_upper")
# By the words of a line what it shows; those of categories are called after a value.
_STATISTICS = {
    "Mean (SD)": ("mean", "deviation"),
    "Median [Q1, Q3]": ("quantile_25", "quantile_50", "quantile_75"),
    "5 % … 95 %": ("quantile_05", "quantile_95"),
    "Missing": ("missing",),
}
_EVERYBODY, _PEOPLE = "Overall", "number"


def strange_cells(printed: pd.DataFrame, summary: pd.DataFrame) -> tuple[int, list[str]]:
    """How many numbers of table1.csv were compared with those of summary.csv, and those that are not theirs."""
    count, strange = 0, []
    for _place, line in printed.iterrows():
        for group in printed.columns[2:]:
            own = _lines(summary, str(line["column"]), str(line["row"]), str(group))
            numbers = _NUMBER.findall(str(line[group]))
            if len(own) and numbers:
                count += len(numbers)
                strange += [number for number in numbers if not _is_of(number, own)]
    return count, strange


def _lines(summary: pd.DataFrame, column: str, row: str, group: str) -> np.ndarray:
    """Estimate and ends of the interval of what a cell shows: (n, 3)."""
    of_group = summary["whose"] == "everybody" if group == _EVERYBODY else summary["group"] == group
    chosen = summary[of_group & (summary["column"] == column) & (summary["reference"] == "")]
    is_shown_here = (
        chosen["statistic"].isin(_STATISTICS[row]) if row in _STATISTICS else chosen["value"] == row
    )
    return _ends(chosen[is_shown_here])


def _ends(lines: pd.DataFrame) -> np.ndarray:
    numbers = [pd.to_numeric(lines[name], errors="coerce").to_numpy(float) for name in _ENDS]
    table = np.array(numbers).T.reshape(-1, 3)
    return np.asarray(table[np.isfinite(table).all(axis=1)])


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
        known.setdefault(str(line["row"]), []).append(_numbers(map(str, line.iloc[2:])))
    people = summary[(summary["statistic"] == _PEOPLE) & (summary["column"] == "")]
    strange: list[str] = []
    for words, *cells in _rows(name, text):
        numbers = _numbers(cells)
        if words in known and numbers not in known[words]:
            strange += [each for each in numbers if all(each not in own for own in known[words])] or numbers[
                :1
            ]
        elif words in ("People, n", "") and cells:
            strange += [number for number in numbers if not _is_of(number, _ends(people))]
    return strange


def _numbers(cells: Iterator[str] | Sequence[str]) -> list[str]:
    return [number for cell in cells for number in _NUMBER.findall(cell)]


def _rows(name: str, text: str) -> Rows:
    if name.endswith(".tex"):
        lines = [line.removesuffix("\\\\") for line in text.splitlines() if " & " in line]
        return [[_plain(cell) for cell in line.split(" & ")] for line in lines]
    return [row for table in tables_of(text) for row in rows_of(table) if "Table 1" in table]


def _plain(cell: str) -> str:
    words = cell.replace("\\quad", "").replace("\\dots{}", "…").replace("\\%", "%").replace("$\\pm$", "±")
    return " ".join(unescape(words).replace(" n = ", " ").split())
