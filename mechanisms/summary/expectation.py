"""How wide the intervals of a summary will be, before anything is measured: from plan and expected people alone."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from hashlib import sha256
from statistics import median

import numpy as np

from mechanisms.arrays import Floats
from mechanisms.noise.repeatable import repeatable
from mechanisms.noise.sum_quantiles import reach
from mechanisms.summary.column_estimates import QUANTILES
from mechanisms.summary.fusion import Model
from mechanisms.summary.line import LineColumn
from mechanisms.summary.plan import SummaryPlan
from mechanisms.summary.quantiles import quantiles
from mechanisms.summary.rows import CellNoise
from mechanisms.summary.spread import SpreadSums

# A share told to within half of everything, or a mean to within half of its range, says nothing.
NOTHING = 1 / 2
# Tables of noise, of which the interval of a median is averaged.
SIMULATED = 60


@dataclass(frozen=True)
class ColumnExpectation:
    """Half the 95 % intervals to expect of a column, for a group of a size; None where nothing will be told.

    share: at most, as a share of 1, of categories; of numbers of those missing. mean, deviation, quantile: of numbers,
    in the column's unit (dates: days): mean at most, wherever it is; deviation and quantile (the median, on average)
    where values are spread evenly over the bounds. most_deviation: where all values are alike. says_nothing: whether a
    reader learns nothing of this column for such a group.
    """

    name: str
    share: float | None
    mean: float | None
    deviation: float | None
    most_deviation: float | None
    quantile: float | None
    says_nothing: bool


def number_half_width(plan: SummaryPlan) -> float:
    """Half the interval of the number of people in a group, in people; whatever its size."""
    model = Model(plan)
    return reach(model.law) * math.sqrt(_number_variance(model, alone=True))


def _number_variance(model: Model, *, alone: bool) -> float:
    """Of a group's number by itself, or as margins of columns have it (`RowEstimates.variance_in_columns`)."""
    reported = alone or model.plan.groups.size == 1
    return float(model.number_variances(np.ones(1))[0]) if reported else model.number_variance


def expectations(plan: SummaryPlan, people: float) -> list[ColumnExpectation]:
    """For each column, in the plan's order, of a group of so many people."""
    model = Model(plan)
    expected = [_with_quantile(model, own, people) for own in _expectations(model, people)]
    return _with_deviations(model, expected, people)


def _expectations(model: Model, people: float) -> list[ColumnExpectation]:
    """Of all but deviations and quantiles, which take some work."""
    lines = model.plan.lines
    return [
        _line(model, lines[a.name], people) if a.name in lines else _categories(model, a.name, people)
        for a in model.plan.columns
    ]


