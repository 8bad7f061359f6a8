"""How wide the intervals of a summary will be, before anything is measured: from plan and expected people alone."""

from __future__ import annotations

from dataclasses import dataclass

from mechanisms.summary.plan import SummaryPlan


@dataclass(frozen=True)
class Expectation:
    """Half the 95 % intervals to expect of a column, for a group of a size; None where nothing will be told.

    share: at most, as a share of 1, of categories and of those missing. mean, deviation, quantile: of numbers, in the
    column's unit (dates: days); mean at most, wherever it is; deviation and quantile (the median) where values are
    spread evenly over the bounds. says_nothing: whether a reader learns nothing of this column for such a group.
    """

    name: str
    share: float | None
    mean: float | None
    deviation: float | None
    quantile: float | None
    says_nothing: bool


def number_half_width(plan: SummaryPlan) -> float:
    """Half the interval of the number of people in a group, in people; whatever its size."""
    raise NotImplementedError


def expectations(plan: SummaryPlan, people: float) -> list[Expectation]:
    """For each column, in the plan's order, of a group of so many people."""
    raise NotImplementedError


def typical(plan: SummaryPlan, people: float) -> tuple[float | None, float | None]:
    """The median over columns of a share's half-width, and of a mean's as a share of its range; None without any."""
    raise NotImplementedError
