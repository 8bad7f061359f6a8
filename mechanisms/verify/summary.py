"""Whether the tables of a summary are what its measurement says.

Its estimates are fits in floats. What is measured once more from the plan's whole weights is the same up to rounding:
`csv_file` says up to which.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from mechanisms.summary.column_estimates import NumberEstimates, Summary
from mechanisms.summary.estimates import estimates
from mechanisms.summary.fusion import Model
from mechanisms.summary.plan import SummaryPlan
from mechanisms.summary.statistics import (
    EVERYBODY,
    GROUP,
    TOTAL,
    Statistic,
    in_files,
    is_counted,
    may_be_empty,
)
from mechanisms.tabular.codebook import codebook_frame
from mechanisms.tabular.headers import Headers
from mechanisms.tabular.label_columns import written
from mechanisms.verify import csv_file
from mechanisms.verify.bundle import Bundle
from mechanisms.verify.csv_file import RELATIVE, ColumnValues, Numbers, texts
from mechanisms.verify.finding import Finding
from mechanisms.verify.planned import Planned

NAMED = ("column", "statistic", "value", "whose", "group", "reference", "unit")
NUMBERS = ("estimate", "interval_lower", "interval_upper")


def check(bundle: Bundle, planned: Planned) -> Iterator[Finding]:
    """summary.csv, totals.csv, density.csv, the codebook, and the law that release.json states."""
    plan: SummaryPlan = planned.stated
    reported = estimates(plan, bundle.measurement)
    lines = list(in_files(plan, reported))
    yield csv_file.compared(bundle, "summary.csv", _columns(plan, lines, NAMED))
    totals = [line for line in lines if is_counted(line) or line.statistic == TOTAL]
    yield csv_file.compared(bundle, "totals.csv", _columns(plan, totals, NAMED[:5]))
    if plan.lines:
        yield csv_file.compared(bundle, "density.csv", _density(plan, reported))
    frame = codebook_frame(plan.domain)
    columns = {str(name): texts(frame[name]) for name in frame.columns}
    yield csv_file.compared(bundle, "codebook.csv", columns, "the declaration in the plan")
    yield _law(bundle, plan, reported.levels.tolist())


def _columns(plan: SummaryPlan, lines: list[Statistic], named: tuple[str, ...]) -> dict[str, ColumnValues]:
    names = {**Headers.of(plan.domain).columns, "": ""}
    words = [line._replace(column=names[line.column])._asdict() for line in lines]
    columns: dict[str, ColumnValues] = {name: texts(word[name] for word in words) for name in named}
    numbers = np.array([[line.estimate, line.lower, line.upper] for line in lines]).reshape(-1, 3)
    width = numbers[:, 2] - numbers[:, 1]
    return columns | {
        name: Numbers(own, 10, scale=width) for name, own in zip(NUMBERS, numbers.T, strict=True)
    }


def _density(plan: SummaryPlan, summary: Summary) -> dict[str, ColumnValues]:
    """The shares of each cell, of each group and of everybody; of a group that may have nobody if determined."""
    names = Headers.of(plan.domain).columns
    groups = [label for a in plan.groups.attributes for label in written(a, a.labels()) if plan.rows > 1]
    whose = [*((GROUP, label) for label in groups), (EVERYBODY, "")]
    empty = np.array([may_be_empty(summary, each, row) for row, (each, _label) in enumerate(whose)])
    labels: list[tuple[str, ...]] = []
    ends, shares = [], []
    for attribute, own in zip(plan.columns, summary.columns, strict=True):
        if isinstance(own, NumberEstimates):
            edges, reported_shares = own.steps.edges, own.steps.shares
            parts = np.stack([reported_shares.estimate, reported_shares.lower, reported_shares.upper], axis=2)
            for row in np.flatnonzero(~(empty & np.isnan(parts).any(axis=(1, 2)))):
                labels += [(names[attribute.name], *whose[row])] * (len(edges) - 1)
                ends.append(np.stack([edges[:-1], edges[1:]]))
                shares.append(parts[row].T)
    first, last = np.hstack(ends)
    share, lower, upper = np.hstack(shares)
    column, whom, group = (texts(each) for each in zip(*labels, strict=True))
    return {
        "column": column,
        "whose": whom,
        "group": group,
        "first": Numbers(first, 10),
        "last": Numbers(last, 10),
        "share": Numbers(share, 10, scale=1.0),
        "interval_lower": Numbers(lower, 10, scale=1.0),
        "interval_upper": Numbers(upper, 10, scale=1.0),
    }


def _law(bundle: Bundle, plan: SummaryPlan, levels: list[float]) -> Finding:
    """The law and standard error of numbers of people, and levels of their intervals, which the notebook reads."""
    model, stated = Model(plan), bundle.release["number_of_people"]
    error = model.number_error
    same = set(stated) == {"law", "standard_error", "levels"} and stated["law"] == model.law.name
    stated_levels = stated.get("levels")
    are_levels = isinstance(stated_levels, list) and [type(own) for own in stated_levels] == [float] * len(
        levels
    )
    same &= are_levels and np.allclose(stated_levels, levels, rtol=0, atol=RELATIVE)
    near = abs(float(stated["standard_error"]) - error) <= RELATIVE * error
    fault = "" if same and near else "release.json states another law, error or level"
    return Finding.of("number_of_people", fault, f"± {error:.3g}, one standard error")
