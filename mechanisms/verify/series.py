"""Whether what surrounds the published running counts is what post-processing makes of them."""

from __future__ import annotations

import numpy as np
import pandas as pd

from mechanisms import registry
from mechanisms.continual.consistent import never_falling
from mechanisms.continual.mechanism import StreamPlan
from mechanisms.verify.finding import Finding

NAME = "series.csv"


def same_columns(plan: StreamPlan, table: pd.DataFrame) -> dict[str, np.ndarray]:
    """Every column of numbers of series.csv, made from its released counts.

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
    rising = np.stack([never_falling(counts.astype(float), errors**2) for counts in released.T], axis=1)
    columns = {
        "period": np.broadcast_to(periods[:, None], released.shape),
        "standard_error": np.broadcast_to(errors[:, None], released.shape),
        "interval_lower": released - halves[:, None],
        "interval_upper": released + halves[:, None],
        "increment": increments,
        "increment_standard_error": np.broadcast_to(
            np.sqrt(method.increment_variances(plan, periods))[:, None], released.shape
        ),
        "increment_lower": increments - increment_halves[:, None],
        "increment_upper": increments + increment_halves[:, None],
        "never_falling_count": rising,
        "never_falling_increment": np.diff(rising, axis=0, prepend=0),
    }
    return {name: values.ravel() for name, values in columns.items()}


def periods(plan: StreamPlan, table: pd.DataFrame, stated: int) -> Finding:
    """Whether there are as many periods as release.json says, and no more than were paid for."""
    there, horizon = len(table) // plan.request.series, plan.request.horizon
    fault = f"{NAME} has {there:,}, and release.json says {stated:,}" if there != stated else ""
    if horizon is not None and there > horizon:
        fault = f"{there:,} were published, and {horizon:,} were paid for"
    return Finding.of("periods", fault, f"{there:,} were published")
