"""Table 1: whether each cell has the numbers of its column, group and statistic, and is the same in every file."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from html import unescape
from itertools import zip_longest

import numpy as np
import pandas as pd

from mechanisms.domain import MISSING_LABEL
from mechanisms.inert_text import as_shown
from mechanisms.summary.plan import SummaryPlan
from mechanisms.tabular.headers import Headers, valid_names
from mechanisms.verify import printed_cell
from mechanisms.verify.headings import EVERYBODY, STANDARDISED
from mechanisms.verify.html_tables import TableRows, every_row, tables_of
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
_PEOPLE = "number"
_IN_PERCENT = ("share",)
# What table1.csv calls columns and lines, and the two columns of a table that compares its groups.
_NAMED, _DIFFERENCES = ("column", "row"), ("difference", "standardised")
# How pages write that a cell has no number, and what stands beside the name of a column of categories.
_NOTHING, _OF_CATEGORIES = "not determined", " n (%)"
_COMMAND = re.compile(r"\\[a-zA-Z]+")
_BLOCK = re.compile(r"\\multicolumn\{.*\\textbf\{(.*)\}\}\\\\\*")


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


def strange_cells(printed: pd.DataFrame, summary: pd.DataFrame, plan: SummaryPlan) -> tuple[int, list[str]]:
    """How many numbers of table1.csv were compared with those of summary.csv, and what is not theirs.

    That is numbers, and names of columns and lines that the summary has not.
    """
    ends, bounds, names = cell_ends(plan), _bounds(plan), Headers.of(plan.domain).columns
    named = valid_names([*_NAMED, *headings(summary)[: len(printed.columns) - 2]])
    named[-2:] = _DIFFERENCES if printed.columns[-1] == _DIFFERENCES[1] else named[-2:]
    count, strange = 0, [str(own) for own in printed.columns if own not in named]
    for _place, line in printed.iterrows():
        column, row = names.get(as_shown(str(line["column"])), ""), str(line["row"])
        for head, called in _groups(printed, summary):
            own = _lines(summary, column, row, called, bounds)
            numbers = _NUMBER.findall(str(line[head]))
            strange += [] if len(own) or not numbers else [row]
            if len(own) and numbers:
                count += len(numbers)
                is_quantile = own["statistic"].str.startswith("quantile_").all()
                own_ends = ends.get(column) if is_quantile else None
                strange += _strange_in(str(line[head]), own, own_ends)
    return count, list(dict.fromkeys(strange))


def headings(summary: pd.DataFrame) -> list[str]:
    """What its columns are called: everybody, each group that has somebody, and of two groups their difference."""
    people = summary[
        (summary["statistic"] == _PEOPLE) & (summary["column"] == "") & (summary["whose"] == "group")
    ]
    shown = people[pd.to_numeric(people["interval_lower"], errors="coerce") > 0]["group"]
    groups = [as_shown(str(name)) or MISSING_LABEL for name in shown]
    further = [f"{groups[1]} − {groups[0]}", STANDARDISED] if len(groups) == 2 else []
    return [EVERYBODY, *groups, *further]


def _bounds(plan: SummaryPlan) -> dict[tuple[str, str], str]:
    """Of lines that say how many values are at a bound: by column and words what they show."""
    names = Headers.of(plan.domain).columns
    return {
        (names[name], f"{bound} or {side} (counted as {bound})"): statistic
        for name, line in plan.lines.items()
        for bound, side, statistic in zip(
            line.bound_texts, ("below", "above"), ("share_at_low", "share_at_high"), strict=True
        )
    }


def _groups(printed: pd.DataFrame, summary: pd.DataFrame) -> Iterator[tuple[str, str | None]]:
    """Each column of numbers but for differences, and which group it is of; None: of everybody."""
    groups = [name for name in printed.columns[2:] if name not in _DIFFERENCES]
    yield from zip(groups, [None, *headings(summary)[1:]], strict=False)


def _letters(name: str) -> str:
    return re.sub(r"[\W_]+", "", name).casefold()


def _as_in_latex(text: str) -> str:
    """Without signs that are commands there; raised digits as digits."""
    return re.sub("[ερδ]", " ", unicodedata.normalize("NFKC", text))


def _strange_in(cell: str, lines: pd.DataFrame, ends: CellEnds | None = None) -> list[str]:
    """By the places of its numbers; where its form is not known, those that are nowhere in these lines."""
    parts = _ends(lines)
    scales = [100.0 if unit in _IN_PERCENT else 1.0 for unit in lines["unit"]]
    strange = printed_cell.strange(cell, parts, scales, ends)
    finite = parts[np.isfinite(parts).all(axis=1)]
    return (
        strange
        if strange is not None
        else [each for each in _NUMBER.findall(cell) if not _is_of(each, finite)]
    )


def _lines(
    summary: pd.DataFrame, column: str, row: str, group: str | None, bounds: Mapping[tuple[str, str], str]
) -> pd.DataFrame:
    """The lines of the summary that a cell shows, in its order."""
    chosen = summary[
        _is_of_group(summary, group) & (summary["column"] == column) & (summary["reference"] == "")
    ]
    if at_bound := bounds.get((column, as_shown(row))):
        return chosen[chosen["statistic"] == at_bound]
    if row not in _STATISTICS:
        return chosen[chosen["value"] == row]
    order = [chosen[chosen["statistic"] == name] for name in _STATISTICS[row]]
    return pd.concat(order)


def _is_of_group(lines: pd.DataFrame, group: str | None) -> pd.Series:
    """Which lines are a group's, or everybody's."""
    if group is None:
        return lines["whose"] == "everybody"
    called = lines["group"].map(lambda name: as_shown(name) or MISSING_LABEL)
    return (lines["whose"] == "group") & (called == group)


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


def strange_lines(
    name: str, text: str, printed: pd.DataFrame, summary: pd.DataFrame, plan: SummaryPlan
) -> list[str]:
    """What the same table in another file has that is not table1.csv's: headings, lines in their order, and cells."""
    own, shown = list(_own_rows(printed, summary, plan)), _rows(name, text)
    if [len(row) for row in own] != [len(row) for row in shown]:
        return ["¶"]
    same = _is_same_in_latex if name.endswith(".tex") else _is_same
    if name.endswith(".tex"):  # where headings, and how many people there are, have no name
        own[:2] = [["", *row[1:]] for row in own[:2]]
    cells = (pair for rows in zip(own, shown, strict=True) for pair in zip(*rows, strict=True))
    return [other for first, other in cells if not same(first, other)]