def typical(plan: SummaryPlan, people: float) -> tuple[float | None, float | None]:
    """The median over columns of a share's half-width, and of a mean's as a share of its range; None without any.

    None as well where that of half of them is not told.
    """
    expected = _expectations(Model(plan), people)
    shares = [own.share for own in expected if own.name not in plan.lines]
    means = [
        None if own.mean is None else own.mean / float(plan.lines[own.name].measured.range)
        for own in expected
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
    return ColumnExpectation(name, share, None, None, None, None, share is None or share >= NOTHING)


def _line(model: Model, line: LineColumn, people: float) -> ColumnExpectation:
    name, far = line.attribute.name, reach(model.law)
    covariance = model.covariance(name, _number_variance(model, alone=False))
    gain = model.cells[name].gain
    share = _share(model, covariance[-1:, -1], gain[-1:], people)
    number, (first, _curved) = float(covariance[:-1, :-1].sum()), model.moment_variances(name)
    if people <= far * math.sqrt(number):
        return ColumnExpectation(name, share, None, None, None, None, says_nothing=True)
    span = float(line.measured.top - line.measured.lower)
    mean = far * math.sqrt(first + number) / people / 2
    return ColumnExpectation(
        name, share, span * mean + line.floor_error / 2, None, None, None, mean >= NOTHING
    )


def _with_quantile(model: Model, own: ColumnExpectation, people: float) -> ColumnExpectation:
    """Simulated: an interval begins with the first cell that noise allows, and ends with whole cells."""
    if own.mean is None:
        return own
    line = model.plan.lines[own.name]
    noise = CellNoise(
        model.covariance(own.name, 0.0),
        model.cells[own.name].gain,
        np.ones(SIMULATED),
        np.full(SIMULATED, _number_variance(model, alone=False)),
    )
    simulated = _simulated(model.covariance(own.name, float(noise.number[0]))[:-1, :-1])
    cells = people * _spread_evenly(line) + simulated
    intervals = quantiles(cells, noise, line.edges, np.full(SIMULATED, reach(model.law)))
    middle = QUANTILES.index(1 / 2)
    half = (intervals.upper - intervals.lower)[:, middle] / 2
    return own if np.isnan(half).any() else replace(own, quantile=float(half.mean()))


def _spread_evenly(line: LineColumn) -> Floats:
    """(SIMULATED, n) shares of cells, tilted so that medians are anywhere in half a cell around the middle."""
    values = np.diff(line.borders)
    tilts = 4 / line.cells * (np.arange(SIMULATED) / SIMULATED - 1 / 2)
    shares = values * (1 + np.outer(tilts, np.linspace(-1, 1, line.cells)))
    spread: Floats = shares / shares.sum(axis=1, keepdims=True)
    return spread


def _simulated(covariance: Floats) -> Floats:
    """(SIMULATED, n) noise with such a covariance (n, n), the same whenever it is asked for."""
    random = repeatable(sha256(b"noise to expect of a median").digest())
    # A little more, as sums that are known for certain leave no root.
    root = np.linalg.cholesky(covariance + np.eye(len(covariance)) * (1e-9 * np.trace(covariance)))
    noise: Floats = random.standard_normal((SIMULATED, len(root))) @ root.T
    return noise


def _with_deviations(
    model: Model, expectations: list[ColumnExpectation], people: float
) -> list[ColumnExpectation]:
    """The intervals that would be told if there were no noise in the sums.

    Of u spread evenly over -1..1 the mean is 0 and the mean of 1 - u² is 2/3; of values that are all at the lower bound
    they are -1 and 0.
    """
    known = [own.name for own in expectations if own.mean is not None]
    shapes = np.array([[1.0, 0.0, 2 / 3], [1.0, -1.0, 0.0]]) * people
    rows = np.tile(shapes, (len(known), 1)).T
    sums = SpreadSums(rows[0], rows[1], rows[2], _variances(model, known, len(shapes)))
    deviation = sums.deviation(model.law, reach(model.law))
    widths = np.fmax(deviation.upper - deviation.estimate, deviation.estimate - deviation.lower).reshape(
        len(known), len(shapes)
    )
    return [_with_deviation(model, own, dict(zip(known, widths, strict=True))) for own in expectations]


def _variances(model: Model, names: Sequence[str], times: int) -> tuple[Floats, Floats, Floats]:
    """Of each column's number, Σu and Σ(1 - u²), (columns · times,) each."""
    number = _number_variance(model, alone=False)
    numbers = [float(model.covariance(name, number)[:-1, :-1].sum()) for name in names]
    moments = [model.moment_variances(name) for name in names]
    first, curved = np.repeat(np.array(moments).reshape(-1, 2), times, axis=0).T
    return np.repeat(numbers, times), first, curved


def _with_deviation(model: Model, own: ColumnExpectation, widths: Mapping[str, Floats]) -> ColumnExpectation:
    if own.name not in widths:
        return own
    measured = model.plan.lines[own.name].measured
    scale, floor = float(measured.top - measured.lower) / 2, measured.floor_error / 2
    even, alike = (scale * float(width) + floor for width in widths[own.name])
    most = float(measured.range) / 2
    return replace(own, deviation=min(even, most), most_deviation=min(max(even, alike), most))
