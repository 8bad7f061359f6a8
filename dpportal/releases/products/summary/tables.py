"""The files of a summary: every number, numbers of people and totals, densities, and the table as journals print it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
from django.template.loader import render_to_string
from django.utils.translation import gettext as _

from dpportal.platform.json_types import Json
from dpportal.publications import codebook
from dpportal.publications.descriptions import styles
from dpportal.publications.table import Table
from dpportal.releases.products.summary import latex
from dpportal.releases.products.summary.page import on_paper, table_json
from dpportal.releases.products.summary.table_one import TableOne
from mechanisms.summary.column_estimates import NumberEstimates, Summary
from mechanisms.summary.plan import SummaryPlan
from mechanisms.summary.statistics import (
    EMPTY_FIELDS,
    EVERYBODY,
    GROUP,
    PEOPLE,
    ROWS,
    TOTAL,
    in_files,
    may_be_empty,
)
from mechanisms.tabular.csv_frames import ten_digits, write_frame
from mechanisms.tabular.headers import Headers, valid_names
from mechanisms.tabular.label_columns import written
from mechanisms.tabular.sdmx import Observed

_TEXT, _NUMBER = "string", "number"
# Means, totals and quantiles.
ESTIMATE = (
    "Estimate, of values cut to the declared limits: a quantile at a limit may be any number beyond; of dates in days "
    "since 1 January 1970"
)
NUMBERS = [
    {"name": "estimate", "type": _NUMBER, "title": ESTIMATE},
    {"name": "interval_lower", "type": _NUMBER, "title": "Lower end of the margin (95 %)"},
    {"name": "interval_upper", "type": _NUMBER, "title": "Upper end of the margin (95 %)"},
]
NAMED = [
    {
        "name": "column",
        "type": _TEXT,
        "title": "Name of the column; empty where people, or rows, are counted",
    },
    {"name": "statistic", "type": _TEXT, "title": "What is told of it"},
    {"name": "value", "type": _TEXT, "title": "Value of a column of categories"},
]
WHOSE = [
    {"name": "whose", "type": _TEXT, "title": f"“{EVERYBODY}”, or “{GROUP}”: of a group"},
    {"name": "group", "type": _TEXT, "title": "Value that makes the group; empty for a missing one"},
]
SUMMARY_FIELDS = [
    *NAMED,
    *WHOSE,
    {"name": "reference", "type": _TEXT, "title": "Group that is subtracted, of a difference"},
    {"name": "unit", "type": _TEXT, "title": "Unit; empty for the column's own"},
    *NUMBERS,
]
TOTALS_FIELDS = [*NAMED, *WHOSE, *NUMBERS]
DENSITY_FIELDS = [
    {"name": "column", "type": _TEXT, "title": "Name of the column"},
    *WHOSE,
    {
        "name": "first",
        "type": _NUMBER,
        "title": "Where the step begins; of dates in days since 1 January 1970",
    },
    {
        "name": "last",
        "type": _NUMBER,
        "title": "Where it ends and the next one begins; the first and the last may reach beyond the limits",
    },
    {"name": "share", "type": _NUMBER, "title": "Share of the values that lies in it"},
    {"name": "interval_lower", "type": _NUMBER, "title": "Lower end of its 95 % interval"},
    {"name": "interval_upper", "type": _NUMBER, "title": "Upper end of its 95 % interval"},
]

# What a row of the table has beside its cells, where two groups are compared.
DIFFERENCES = ("difference", "standardised")
ABOUT_SUMMARY = "Every number, with its margin (95 %)"
ABOUT_TOTALS = "Numbers of {unit} and totals, with margins (95 %)"
ABOUT_TABLE = "The table as the page shows it, with margins"
ABOUT_DENSITY = "How the values of numbers and dates lie, with margins (95 %)"


def write(plan: SummaryPlan, summary: Summary, folder: Path, loss: str) -> list[Table]:
    """summary.csv first, then totals.csv, density.csv, the table in three forms, and the codebook.

    loss: what the release cost, in words.
    """
    frame = _frame(plan, summary)
    totals = frame[frame["unit"].isin([PEOPLE, ROWS]) | (frame["statistic"] == TOTAL)]
    files = [
        _table(frame, SUMMARY_FIELDS, folder / "summary.csv", ABOUT_SUMMARY),
        replace(
            _table(
                totals,
                TOTALS_FIELDS,
                folder / "totals.csv",
                ABOUT_TOTALS.format(unit=ROWS if plan.loss.unit.counts_rows else PEOPLE),
            ),
            observed=[Observed("estimate", "interval_lower", "interval_upper")],
            empty=EMPTY_FIELDS,
        ),
    ]
    if plan.lines:
        density = pd.DataFrame(_densities(plan, summary), columns=_names(DENSITY_FIELDS))
        files.append(_table(density, DENSITY_FIELDS, folder / "density.csv", ABOUT_DENSITY))
    return [*files, *_printed(plan, summary, folder, loss), codebook.write(plan.domain, folder)]


def _names(fields: Sequence[Json]) -> list[str]:
    return [field["name"] for field in fields]


def _frame(plan: SummaryPlan, summary: Summary) -> pd.DataFrame:
    """A line for each number, by the names of files."""
    names = {**Headers.of(plan.domain).columns, "": ""}
    lines = [number._replace(column=names[number.column]) for number in in_files(plan, summary)]
    return pd.DataFrame(lines, columns=_names(SUMMARY_FIELDS))


def _table(frame: pd.DataFrame, fields: Sequence[Json], path: Path, about: str) -> Table:
    write_frame(frame[_names(fields)], path, float_format=ten_digits)
    return Table(path, about, fields)


def _densities(plan: SummaryPlan, summary: Summary) -> Iterator[tuple[str | float, ...]]:
    names = Headers.of(plan.domain).columns
    groups = [
        (GROUP, label) for a in plan.groups.attributes for label in written(a, a.labels()) if plan.rows > 1
    ]
    for attribute, own in zip(plan.columns, summary.columns, strict=True):
        if isinstance(own, NumberEstimates):
            edges, step_shares = own.steps.edges, own.steps.shares
            for row, whose in enumerate([*groups, (EVERYBODY, "")]):
                shares = np.stack(
                    [step_shares.estimate[row], step_shares.lower[row], step_shares.upper[row]], axis=1
                )
                if np.isnan(shares).any() and may_be_empty(summary, whose[0], row):
                    continue
                for step in zip(edges[:-1], edges[1:], *shares.T, strict=True):
                    yield (names[attribute.name], *whose, *step)


def _printed(plan: SummaryPlan, summary: Summary, folder: Path, loss: str) -> list[Table]:
    """The table as the page has it: as texts, as a page by itself, and for LaTeX."""
    table = TableOne(plan, summary)
    shown = table_json(table, list(table.blocks()))
    html, tex = folder / "table1.html", folder / "table1.tex"
    context = {"parts": on_paper(shown), "plan": plan, "styles": styles(), "loss": loss, "alone": True}
    html.write_text(render_to_string("releases/summary/table1.html", context), encoding="utf-8")
    tex.write_text(latex.document(on_paper(shown), loss), encoding="utf-8")
    return [
        _texts(shown, folder / "table1.csv"),
        Table(html, "The table to read and to print, without programs"),
        Table(tex, "The table for LaTeX, with booktabs"),
    ]


def _texts(shown: Json, path: Path) -> Table:
    """The table's cells as texts with their margins, for word processors."""
    heads = [f"{head['name']} (n = {head['text']})" for head in shown["heads"]]
    further = [shown["difference_name"], _("Standardised difference")] if shown["difference_name"] else []
    named = ["column", "row", *(head["name"] for head in shown["heads"]), *DIFFERENCES[: len(further)]]
    titles = [_("Column"), _("Value or statistic"), *heads, *further]
    fields = [
        {"name": name, "type": _TEXT, "title": title}
        for name, title in zip(valid_names(named), titles, strict=True)
    ]
    people = ["", _people(shown), *map(_text, shown["heads"]), *[""] * len(further)]
    lines = [people] + [
        [block["column"], row["label"], *map(_text, row["cells"]), *_differences(row, len(further))]
        for block in shown["blocks"]
        for row in block["rows"]
    ]
    frame = pd.DataFrame(lines, columns=_names(fields))
    return _table(frame, fields, path, ABOUT_TABLE)


def _people(shown: Json) -> str:
    """What the line is called that says how many there are."""
    return _("Rows, n") if shown["counts_rows"] else _("People, n")


def _differences(row: Json, further: int) -> list[str]:
    return [_text(row.get(name)) for name in DIFFERENCES[:further]]


def _text(cell: Json | None) -> str:
    """Without a plus: spreadsheets take a text that begins with one for a formula."""
    return str(cell["text"]).removeprefix("+") if cell else ""
