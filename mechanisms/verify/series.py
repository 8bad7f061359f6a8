"""Whether what surrounds the published running counts is what post-processing makes of them."""

from __future__ import annotations

import datetime as dt
from calendar import monthrange

import numpy as np
import pandas as pd

from mechanisms import registry
from mechanisms.continual.consistent import never_falling
from mechanisms.continual.mechanism import StreamPlan
from mechanisms.json_types import JsonObject
from mechanisms.verify.csv_file import ColumnValues, Numbers, texts
from mechanisms.verify.finding import Finding

NAME = "series.csv"
# Of numbers that are no whole ones.
DECIMALS = 6


def columns(plan: StreamPlan, table: pd.DataFrame, release: JsonObject) -> dict[str, ColumnValues]:
    """Every column of series.csv, made from its released counts; its values and periods as release.json names them.

    table: as texts, a line for each of T periods and k running counts, periods in order. Raises ValueError where it has
    other lines.
    """
    width = plan.request.series
    released = table["released_count"].to_numpy().astype(np.int64).reshape(-1, width)
    periods = np.arange(1, len(released) + 1)
    method = registry.stream(plan.mechanism)
    errors = np.sqrt(method.variances(plan, periods))
    halves, increment_halves = method.half_widths(plan, periods), method.increment_half_widths(plan, periods)
    increments = np.diff(released, axis=0, prepend=0)
    increment_errors = np.sqrt(method.increment_variances(plan, periods))
    rising = np.stack([never_falling(counts.astype(float), errors**2) for counts in released.T], axis=1)
    numbers = {
        "released_count": released,
        "standard_error": errors[:, None],
        "interval_lower": released - halves[:, None],
        "interval_upper": released + halves[:, None],
        "increment": increments,
        "increment_standard_error": increment_errors[:, None],
        "increment_lower": increments - increment_halves[:, None],
        "increment_upper": increments + increment_halves[:, None],
        "never_falling_count": rising,
        "never_falling_increment": np.diff(rising, axis=0, prepend=0),
    }
    return {
        "period": periods.repeat(width),
        "begins": _begins(table, release["calendar"]).repeat(width),
        **_values(table, width, release["counted"]),
        **{name: _column(np.broadcast_to(own, released.shape).ravel()) for name, own in numbers.items()},
    }


def newest(plan: StreamPlan, table: pd.DataFrame) -> list[float]:
    """What a report begins with: all counts of the last period, and what it added to them, each with its margin.

    Nothing of a table with other lines than there can be, which is found elsewhere.
    """
    method, width = registry.stream(plan.mechanism), plan.request.series
    periods, rest = divmod(len(table), width)
    if rest or not periods or periods > (plan.request.horizon or periods):
        return []
    last, lines = np.array([periods]), table.iloc[-width:]
    return [
        *(
            pd.to_numeric(lines[name], errors="coerce").sum(skipna=False)
            for name in ("released_count", "increment")
        ),
        *(float(reach(plan, last, width)[0]) for reach in (method.half_widths, method.increment_half_widths)),
    ]


def last_day(table: pd.DataFrame, calendar: JsonObject) -> dt.date | None:
    """The last day of the newest period; None without a calendar, or where its name is none of a calendar."""
    begins = f"{table['begins'].iloc[-1]}-01"[:10] if len(table) else ""
    try:
        first = dt.date.fromisoformat(begins)
        days = {"day": 1, "week": 7, "month": monthrange(first.year, first.month)[1]}
        return first + dt.timedelta(days=days[str(calendar["step"])] - 1)
    except (KeyError, ValueError, OverflowError):
        return None


def _column(values: np.ndarray) -> ColumnValues:
    return values if values.dtype.kind in "iu" else Numbers(values, decimals=DECIMALS)


def _begins(table: pd.DataFrame, calendar: JsonObject) -> np.ndarray:
    """What each period is called: by its number, or by the day on which it begins, as the file has it."""
    begins = table["begins"].to_numpy(object)[:: len(table) // table["period"].nunique()]
    first = calendar["first_day"]
    if len(set(begins.tolist())) < len(begins) or not (first is None or first.startswith(begins[0])):
        raise ValueError("periods must have names of their own, from the first day on")
    return np.asarray(begins)


def _values(table: pd.DataFrame, width: int, counted: JsonObject) -> dict[str, ColumnValues]:
    """Whose running count each line is, alike in every period; a code stands beside its label."""
    names = [name for name in ("value", "value_label") if name in table.columns]
    own = {name: table[name].to_numpy(object)[:width] for name in names}
    # One of several cells together names them by their numbers, and no line of it has a value.
    stated = [value for value in counted["values"] if isinstance(value, str)]
    labels = texts(stated or [""])
    # Of missing values both are empty.
    if any(text not in (label, "") for text, label in zip(own[names[-1]], labels, strict=True)):
        raise ValueError("values must be those that release.json names")
    return {name: np.tile(words, len(table) // width) for name, words in own.items()}


def periods(plan: StreamPlan, table: pd.DataFrame, stated: int) -> Finding:
    """Whether there are as many periods as release.json says, and no more than were paid for."""
    there, horizon = len(table) // plan.request.series, plan.request.horizon
    fault = f"{NAME} has {there:,}, and release.json says {stated:,}" if there != stated else ""
    if horizon is not None and there > horizon:
        fault = f"{there:,} were published, and {horizon:,} were paid for"
    return Finding.of("periods", fault, f"{there:,} were published")
