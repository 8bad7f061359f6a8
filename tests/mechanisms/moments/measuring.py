"""Columns, sums by hand, and measurements of one group over and over."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import numpy as np

from mechanisms.accounting import Definition, Loss, Neighbours, PrivacyUnit
from mechanisms.domain import Domain, Integer
from mechanisms.moments.column import MeasuredColumn
from mechanisms.moments.estimates import ColumnEstimates, Interval, Sums, estimates
from mechanisms.moments.mechanism import BernsteinSums, exact_sums
from mechanisms.moments.plan import MomentsPlan
from mechanisms.noise import Noise

BERNSTEIN = BernsteinSums()
NOBODY = Domain(())
ONE = Loss(Definition.PURE, Fraction(1))
RHO = Loss(Definition.ZCDP, Fraction(1, 10))
# Where everybody has one row, and nobody is missing: the number of rows is public.
PUBLIC = [replace(loss, unit=PrivacyUnit(Neighbours.REPLACE_ONE)) for loss in (ONE, RHO)]


def column(lower: int, upper: int, step: int = 1) -> MeasuredColumn:
    return MeasuredColumn.of(Integer("x", lower=lower, upper=upper), Fraction(step))


def powers_of(steps: np.ndarray, top: int, missing: int = 0) -> np.ndarray:
    """(1, 1, 6) of values that are whole steps."""
    v = [int(x) for x in steps]
    row = [len(v), sum(v), sum(x * x for x in v), missing, v.count(0), v.count(top)]
    return np.array([[row]], dtype=object)


def repeated(plan: MomentsPlan, powers: np.ndarray, runs: int) -> ColumnEstimates:
    """Of so many measurements of one group."""
    sums = np.repeat(exact_sums(plan, powers)[0], runs, axis=0)
    noise = Noise(np.random.default_rng(11).bytes).draw(plan.columns[0].noise, sums.size)
    noisy = sums[:, plan.columns[0].basis.quiet :]
    noisy += noise[: noisy.size].reshape(noisy.shape)
    return first_told(plan, sums)


def first_told(plan: MomentsPlan, sums: np.ndarray, times: int = 1) -> ColumnEstimates:
    """Of the first column, from sums of so many groups each."""
    return estimates(Sums.of(plan, plan.columns[0], times), sums.astype(np.float64))


def held(interval: Interval, truth: float) -> float:
    """The share of intervals that hold the truth; one that tells nothing holds everything."""
    return float((~((truth < interval.lower) | (interval.upper < truth))).mean())


def one_sided(interval: Interval, least: float = -np.inf, most: float = np.inf) -> bool:
    """Whether an estimate lies at or beyond an end of its interval, short of what is possible."""
    own, low, high = interval.estimate, interval.lower, interval.upper
    return bool((((own <= low) & (own > least + 1e-9)) | ((own >= high) & (own < most - 1e-9))).any())


SHAPES = {
    "even": lambda r, n: r.integers(0, 1001, n),
    "skewed": lambda r, n: np.minimum(r.geometric(0.02, n), 1000),
    "two ends": lambda r, n: np.where(r.random(n) < 0.9, 0, 1000),
    "one value": lambda r, n: np.full(n, 500),
    "all at a bound": lambda r, n: np.zeros(n, dtype=np.int64),
}
