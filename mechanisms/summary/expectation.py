"""How wide the intervals of a summary will be, before anything is measured: from plan and expected people alone."""

from __future__ import annotations

import math
from dataclasses import dataclass
from statistics import median

import numpy as np

from mechanisms.noise.sum_quantiles import reach
from mechanisms.summary.fusion import Model
from mechanisms.summary.line import LineColumn
from mechanisms.summary.plan import SummaryPlan

# A share told to within half of everything, or a mean to within half of its range, says nothing.
NOTHING = 1 / 2


@dataclass(frozen=True)
class ColumnExpectation:
    """Half the 95 % intervals to expect of a column, for a group of a size; None where nothing will be told.

    share: at most, as a share of 1, of categories; of numbers of those missing. mean, deviation, quantile: of numbers,
    in the column's unit (dates: days): mean at most, wherever it is; deviation and quantile (the median) where values
    are spread evenly over the bounds. says_nothing: whether a reader learns nothing of this column for such a group.
    """

    name: str
    share: float | None
    mean: float | None
    deviation: float | None
    quantile: float | None
    says_nothing: bool


def number_half_width(plan: SummaryPlan) -> float:
    """Half the interval of the number of people in a group, in people; whatever its size."""
    model = Model(plan)
    return reach(model.law) * math.sqrt(_number_variance(model, alone=True))


def _number_variance(model: Model, *, alone: bool) -> float:
    """Of a group's number by itself, or as margins of columns have it (`RowEstimates.variance_in_columns`)."""
    told = alone or model.plan.groups.size == 1
    return float(model.number_variances(np.ones(1))[0]) if told else model.number_variance


def expectations(plan: SummaryPlan, people: float) -> list[ColumnExpectation]:
    """For each column, in the plan's order, of a group of so many people."""
    model = Model(plan)
    return [
        _line(model, plan.lines[a.name], people)
        if a.name in plan.lines
        else _categories(model, a.name, people)
        for a in plan.columns
    ]


def typical(plan: SummaryPlan, people: float) -> tuple[float | None, float | None]:
    """The median over columns of a share's half-width, and of a mean's as a share of its range; None without any.

    None as well where that of half of them is not told.
    """
    found = expectations(plan, people)
    shares = [own.share for own in found if own.name not in plan.lines]
    means = [
        None if own.mean is None else own.mean / float(plan.lines[own.name].measured.range)
        for own in found
        if own.name in plan.lines
    ]
    return _median(shares), _median(means)


def _median(widths: list[float | None]) -> float | None:
    middle = median(math.inf if width is None else width for width in widths) if widths else math.inf
    return middle if math.isfinite(middle) else None


def _share(model: Model, variances: np.ndarray, gain: np.ndarray, people: float) -> float | None:
    """At most: the variance of a count less p times the number is largest at p = 0 or p = 1."""
    number = _number_variance(model, alone=False)
    if people <= reach(model.law) * math.sqrt(number):
        return None
    widest = np.maximum(variances, variances - 2 * gain * number + number).max()
    return reach(model.law) * math.sqrt(widest) / people


def _categories(model: Model, name: str, people: float) -> ColumnExpectation:
    variances = model.variances(name, _number_variance(model, alone=False))
    share = _share(model, variances, model.cells[name].gain, people)
    return ColumnExpectation(name, share, None, None, None, share is None or share >= NOTHING)


def _line(model: Model, line: LineColumn, people: float) -> ColumnExpectation:
    name, far = line.attribute.name, reach(model.law)
    covariance = model.covariance(name, _number_variance(model, alone=False))
    gain = model.cells[name].gain
    share = _share(model, covariance[-1:, -1], gain[-1:], people)
    number, (first, curved) = float(covariance[:-1, :-1].sum()), model.moment_variances(name)
    if people <= far * math.sqrt(number):
        return ColumnExpectation(name, share, None, None, None, says_nothing=True)
    span = float(line.measured.top - line.measured.lower)
    mean = far * math.sqrt(first + number) / people / 2
    # Of u spread evenly over -1..1 the mean is 0, the variance 1/3, whose noise is that of 2/3 n - Σ(1 - u²).
    spread = math.sqrt(3) / 2 * far * math.sqrt(curved + 4 / 9 * number) / people / 2
    cells = line.cells // 2
    half = np.where(np.arange(line.cells) < cells, 1 / 2, -1 / 2)
    rank = far * math.sqrt(half @ covariance[:-1, :-1] @ half) / people
    floor = line.floor_error / 2
    quantile = rank * span + span / line.cells / 2
    return ColumnExpectation(
        name, share, span * mean + floor, span * spread + floor, min(quantile, span / 2), mean >= NOTHING
    )
