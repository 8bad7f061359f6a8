"""The tables that a page has, by product: what their columns are called, and which lines of files they show."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import pandas as pd

from mechanisms.domain import Domain
from mechanisms.inert_text import as_shown
from mechanisms.json_types import JsonObject
from mechanisms.tabular.headers import Headers
from mechanisms.verify.bundle import STREAM
from mechanisms.verify.headings import ALL, pattern

Tables = Mapping[str, pd.DataFrame]
_COUNTS = r"Noisy count\n(Margin\n)?Adjusted count"
_MEANS = r"(People|Rows)(\nTotal)?\nMean(\nStandard deviation)?(\nWithout a value)?"
_BOUNDS = r"(\n(Below .+|At .+ or below)\nAt .+ or above)?"
_SERIES = r"Period\n(Value\n)?Released count\nFrom\nTo\nNew in the period\nNew: from\nNew: to"
_LEADS = r"[0-9][0-9,]*(\n[0-9][0-9,]*)*"
_PAIRS = r"Pair\nHow it is known\nCells\nMargin"
_ERRORS = r"Method\nA column\nPairs measured, at least"
_MEANS_OF_ROWS = (
    r"Column\nMean of the rows\nBy its noisy counts, 95 %\nBy bins alone, off by up to"
    r"(\nBy its exact sum, 95 %)?"
)
_SHARES = rf"Column(\n{pattern('{}: {}% of the variance').pattern})+"
_NUMBERED = re.compile("_[0-9]+$")
# Columns of a codebook that say what a column is called.
_CALLED = ("name", "column", "title")


@dataclass(frozen=True)
class PageTable:
    """names: what each of the columns that label its lines may be called, in order; heads: of the others, one a line.

    lines: those of a file that it shows, its first ones, in order; None where no file has them. labels: of each column
    that labels lines, the columns of the file in one of which its texts stand. key: the column of the file that names
    the lines of a table which is in another order.
    """

    names: Sequence[frozenset[str]]
    heads: re.Pattern[str]
    lines: pd.DataFrame | None = None
    labels: Sequence[Sequence[str]] = ()
    key: str = ""

    def has(self, headings: Sequence[str]) -> bool:
        """Whether a table with these headings can be it."""
        first, others = headings[: len(self.names)], headings[len(self.names) :]
        are_own = all(own in names for own, names in zip(first, self.names, strict=False))
        return are_own and self.heads.fullmatch("\n".join(others)) is not None


def page_tables(release: JsonObject, tables: Tables) -> list[PageTable]:
    """Those of a report, each of which stands in it once at most. tables: as pages call their columns."""
    return _WORKERS[release["product"]](release["plan"], tables)


def column_names(plan: JsonObject) -> frozenset[str]:
    """What pages call the columns of which cells are made."""
    names = Domain.from_json(plan["domain"]).shown_names if "domain" in plan else ()
    return frozenset(each for name in names for each in _spoken(name))


def _spoken(name: str) -> frozenset[str]:
    """A column's name for readers may be without what stands over several columns, and has blanks for underscores."""
    shown = as_shown(name)
    own = (shown, shown.rpartition(": ")[2])
    return frozenset(" ".join(each.split()) for text in own for each in (text, text.replace("_", " ")))


def _labels(domain: Domain) -> tuple[list[frozenset[str]], list[list[str]]]:
    """How the columns that label lines are called on pages, and in files."""
    headers = Headers.of(domain)
    labels = [
        [headers.columns[a.name], *([headers.labels[a.name]] if a.name in headers.labels else [])]
        for a in domain.attributes
    ]
    return [_spoken(name) for name in domain.shown_names], labels


def _histogram(plan: JsonObject, tables: Tables) -> list[PageTable]:
    names, labels = _labels(Domain.from_json(plan["domain"]))
    return [PageTable(names, re.compile(_COUNTS), tables.get("histogram"), labels)]


def _response(_plan: JsonObject, tables: Tables) -> list[PageTable]:
    lines, codebook = tables["estimates"], tables["codebook"]
    labels = list(lines.columns[: list(lines.columns).index("estimate")])
    called = frozenset(text for name in _CALLED if name in codebook for text in codebook[name].unique())
    names = frozenset(each for text in called for each in _spoken(text))
    return [PageTable([names], re.compile(_COUNTS), lines, [labels])]


def _queries(_plan: JsonObject, tables: Tables) -> list[PageTable]:
    return [PageTable([], re.compile(r"Number\nQuery\nAnswer\nMargin"), tables.get("answers"))]


def _means(plan: JsonObject, tables: Tables) -> list[PageTable]:
    """One for each measured column: the line of everybody, where there are groups, and those of groups."""
    groups = Domain.from_json(plan["groups"])
    labels = [
        [f"label {place} {own}" for own in range(1 + attribute.has_codes)]
        for place, attribute in enumerate(groups.attributes)
    ]
    totals = _renamed(tables["totals"], [name for own in labels for name in own])
    lines = pd.concat([*([tables["in_all"]] if "in_all" in tables else []), totals]).fillna(ALL)
    heads = re.compile(_MEANS + _BOUNDS)
    return [
        PageTable(
            [_spoken(name) for name in groups.shown_names], heads, lines[lines["measured"] == column], labels
        )
        for column in totals["measured"].unique()
    ]


def _renamed(totals: pd.DataFrame, labels: list[str]) -> pd.DataFrame:
    """With these names for its groups, whose own may be those of numbers, which then have a number behind theirs."""
    others = [_NUMBERED.sub("", str(name)) for name in totals.columns[len(labels) :]]
    return totals.set_axis([*labels, *others], axis=1)


def _microdata(plan: JsonObject, tables: Tables) -> list[PageTable]:
    names, labels = _labels(Domain.from_json(plan["domain"]))
    chosen = [place for place, own in enumerate(labels) if own[0] in tables["synthetic"]]
    rows = PageTable(
        [names[place] for place in chosen],
        re.compile(""),
        tables["synthetic"],
        [labels[place] for place in chosen],
    )
    return [
        rows,
        PageTable([], re.compile(_ERRORS)),
        PageTable([], re.compile(_MEANS_OF_ROWS), tables.get("means")),
        PageTable([], re.compile(_PAIRS), tables.get("measured_pairs"), key="pair"),
        PageTable([], re.compile(r"Column\nValue\nNoisy count\nMargin \(95 %\)"), tables.get("columns")),
        PageTable([], re.compile(_SHARES), tables.get("loadings")),
    ]


def _selection(_plan: JsonObject, _tables: Tables) -> list[PageTable]:
    return [PageTable([], re.compile(_LEADS))]


def _stream(_plan: JsonObject, tables: Tables) -> list[PageTable]:
    """The newest period first."""
    series = tables["series"]
    newest = series.iloc[(-pd.to_numeric(series["period"])).argsort(kind="stable")]
    return [PageTable([], re.compile(_SERIES), newest)]


_WORKERS: dict[str, Callable[[JsonObject, Tables], list[PageTable]]] = {
    "histogram": _histogram,
    "response": _response,
    "queries": _queries,
    "means": _means,
    "microdata": _microdata,
    "selection": _selection,
    STREAM: _stream,
    # Table 1, which `printed_table` compares.
    "summary": lambda _plan, _tables: [],
}