def _own_rows(printed: pd.DataFrame, summary: pd.DataFrame, plan: SummaryPlan) -> Iterator[list[str]]:
    """Headings, how many people there are, and of each column its name and its lines."""
    names = {own.name: own.shown_name for own in plan.domain.attributes}
    yield ["Column", *headings(summary)]
    before = ""
    for _place, line in printed.iterrows():
        column, row, *cells = map(str, line)
        if column != before:
            yield [names.get(as_shown(column), as_shown(column)), *[""] * len(cells)]
            before = column
        yield [as_shown(row), *cells]


def _is_same(own: str, shown: str) -> bool:
    """Whether a cell of a page is that of the file, in which none begins with a plus."""
    text = shown.removeprefix("+").removesuffix(_OF_CATEGORIES)
    return text in (own, own.removesuffix(_OF_CATEGORIES)) or (own, text) == ("", _NOTHING)


def _is_same_in_latex(own: str, shown: str) -> bool:
    """Its letters and numbers: signs are written otherwise there, some as commands."""
    own, shown = _as_in_latex(own), _as_in_latex(_COMMAND.sub(" ", shown))
    return (_letters(own), _numbers([own])) == (_letters(shown), _numbers([shown]))


def _numbers(cells: Iterator[str] | Sequence[str]) -> list[str]:
    return [number for cell in cells for number in _NUMBER.findall(cell)]


def _rows(name: str, text: str) -> TableRows:
    """Those of the whole table: what stands in parts has its columns beside each other again."""
    if name.endswith(".tex"):
        parts = [_tex_rows(part) for part in text.split(r"\begin{longtable}")[1:]]
    else:  # where small pictures stand before the numbers
        parts = [[[*row[:1], *row[2:]] for row in every_row(table)] for table in tables_of(text)]
    return [row for side_by_side in zip_longest(*parts, fillvalue=[""]) for row in _single_row(side_by_side)]


def _single_row(rows: Sequence[list[str]]) -> TableRows:
    """One row of rows that are called alike; else each for itself."""
    if len({row[0] for row in rows}) > 1:
        return list(rows)
    return [[rows[0][0], *(cell for row in rows for cell in row[1:])]]


def _tex_rows(part: str) -> TableRows:
    """Its lines, and of those with the name of a column as many empty cells as the others have."""
    lines = [line.removesuffix("\\\\") for line in part.splitlines()]
    size = next((line.count(" & ") for line in lines if " & " in line), 0)
    rows = []
    for line in part.splitlines():
        if block := _BLOCK.fullmatch(line):
            rows.append([_plain(block[1]), *[""] * size])
        elif " & " in line:
            rows.append([_plain(cell) for cell in line.removesuffix("\\\\").split(" & ")])
    return rows


def _plain(cell: str) -> str:
    words = (
        cell.replace("n = ", "")
        .replace("\\quad", "")
        .replace("\\dots{}", "…")
        .replace("\\%", "%")
        .replace("$\\pm$", "±")
        .replace("~", " ")
        .replace("--", "–")
        .replace("$-$", "\u2212")
    )
    return " ".join(unescape(words).split())
