"""Shares of the values of one column, of everybody and of each group, as a chart of a summary shows them."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pandas as pd

# A missing value is the last one of a column that tells how many there are.
_SHARES, _NUMBERS = ("share", "missing"), ("estimate", "interval_lower", "interval_upper")
_MOST_LABELS = 40


def shown_numbers(summary: pd.DataFrame) -> Iterator[np.ndarray]:
    """In percent, and so the ends of their intervals."""
    lines = summary[summary["statistic"].isin(_SHARES) & (summary["reference"] == "")]
    for _name, own in lines.groupby(["column", "whose", "group"], sort=False):
        for shown in (own, own[own["statistic"] == _SHARES[0]]):
            for name in _NUMBERS:
                numbers = 100 * pd.to_numeric(shown[name], errors="coerce").to_numpy(float)[:_MOST_LABELS]
                yield numbers[np.isfinite(numbers)]
