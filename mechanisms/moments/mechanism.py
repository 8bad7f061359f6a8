"""Sums of Bernstein polynomials: number, total, mean and deviation at the cost of one count.

With v in 0..W whole steps above the lower bound, a row adds C(d,k) v^k (W-v)^(d-k) to sum k, k = 0..d. By the binomial
theorem these add up to W^d whatever v is, and none is negative. Source: for d = 1, Kulesza, Suresh, Wang 2024.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from mechanisms.accounting import Definition, Loss, PrivacyUnit
from mechanisms.arrays import Integers
from mechanisms.calibration import MAX_SCALE, law_for, scale_squared, too_small
from mechanisms.domain import Domain
from mechanisms.moments.basis import Basis, bases_for
from mechanisms.moments.column import MeasuredColumn
from mechanisms.moments.plan import ColumnPlan, MomentsPlan, rounded
from mechanisms.noise import Noise
from mechanisms.noise.sampler import WIDEST
from mechanisms.protocol import Measurement, PlanError
from mechanisms.validation import check_amount, known_rows

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
# The same where sums are rounded, which moves a few of them by 1 more.
FINEST_ROUNDED = 2**17
# What a row at a bound adds besides, as a share of what every row adds: it costs 1.6 % more noise in L1, 0.8 % in L2.
AT_BOUND = {Definition.PURE: 64, Definition.ZCDP: 8}
# What is counted exactly of each group and column, before it is made into Bernstein sums.
POWERS = ("number", "first", "second", "missing", "at_lower", "at_upper")


class BernsteinSums:
    """Number, total, mean and deviation of each group, by sums that add up to the same for every row.

    The sums and how far a row moves them: `basis`. Groups exclude each other, so a row is in one and all of them cost
    once. `unit_sensitivity` has the m rows of a person and both relations. Columns share the loss equally, one composed
    with the other.
    """

    name: ClassVar[str] = "bernstein-sums"
    title: ClassVar[str] = "Sums at the cost of one count"
    summary: ClassVar[str] = (
        "Measures sums that add up to the same for every person, so that number, total, mean and deviation together "
        "cost what one count costs."
    )
    definitions: ClassVar[frozenset[Definition]] = frozenset({Definition.PURE, Definition.ZCDP})

    def plan(
        self,
        groups: Domain,
        columns: Sequence[MeasuredColumn],
        degree: int,
        loss: Loss,
        people: int | None,
        total: int | None = None,
    ) -> MomentsPlan:
        """Decide everything without data.

        groups: the columns by whose cells rows are grouped; none for one group. degree: 1, or 2 for the deviation.
        people: the curator's estimate of their number; None if there is none, which leaves room for all that can be.
        total: the exact number of rows, where it is public and known. Raises PlanError for what cannot be measured.
        """
        _check(groups, columns)
        check_people(people)
        check_amount(loss)
        loss = loss.for_domain(groups)
        known = known_rows(total, loss.unit)
        expected = MOST_PEOPLE if people is None else people
        rows = rows_in_full(max(expected, known or 0), loss.unit)
        public_number = loss.unit.total_public and groups.size == 1
        bases = bases_for(loss.definition, degree, public_number=public_number)
        request = _Request(degree, loss, len(columns), rows)
        planned = tuple(_best_plan(column, request, bases) for column in columns)
        text = explanation(planned, degree, loss.unit)
        return MomentsPlan(self.name, groups, planned, degree, loss, text, known)

    def measure(self, plan: MomentsPlan, sums: Integers, noise: Noise) -> Measurement:
        """Draw the noise: the only step that spends the loss.

        sums: (columns, groups, plan.sums) int64 >= 0, as `exact_sums` gives them. Raises ValueError for other shapes.
        """
        expected = (len(plan.columns), plan.groups.size, plan.sums)
        if sums.shape != expected or sums.dtype != np.int64:
            raise ValueError(f"sums must be int64 of shape {expected}, got {sums.dtype} of {sums.shape}")
        measured = sums.copy()
        for column, own in zip(plan.columns, measured, strict=True):
            noisy = own[:, column.basis.quiet :]
            noisy += noise.draw(column.noise, noisy.size).reshape(noisy.shape)
        return Measurement(measured)


def check_people(people: int | None) -> None:
    """Raises PlanError for a number of people that nobody can expect."""
    if people is not None and people < 1:
        raise PlanError("Expect at least one person, not {people:,}.", people=people)


def _check(groups: Domain, columns: Sequence[MeasuredColumn]) -> None:
    if not 1 <= len(columns) <= MAX_COLUMNS:
        raise PlanError("Choose between 1 and {max_columns} columns to measure.", max_columns=MAX_COLUMNS)
    names = [*groups.names, *(column.attribute.name for column in columns)]
    if again := [name for name in dict.fromkeys(names) if names.count(name) > 1]:
        raise PlanError("{name} is chosen twice. Choose each column once.", name=again[0])
    if groups.size * len(columns) > MAX_GROUPS:
        raise PlanError(
            "These columns make {size:,} groups, each with {number} to measure; at most {max_groups:,} "
            "means can be released together. Choose fewer columns, or wider bins.",
            size=groups.size,
            number=len(columns),
            max_groups=MAX_GROUPS,
        )


def rows_in_full(people: int, unit: PrivacyUnit) -> int:
    """How many rows are added up in full where so many people are expected; sums of more are cut."""
    return ROOM * people * unit.max_rows


def exact_sums(plan: MomentsPlan, powers: np.ndarray) -> Integers:
    """The sums that are measured, from exact ones: (columns, groups, plan.sums) int64.

    powers: (columns, groups, 6) Python integers, `POWERS` of the rows of each group: how many have a value, Σv, Σv²,
    how many have none, how many are at v = 0, at v = W.
    """
    return np.stack([column_sums(c, plan.degree, own) for c, own in zip(plan.columns, powers, strict=True)])


def column_sums(planned: ColumnPlan, degree: int, powers: np.ndarray) -> Integers:
    """(groups, degree + 4) sums of one column from its exact powers, (groups, 6)."""
    *moments, at_lower, at_upper = powers.astype(object).T
    steps, unit = planned.column.steps, planned.unit * planned.rounded_by
    exact = planned.basis.sums(degree, steps, unit // steps**degree, np.array(moments, dtype=object))
    own = [each // planned.rounded_by for each in exact]
    own += [planned.at_bound * at_lower, planned.at_bound * at_upper]
    sums: Integers = np.minimum(np.stack(own, axis=1), LARGEST_SUM).astype(np.int64)
    return sums


@dataclass(frozen=True)
class _Request:
    """A request that all columns share. loss: of all of them together. rows: how many are added up in full."""

    degree: int
    loss: Loss
    columns: int
    rows: int

    @property
    def share(self) -> Loss:
        """Of one column."""
        return replace(self.loss, amount=self.loss.amount / self.columns)


def _best_plan(column: MeasuredColumn, request: _Request, bases: Sequence[Basis]) -> ColumnPlan:
    """With exact sums by the first basis that fits 64 bits, else with rounded ones. Raises PlanError for the rest."""
    for rounded_by in (1, column.steps):
        for basis in bases:
            with suppress(PlanError):
                return _column_plan(column, request, basis, rounded_by)
    return _column_plan(column, request, bases[-1], column.steps)


def _column_plan(column: MeasuredColumn, request: _Request, basis: Basis, rounded_by: int) -> ColumnPlan:
    """Raises PlanError where the sums of so many rows, or their noise, leave 64 bits."""
    degree, unit_of_loss = request.degree, request.loss.unit
    power = column.steps**degree // rounded_by
    times = -(-(FINEST if rounded_by == 1 else FINEST_ROUNDED) // power)
    unit = power * -(-times // basis.divisor) * basis.divisor
    at_bound = unit // AT_BOUND[request.loss.definition]
    moved = basis.moved(degree, unit_of_loss, unit, at_bound)
    if rounded_by > 1:
        moved = rounded(moved, degree, unit_of_loss)
    law = law_for(request.share, moved)
    if scale_squared(law) > (MAX_SCALE * unit) ** 2:
        raise too_small(request.loss)
    if request.rows > MOST_ROWS or unit * request.rows > LARGEST_SUM:
        raise PlanError(
            "{column}: the sums of {rows:,} rows, {room} times as many as expected, would exceed 64 bits, even "
            "rounded. Choose fewer rows a person, or expect fewer people.",
            column=column.attribute.name,
            rows=request.rows,
            room=ROOM,
        )
    if scale_squared(law) > WIDEST**2:
        raise PlanError(
            "{column}: the noise would exceed ± {most:,} people, the widest that is drawn for sums. Choose a larger "
            "{symbol}, or fewer columns.",
            column=column.attribute.name,
            most=WIDEST // unit,
            symbol=request.loss.symbol,
        )
    return ColumnPlan(column, unit, at_bound, moved, law, basis, rounded_by)


def explanation(planned: Sequence[ColumnPlan], degree: int, unit: PrivacyUnit) -> str:
    """What is measured, in words."""
    errors = ", ".join(f"{c.noise.standard_error / c.unit:.3g} ({c.column.attribute.name})" for c in planned)
    counted = "rows" if unit.counts_rows else "people"
    sums = "sums of each group and column, to which every row that counts adds one in all"
    if all(c.basis.quiet for c in planned):
        sums = "sums of each column, of which the number of people is public and costs nothing"
    return (
        f"Measures {degree + 1} {sums}, and counts of those without a value and at a bound. The standard error of a "
        f"sum, in {counted}: {errors}."
    )
