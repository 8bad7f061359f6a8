"""Sums of Bernstein polynomials: number, total, mean and deviation at the cost of one count.

With v in 0..W whole steps above the lower bound, a row adds C(d,k) v^k (W-v)^(d-k) to sum k, k = 0..d. By the binomial
theorem these add up to W^d whatever v is, and none is negative. Source: for d = 1, Kulesza, Suresh, Wang 2024.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from decimal import ROUND_CEILING, Decimal
from fractions import Fraction
from typing import ClassVar

import numpy as np

from mechanisms.accounting import Definition, Loss, PrivacyUnit
from mechanisms.arrays import Integers
from mechanisms.calibration import MAX_SCALE, law_for, scale_squared, too_small
from mechanisms.domain import Domain, Real
from mechanisms.moments.column import MeasuredColumn
from mechanisms.moments.plan import ColumnPlan, MomentsPlan
from mechanisms.noise import Noise
from mechanisms.noise.sampler import WIDEST
from mechanisms.protocol import Measurement, PlanError
from mechanisms.sensitivity import Sensitivity, unit_sensitivity
from mechanisms.validation import check_amount

MAX_GROUPS = 10_000
MAX_COLUMNS = 20
# No true sum is taken for larger, so that it and its noise fit 64 bits. Cutting moves no two tables farther apart.
LARGEST_SUM = 2**62
# How many times as many rows as the curator expects are added up in full, and what is expected where nobody says.
ROOM = 16
MOST_PEOPLE = 10**10
# Of more rows engines would add up squares beyond 64 bits.
MOST_ROWS = 2**43
# A row adds at least so much, so that its noise is as good as continuous.
FINEST = 1024
# What a row at a bound adds besides, as a share of what every row adds: it costs 1.6 % more noise in L1, 0.8 % in L2.
AT_BOUND = {Definition.PURE: 64, Definition.ZCDP: 8}
# What is counted exactly of each group and column, before it is made into Bernstein sums.
POWERS = ("number", "first", "second", "missing", "at_lower", "at_upper")


class BernsteinSums:
    """Number, total, mean and deviation of each group, by sums that add up to the same for every row.

    Sensitivity: let U = K·W^d be what a row adds to the d + 1 Bernstein sums of its group, times a whole K. A row
    without a value adds U to a sum of its own instead; one at v = 0 or v = W adds c to that bound's sum besides. All
    are at least 0. So a row's vector a has ‖a‖₁ <= U + c, reached at a bound, and ‖a‖₂² <= U² + c²: squares of numbers
    that are not negative add up to at most the square of their sum, and v = 0 has all of U in one sum. Two rows'
    vectors have an inner product of at least 0, so ‖a - a'‖₁ <= 2(U + c) and ‖a - a'‖₂² <= 2(U² + c²), both reached
    by v = 0 and v = W, or by two groups. `unit_sensitivity` has the m rows of a person and both relations. Groups
    exclude each other, so a row is in one and all of them cost once. Columns share the loss equally, one composed with
    the other.
    """

    name: ClassVar[str] = "bernstein-sums"
    title: ClassVar[str] = "Sums at the cost of one count"
    summary: ClassVar[str] = (
        "Measures sums that add up to the same for every person, so that number, total, mean and deviation together "
        "cost what one count costs."
    )
    definitions: ClassVar[frozenset[Definition]] = frozenset({Definition.PURE, Definition.ZCDP})

    def plan(
        self, groups: Domain, columns: Sequence[MeasuredColumn], degree: int, loss: Loss, people: int | None
    ) -> MomentsPlan:
        """Decide everything without data.

        groups: the columns by whose cells rows are grouped; none for one group. degree: 1, or 2 for the deviation.
        people: the curator's estimate of their number; None if there is none, which leaves room for all that can be.
        Raises PlanError for what cannot be measured.
        """
        if not 1 <= len(columns) <= MAX_COLUMNS:
            raise PlanError(f"Choose between 1 and {MAX_COLUMNS} columns to measure.")
        if groups.size * len(columns) > MAX_GROUPS:
            raise PlanError(
                f"These columns make {groups.size:,} groups, each with {len(columns)} to measure; at most "
                f"{MAX_GROUPS:,} means can be released together. Choose fewer columns, or wider bins."
            )
        check_amount(loss)
        loss = loss.for_domain(groups)
        share = replace(loss, amount=loss.amount / len(columns))
        rows = ROOM * (MOST_PEOPLE if people is None else people) * loss.unit.max_rows
        planned = tuple(_column_plan(column, degree, share, rows) for column in columns)
        return MomentsPlan(self.name, groups, planned, degree, loss, _explanation(planned, degree))

    def measure(self, plan: MomentsPlan, sums: Integers, noise: Noise) -> Measurement:
        """Draw the noise: the only step that spends the loss.

        sums: (columns, groups, plan.sums) int64 >= 0, as `exact_sums` gives them. Raises ValueError for other shapes.
        """
        expected = (len(plan.columns), plan.groups.size, plan.sums)
        if sums.shape != expected or sums.dtype != np.int64:
            raise ValueError(f"sums must be int64 of shape {expected}, got {sums.dtype} of {sums.shape}")
        drawn = [
            noise.draw(column.noise, own.size).reshape(own.shape)
            for column, own in zip(plan.columns, sums, strict=True)
        ]
        return Measurement(sums + np.stack(drawn))


def exact_sums(plan: MomentsPlan, powers: np.ndarray) -> Integers:
    """The sums that are measured, from exact ones: (columns, groups, plan.sums) int64.

    powers: (columns, groups, 6) Python integers, `POWERS` of the rows of each group: how many have a value, Σv, Σv²,
    how many have none, how many are at v = 0, at v = W.
    """
    return np.stack([_column_sums(c, plan.degree, own) for c, own in zip(plan.columns, powers, strict=True)])


def _column_sums(planned: ColumnPlan, degree: int, powers: np.ndarray) -> Integers:
    number, first, second, missing, at_lower, at_upper = powers.astype(object).T
    steps = planned.column.steps
    times = planned.unit // steps**degree
    if degree == 1:
        basis = [steps * number - first, first]
    else:
        basis = [
            steps * steps * number - 2 * steps * first + second,
            2 * steps * first - 2 * second,
            second,
        ]
    own = [*(times * b for b in basis), planned.unit * missing]
    own += [planned.at_bound * at_lower, planned.at_bound * at_upper]
    sums: Integers = np.minimum(np.stack(own, axis=1), LARGEST_SUM).astype(np.int64)
    return sums


def _column_plan(column: MeasuredColumn, degree: int, loss: Loss, rows: int) -> ColumnPlan:
    power = column.steps**degree
    unit = power * -(-FINEST // power)
    at_bound = unit // AT_BOUND[loss.definition]
    moved = moved_sums(loss.unit, unit, at_bound)
    law = law_for(loss, moved)
    if scale_squared(law) > (MAX_SCALE * unit) ** 2:
        raise too_small(loss)
    if rows > MOST_ROWS or unit * rows > LARGEST_SUM:
        raise _beyond(
            column, degree, loss, f"the sums of {rows:,} rows, {ROOM} times as many as expected,", rows
        )
    if scale_squared(law) > WIDEST**2:
        raise _beyond(column, degree, loss, "its noise", 0)
    return ColumnPlan(column, unit, at_bound, moved, law)


def _beyond(column: MeasuredColumn, degree: int, loss: Loss, what: str, rows: int) -> PlanError:
    """The refusal of sums or noise that 64 bits do not hold, by arithmetic alone. rows: of sums; 0 of noise."""
    remedies = ["narrower bounds"] if rows <= MOST_ROWS else []
    if remedies and not column.is_date:
        needed = column.range / _largest_steps(degree, loss, rows)
        exact = isinstance(column.attribute, Real)
        remedies.insert(0, f"a step of at least {_rounded_up(needed) if exact else math.ceil(needed)}")
    if not rows:
        remedies.append(f"a larger {loss.symbol}")
    if loss.unit.max_rows > 1 or not remedies:
        remedies.append("fewer rows a person")
    *first, last = remedies
    return PlanError(
        f"{column.attribute.name}: in steps of {float(column.step):g} {what} would exceed 64 bits. Choose "
        f"{', '.join(first)}{' or ' if first else ''}{last}."
    )


def _largest_steps(degree: int, loss: Loss, rows: int) -> int:
    """Whole steps between the bounds that fit, at least 1."""
    if rows:
        unit = LARGEST_SUM // rows
    else:
        # Noise is as many units wide, whatever a unit is.
        law = law_for(loss, moved_sums(loss.unit, FINEST, FINEST // AT_BOUND[loss.definition]))
        unit = math.isqrt(int(WIDEST**2 * FINEST**2 / scale_squared(law)))
    return max(1, unit if degree == 1 else math.isqrt(unit))


def _rounded_up(number: Fraction) -> str:
    """To two digits."""
    digit = Decimal(1).scaleb(Decimal(float(number)).adjusted() - 1)
    return f"{(Decimal(float(number)) / digit).to_integral_value(ROUND_CEILING) * digit:f}"


def moved_sums(unit: PrivacyUnit, row: int, at_bound: int) -> Sensitivity:
    """How far one person moves a column's sums."""
    norms = Sensitivity(row + at_bound, row**2 + at_bound**2)
    return unit_sensitivity(unit, norms, Sensitivity(2 * norms.l1, 2 * norms.l2_squared))


def _explanation(planned: Sequence[ColumnPlan], degree: int) -> str:
    errors = ", ".join(f"{c.noise.standard_error / c.unit:.3g} ({c.column.attribute.name})" for c in planned)
    return (
        f"Measures {degree + 1} sums of each group and column, to which every person adds one in all, and counts of "
        f"those without a value and at a bound. The standard error of a sum, in people: {errors}."
    )
