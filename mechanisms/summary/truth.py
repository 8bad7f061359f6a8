"""What exact sums say without noise, in the form of estimates: for comparisons, which are the curator's alone."""

from __future__ import annotations

from mechanisms.arrays import Integers
from mechanisms.summary.estimates import Summary
from mechanisms.summary.plan import SummaryPlan


def true_summary(plan: SummaryPlan, values: Integers) -> Summary:
    """From `exact_values`: every interval is the truth alone; NaN of a group of nobody."""
    raise NotImplementedError
