"""Exact sums of columns of numbers and dates, for a small share of the loss, so that rows have means that bins hide.

The sums are those of `moments`, of degree 1: a row at v of W steps adds v to one and W - v to the other, so that
number and mean of a column cost together what one count does. Their loss and that of the method's own steps add up.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from fractions import Fraction

from mechanisms.arrays import Integers
from mechanisms.domain import Domain, Ordered
from mechanisms.microdata.plan import MicrodataPlan
from mechanisms.moments.column import EPOCH, MeasuredColumn
from mechanisms.moments.estimates import Interval, by_groups
from mechanisms.moments.mechanism import MAX_COLUMNS, BernsteinSums
from mechanisms.moments.plan import MomentsPlan
from mechanisms.noise import Noise
from mechanisms.protocol import PlanError

SUMS = "sums of columns"
# Of columns in wide bins it is worth far more than the twentieth that all other steps lose.
SHARE = Fraction(1, 20)
# Of how many people sums leave room for sixteen times as many; of more they are cut, which costs no privacy.
MOST_EXPECTED = 10**8
_MECHANISM = BernsteinSums()


def with_share(shares: Mapping[str, Fraction]) -> dict[str, Fraction]:
    """The method's own shares, of what sums of columns leave."""
    return {**{step: share * (1 - SHARE) for step, share in shares.items()}, SUMS: SHARE}


def summed_columns(domain: Domain) -> list[MeasuredColumn]:
    """Columns of numbers and dates; without those whose bounds are too many steps apart to be added up."""
    columns = []
    for attribute in domain.attributes:
        if isinstance(attribute, Ordered):
            with suppress(PlanError):
                columns.append(MeasuredColumn.of(attribute))
    return columns


def sums_plan(plan: MicrodataPlan) -> MomentsPlan:
    """What is measured beside the method's own steps. Raises PlanError if it cannot be."""
    return _MECHANISM.plan(Domain(()), summed_columns(plan.domain), 1, plan.step(SUMS), MOST_EXPECTED)


def check(plan: MicrodataPlan) -> None:
    """Raises PlanError if the plan has sums of columns that cannot be measured."""
    if not plan.sums:
        return
    if plan.domain.leaves_out:
        raise PlanError(
            "Sums of columns: rows that do not fit the declaration are left out of the counts, and sums would count "
            "them. Leave the sums away, or declare where such values go."
        )
    if not 1 <= len(summed_columns(plan.domain)) <= MAX_COLUMNS:
        raise PlanError(
            "Sums of columns need between 1 and {max_columns} columns of numbers or dates.",
            max_columns=MAX_COLUMNS,
        )
    sums_plan(plan)


def split_off(plan: MicrodataPlan, counts: Integers) -> tuple[Integers, Integers]:
    """The method's own counts, and the exact sums at their end; none where the plan has none."""
    own = counts.size - (sums_plan(plan).size if plan.sums else 0)
    return counts[:own], counts[own:]


def measured(plan: MicrodataPlan, sums: Integers, noise: Noise) -> list[Integers]:
    """The sums with noise, as the one further part of a measurement; no part where the plan has none."""
    if not plan.sums:
        return []
    moments = sums_plan(plan)
    exact = sums.reshape(len(moments.columns), 1, moments.sums)
    return [_MECHANISM.measure(moments, exact, noise).values.ravel()]


def means_of(plan: MicrodataPlan, sums: Integers | None) -> dict[str, Interval]:
    """Of each column that was added up its mean with a 95 % interval, (1,) each; of dates in days, 1 in year 1."""
    if sums is None:
        return {}
    moments = sums_plan(plan)
    means = by_groups(moments, sums.reshape(len(moments.columns), 1, moments.sums))
    return {
        own.column.attribute.name: _from_year_one(own.column, estimates.mean)
        for own, estimates in zip(moments.columns, means, strict=True)
    }


def _from_year_one(column: MeasuredColumn, mean: Interval) -> Interval:
    days = EPOCH.toordinal() if column.is_date else 0
    return Interval(mean.estimate + days, mean.lower + days, mean.upper + days)
