"""The files of totals and means."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pandas as pd

from dpportal.publications import codebook
from dpportal.publications.table import Table
from dpportal.releases.products.means.runner import GroupMeans
from mechanisms.arrays import Floats
from mechanisms.moments.estimates import ColumnEstimates, Interval
from mechanisms.moments.plan import MomentsPlan
from mechanisms.tabular.csv_frames import ten_digits, write_frame
from mechanisms.tabular.headers import valid_names
from mechanisms.tabular.label_columns import LabelColumn, label_columns
from mechanisms.tabular.sdmx import Observed

MEASURED, MEAN_UNIT = "measured", "mean_unit"
TITLES = {
    "number": "Estimated number of %s with a value",
    "total": "Estimated total",
    "mean": "Estimated mean; of dates in days since 1 January 1970",
    "deviation": "Estimated standard deviation; of dates in days",
    "without_value": "Estimated number of %s without a value",
    "share_at_low": "Estimated share of values at the lower end",
    "share_at_high": "Estimated share of values at the upper end",
}
ABOUT_UNIT = "Unit of the mean; empty for the column's own"
ENDS = {"": "", "_lower": ": lower end of the margin (95 %)", "_upper": ": upper end of the margin (95 %)"}


def statistics(estimates: ColumnEstimates) -> dict[str, Interval]:
    """What is told of a column, by the names of the files."""
    total = {"total": estimates.total} if estimates.total else {}
    deviation = {"deviation": estimates.deviation} if estimates.deviation else {}
    return {
        "number": estimates.number,
        **total,
        "mean": estimates.mean,
        **deviation,
        "without_value": estimates.missing,
        "share_at_low": estimates.at_lower,
        "share_at_high": estimates.at_upper,
    }


ABOUT_GROUPS = "Numbers, totals and means with margins (95 %), of each group"
ABOUT_ALL = "Numbers, totals and means with margins (95 %), of all groups together"


def write(plan: MomentsPlan, result: GroupMeans, folder: Path) -> list[Table]:
    """totals.csv by groups; with several groups in_all.csv, and the codebook of the columns that say the groups."""
    labels = label_columns(plan.groups)
    files = [_table(plan, result.groups, labels, folder / "totals.csv", ABOUT_GROUPS)]
    if result.together:
        files.append(_table(plan, result.together, [], folder / "in_all.csv", ABOUT_ALL))
    return [*files, *([codebook.write(plan.groups, folder)] if labels else [])]


def _table(
    plan: MomentsPlan,
    result: Sequence[ColumnEstimates],
    labels: list[LabelColumn],
    path: Path,
    about_file: str,
) -> Table:
    """A line for each measured column and group; an empty field where nothing is determined."""
    groups = _group_frame(plan, labels)
    names = _number_names(labels)
    frames = []
    for planned, estimates in zip(plan.columns, result, strict=True):
        numbers = pd.DataFrame(_numbers(estimates, names))
        numbers.insert(0, names[MEASURED], planned.column.attribute.name)
        numbers[names[MEAN_UNIT]] = planned.column.mean_unit
        frames.append(pd.concat([groups, numbers], axis=1))
    present = [statistic for statistic in TITLES if any(statistic in statistics(column) for column in result)]
    units = [names[MEAN_UNIT]] if any(planned.column.is_date for planned in plan.columns) else []
    ordered = [*groups.columns, names[MEASURED], *(names[t + end] for t in present for end in ENDS), *units]
    write_frame(pd.concat(frames, ignore_index=True)[ordered], path, float_format=ten_digits)
    kinds = [{"name": names[MEASURED], "type": "string", "title": "What is measured"}]
    counted = "rows" if plan.loss.unit.counts_rows else "people"
    ends = _ends(plan)
    kinds += [
        {
            "name": names[statistic + end],
            "type": "number",
            "title": TITLES[statistic].replace("%s", counted) + ends.get(statistic, "") + about,
        }
        for statistic in present
        for end, about in ENDS.items()
    ]
    kinds += [{"name": name, "type": "string", "title": ABOUT_UNIT} for name in units]
    fields = [*(column.field() for column in labels), *kinds]
    observed = [_observed(statistic, names) for statistic in present]
    return Table(path, about_file, fields, observed=observed, aside=units)


def _ends(plan: MomentsPlan) -> dict[str, str]:
    """Which values of each column the shares count."""
    low, high = [], []
    for planned in plan.columns:
        column = planned.column
        name, (lower, upper) = column.attribute.name, column.bound_texts
        low.append(
            f"{name} below {column.first_step_end}" if column.first_step_end else f"{name} {lower} or below"
        )
        high.append(f"{name} {upper} or above")
    return {"share_at_low": f" ({'; '.join(low)})", "share_at_high": f" ({'; '.join(high)})"}


def _observed(statistic: str, names: dict[str, str]) -> Observed:
    value, lower, upper = (names[statistic + end] for end in ENDS)
    return Observed(value, lower, upper, statistic=statistic)


def _group_frame(plan: MomentsPlan, labels: list[LabelColumn]) -> pd.DataFrame:
    """The groups by name, in order."""
    places = np.unravel_index(np.arange(plan.groups.size), plan.groups.shape) if labels else ()
    return pd.DataFrame({c.name: np.array(c.labels, dtype=object)[places[c.axis]] for c in labels})


def _number_names(labels: list[LabelColumn]) -> dict[str, str]:
    """What the columns of numbers are called beside those of the groups, by what they are."""
    names = [MEASURED, *(statistic + end for statistic in TITLES for end in ENDS), MEAN_UNIT]
    return dict(zip(names, valid_names(names, [column.name for column in labels]), strict=True))


def _numbers(estimates: ColumnEstimates, names: dict[str, str]) -> dict[str, Floats]:
    return {
        names[statistic + end]: values
        for statistic, interval in statistics(estimates).items()
        for end, values in zip(ENDS, (interval.estimate, interval.lower, interval.upper), strict=True)
    }
