"""How groups differ, with 95 % intervals: of shares and means, and standardised."""

from __future__ import annotations

from dataclasses import dataclass

from mechanisms.moments.estimates import Interval
from mechanisms.summary.estimates import CategoryEstimates, NumberEstimates


@dataclass(frozen=True)
class Difference:
    """Between one group and another. Categories: (cells,) of shares each. Numbers: (1,) of the mean, in its unit.

    standardised: over the root of the mean of both groups' variances (Cohen's d; of shares p(1-p)). NaN: not determined.
    """

    plain: Interval
    standardised: Interval


def difference(column: CategoryEstimates | NumberEstimates, group: int, reference: int) -> Difference:
    """A row of the estimates less another: both are groups, not everybody, since those share people."""
    raise NotImplementedError
