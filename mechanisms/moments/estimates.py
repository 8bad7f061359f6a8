"""What is estimated from measured Bernstein sums: numbers, totals, means, deviations, shares, with intervals."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from mechanisms.arrays import Flags, Floats, Integers
from mechanisms.moments.agreement import PossibleGroup, people
from mechanisms.moments.bound_shares import agreed_shares
from mechanisms.moments.plan import ColumnPlan, MomentsPlan
from mechanisms.moments.public_number import PublicNumber
from mechanisms.moments.reported_groups import HALF_A_PERSON, Families
from mechanisms.noise.sum_quantiles import LEVEL, widening
from mechanisms.noise.weighted_sum import weighted_half_width

# Ratios at which the reach of the noise is worked out; between them it is at most as far as on a straight line.
KNOTS = 51
# An interval that rests on the mean's holds if the mean lies in one of the first level, and the squares, or the values
# at a bound, in one of the second: then both do with at least 95 %.
MEAN_LEVEL, OTHER_LEVEL = 0.9975, 0.9525
# Means and variances, as shares of the range and its square, at which the reach of the noise of squares is worked out.
MEANS, VARIANCES = np.linspace(0, 1, 21), np.linspace(0, 1 / 4, 11)
# Between them it bends by less than this.
BENDS = 1.002
# Means of the interval of a mean that are gone through.
TRIED = 9
# Of an interval's width: so much of it lies on either side of the estimate at least.
EDGE = 0.1
# A share whose interval has both ends so near to 0 and to 1 is not determined.
NOTHING = 0.01


@dataclass(frozen=True)
class Interval:
    """Estimates with the ends of their 95 % intervals, (groups,) each; NaN where a group is too small to tell."""

    estimate: Floats
    lower: Floats
    upper: Floats


@dataclass(frozen=True)
class ColumnEstimates:
    """Of one column, for each group; number and missing in rows, the others in the column's unit, shares of `number`.

    Values are rounded down to whole steps: estimates are of these, and intervals of total, mean and deviation reach as
    far as the values themselves may be from them (`MeasuredColumn.floor_error`). at_lower, at_upper: NaN
    where it may be any share.
    total: None of dates, which have none. deviation: None where only the first moment was measured.
    """

    number: Interval
    total: Interval | None
    mean: Interval
    deviation: Interval | None
    missing: Interval
    at_lower: Interval
    at_upper: Interval


def cut_to(interval: Interval, lower: float, upper: Floats | float) -> Interval:
    """Cut to what is possible; at least half of its width stays, so that noise never looks like certainty."""
    half = (interval.upper - interval.lower) / 2
    low, high = np.minimum(interval.lower, upper - half), np.maximum(interval.upper, lower + half)
    return Interval(*(np.clip(part, lower, upper) for part in (interval.estimate, low, high)))


def with_estimate(
    estimate: Floats, interval: Interval, lower: float = -np.inf, upper: Floats | float = np.inf
) -> Interval:
    """The interval with another estimate, made longer where that lies at or beyond an end; NaN where either is.

    lower, upper: between which everything possible lies. Short of these `EDGE` of the interval lies on either side: an
    end that is the estimate itself would look like certainty in that direction, where only others' noise has moved it.
    """
    unknown = np.isnan(estimate) | np.isnan(interval.lower) | np.isnan(interval.upper)
    room = EDGE * (interval.upper - interval.lower)
    low = np.minimum(interval.lower, np.maximum(estimate - room, lower))
    high = np.maximum(interval.upper, np.minimum(estimate + room, upper))
    return Interval(*(np.where(unknown, np.nan, part) for part in (estimate, low, high)))


class Sums:
    """Sums of one column and the linear functions of them.

    times: of how many groups each sum is. public: the number of rows of all groups, where sums make it (`adding_up`).
    of_groups: the families of the plan's groups; None where all groups that there are make one.
    """

    def __init__(
        self,
        planned: ColumnPlan,
        degree: int,
        times: int = 1,
        public: PublicNumber | None = None,
        of_groups: Families | None = None,
    ) -> None:
        self.planned, self.degree, self.times, self.public = planned, degree, times, public
        self.of_groups = of_groups
        # From the lower bound to the value of W steps.
        self.span = float(planned.column.top - planned.column.lower)
        readings = planned.basis.readings(degree)

        def weights(of_the_basis: Floats) -> Floats:
            padded: Floats = np.append(of_the_basis / planned.unit, (0.0, 0.0))
            return padded

        self.number, self.first = weights(readings.number), weights(readings.first)
        self.second = weights(readings.first if readings.second is None else readings.second)
        self.missing = weights(readings.missing)
        self.at_lower, self.at_upper = np.eye(degree + 4)[degree + 2 :] / planned.at_bound

    @classmethod
    def of(cls, plan: MomentsPlan, planned: ColumnPlan, times: int = 1) -> Sums:
        """Of one column of a plan, as `adding_up` makes its sums."""
        return cls(planned, plan.degree, times, plan.public_number, plan.families)

    def families(self, rows: int) -> Families:
        """Of so many rows of sums: of all groups of the plan, or of others."""
        own = self.of_groups
        return own if own and own.size == rows else Families.alone(rows)

    @property
    def people(self) -> Floats:
        """Of people with a value and without."""
        together: Floats = self.number + self.missing
        return together

    def half_width(self, weights: Floats, level: float = LEVEL) -> float:
        own, others, further = weights, np.zeros(0), 0
        if self.public:
            own, others = self.public.weights(weights, self.people, self.times)
            further = self.public.groups - self.times
        own = own[self.planned.basis.quiet :]
        repeated = (tuple(others.tolist()), further)
        half = weighted_half_width(self.planned.noise, tuple(own.tolist()), self.times, level, repeated)
        # A sum that was rounded down lies less than 1 below the exact one.
        below = self.times * float(np.abs(own).sum()) + further * float(np.abs(others).sum())
        return half if self.planned.rounded_by == 1 else half + below

    def linear(self, sums: Floats, weights: Floats) -> Interval:
        """Σ w_i s_i, with an interval that is exact: it depends on the noise alone."""
        estimate, half = sums @ weights, self.half_width(weights)
        return Interval(estimate, estimate - half, estimate + half)

    def group(self, sums: Floats, number: Floats) -> PossibleGroup:
        """One of so many people that there could be, near what was measured."""
        return PossibleGroup.near(number, sums @ self.number, sums @ self.first, self.planned.column.steps)

    def integer_people(self, sums: Floats) -> tuple[Floats, Floats]:
        """With a value and without, (groups,) each, near what was measured. sums: of all groups, or of all added up."""
        number, missing = sums @ self.number, sums @ self.missing
        if self.public:
            return self.public.shared_out(number, missing)
        most = self.most_people(sums)
        nearest = people(number, most)
        return nearest, most - nearest if self.planned.basis.quiet else people(missing)

    def most_people(self, sums: Floats) -> Floats | float:
        """All rows, with a value or without, where their number is public."""
        if self.public:
            return float(self.public.rows)
        return np.rint(sums @ self.people) if self.planned.basis.quiet else np.inf

    def variance(self, sums: Floats) -> Floats:
        """As measured, in squares of the range; 0 where the number is not above 0."""
        number, first, second = (sums @ weights for weights in (self.number, self.first, self.second))
        safe = np.where(number > 0, number, 1.0)
        return np.where(number > 0, second / safe - (first / safe) ** 2, 0.0)

    def possible_variance(self, sums: Floats, group: PossibleGroup) -> Floats:
        """Near what was measured, one that the mean told allows: of two values it is known."""
        if self.planned.column.is_two_valued:
            return group.place * (1 - group.place)
        return group.variance(self.variance(sums))

    def ratio(
        self, sums: Floats, above: Floats, below: Floats, level: float = LEVEL, widened: float = 1.0
    ) -> Interval:
        """One linear function over another, which lies between 0 and 1. widened: `sum_quantiles.widening`, of intervals
        that hold together.

        The interval holds each p for which above - p·below is no farther from 0 than its noise, whose law is known
        exactly, reaches with 95 %, or another level (Fieller's argument). Where `below` may be 0 every p may be the
        true one, and nothing is told; nor where it is nearer to nobody than to one. Else the reach changes by less than
        `below` between two p, so both ends are single points.
        """
        top, bottom = sums @ above, sums @ below
        families, law, half = self.families(len(sums)), self.planned.noise, self.half_width(below)
        known = (
            bottom > max(widened * half, HALF_A_PERSON)
            if widened > 1
            else families.have_somebody(bottom, np.full(len(sums), half), law)
        )
        knots, times = np.linspace(0, 1, KNOTS), np.maximum(widened, families.widened(known, law))
        reach = np.outer(times, [self.half_width(above - p * below, level) for p in knots])
        safe = np.where(known, bottom, 1.0)
        low, high = (_root(top, safe, knots, side * reach) for side in (-1, 1))
        # Where the noise leads beyond 0 or 1, as far as it reaches there stays, so that it never looks like certainty.
        low, high = np.minimum(low, 1 - reach[:, -1] / safe), np.maximum(high, reach[:, 0] / safe)
        parts = (np.clip(top / safe, 0, 1), np.clip(low, 0, 1), np.clip(high, 0, 1))
        return Interval(*(np.where(known, part, np.nan) for part in parts))


def _root(top: Floats, bottom: Floats, knots: Floats, shift: Floats) -> Floats:
    """The p within the knots where top - p·bottom + shift(p) = 0, falling in p; shift is straight between knots.

    top, bottom: (n,). shift: (knots,) or (n, knots).
    """
    values = top[:, None] - bottom[:, None] * knots + shift
    after = np.clip((values > 0).sum(axis=1), 1, len(knots) - 1)
    rows = np.arange(len(top))
    left, right = values[rows, after - 1], values[rows, after]
    inside: Floats = np.clip(left / np.maximum(left - right, 1e-300), 0, 1)
    root: Floats = knots[after - 1] + inside * (knots[1] - knots[0])
    return root


def adding_up(plan: MomentsPlan, sums: Integers) -> list[Floats]:
    """Each column's sums, (groups, plan.sums), so that they make the number of rows where that is public.

    sums: (columns, groups, plan.sums), measured.
    """
    pairs = [
        (Sums.of(plan, planned), own.astype(np.float64))
        for planned, own in zip(plan.columns, sums, strict=True)
    ]
    return [of.public.added(own, of.people) if of.public else own for of, own in pairs]


def by_groups(plan: MomentsPlan, sums: Integers) -> list[ColumnEstimates]:
    """What is told of each measured column, group by group. sums: (columns, groups, plan.sums), measured."""
    pairs = zip(plan.columns, adding_up(plan, sums), strict=True)
    return [estimates(Sums.of(plan, planned), own) for planned, own in pairs]


def added_up(plan: MomentsPlan, sums: Integers) -> list[ColumnEstimates]:
    """The same of all groups added up; empty where there is one group."""
    if plan.groups.size == 1:
        return []
    pairs = zip(plan.columns, adding_up(plan, sums), strict=True)
    return [
        estimates(Sums.of(plan, planned, plan.groups.size), own.sum(axis=0, keepdims=True))
        for planned, own in pairs
    ]


def estimates(own: Sums, sums: Floats) -> ColumnEstimates:
    """Everything that is told of a column. sums: (groups, degree + 4), of all groups, or of all added up.

    Estimates are those of one group that there could be (`agreement`); intervals are those of the sums, and longer
    where such an estimate lies at or beyond an end.
    """
    integers, without = own.integer_people(sums)
    group = own.group(sums, integers)
    number, total, mean = totals(own, sums, integers)
    surely = own.ratio(sums, own.first, own.number, MEAN_LEVEL)
    missing, most = cut_to(own.linear(sums, own.missing), 0, own.most_people(sums)), own.most_people(sums)
    at_lower, at_upper = (
        own.ratio(sums, bound, own.number, OTHER_LEVEL) for bound in (own.at_lower, own.at_upper)
    )
    variance = own.possible_variance(sums, group) if own.degree == 2 else None
    measured_shares = np.nan_to_num(at_lower.estimate), np.nan_to_num(at_upper.estimate)
    agreed = agreed_shares(measured_shares, own.planned.column.steps, group.place, variance)
    return ColumnEstimates(
        number,
        total,
        mean,
        deviation=None if variance is None else deviation_of_values(own, sums, surely, variance),
        missing=with_estimate(without, missing, 0, most),
        at_lower=_about_share(at_lower, agreed[0], 1 - surely.lower),
        at_upper=_about_share(at_upper, agreed[1], surely.upper),
    )


def _about_share(share: Interval, agreed: Floats, most: Floats) -> Interval:
    """Of values at a bound: NaN where it may be anything. agreed: the estimate that is told, (groups,).

    most: what the mean's interval at `MEAN_LEVEL` allows, (groups,). Values at a bound hold the mean near it, whatever
    the rest is (Markov): as a share of the range it is at least the share at the upper bound, and 1 less it that at the
    lower one.
    """
    upper = np.where(most >= share.lower, np.minimum(share.upper, most), share.upper)
    share = with_estimate(agreed, Interval(share.estimate, share.lower, upper), 0, 1)
    says_nothing = (share.lower < NOTHING) & (share.upper > 1 - NOTHING)
    return Interval(np.where(says_nothing, np.nan, share.estimate), share.lower, share.upper)


def compared_means(plan: MomentsPlan, sums: Integers) -> list[Interval]:
    """Each column's means of groups, with intervals that hold together: all of a column with 95 %.

    sums: (columns, groups, plan.sums), measured. NaN where a group may have nobody, at that level: a group of nobody
    has a mean with a chance of at most 5 % over their number.
    """
    widened = widening(plan.groups.size)
    pairs = zip(plan.columns, adding_up(plan, sums), strict=True)
    return [_measured_mean(Sums.of(plan, planned), own, widened) for planned, own in pairs]


def _measured_mean(own: Sums, sums: Floats, widened: float = 1.0) -> Interval:
    column = own.planned.column
    mean = _scaled(own.ratio(sums, own.first, own.number, widened=widened), float(column.lower), own.span)
    # Values beyond a bound count as the bound, so their mean is none beyond it.
    most = float(column.lower + column.range)
    return Interval(mean.estimate, mean.lower, np.minimum(mean.upper + column.floor_error, most))


def totals(own: Sums, sums: Floats, people: Floats) -> tuple[Interval, Interval | None, Interval]:
    """Number, total and mean alone, which take little work: those of one group that there could be.

    sums: (groups, degree + 4). people: people with a value, (groups,). Where a group may have nobody, its total may be
    0.
    """
    column, group = own.planned.column, own.group(sums, people)
    lower, above = float(column.lower), column.floor_error
    most = own.most_people(sums)
    number = with_estimate(people, cut_to(own.linear(sums, own.number), 0, most), 0, most)
    bounds = lower, float(column.lower + column.range)
    mean = with_estimate(lower + own.span * group.place, _measured_mean(own, sums), *bounds)
    if column.is_date:
        return number, None, mean
    low, high = (own.linear(sums, at * own.number + own.span * own.first) for at in (lower, lower + above))
    reached = cut_to(Interval(low.estimate, low.lower, high.upper), *column.possible_totals)
    total = with_estimate(
        people * (lower + own.span * group.place),
        _with_nothing(reached, number.lower <= 0),
        *column.possible_totals,
    )
    return number, total, mean


def _with_nothing(total: Interval, may_be_empty: Flags) -> Interval:
    """With 0 in the intervals of groups that may have nobody. may_be_empty: (groups,)."""
    low, high = np.minimum(total.lower, 0), np.maximum(total.upper, 0)
    return Interval(
        total.estimate, np.where(may_be_empty, low, total.lower), np.where(may_be_empty, high, total.upper)
    )


def deviation_of_values(own: Sums, sums: Floats, mean: Interval, possible: Floats) -> Interval:
    """The deviation that is told. What is left of a value's step adds to it at most half of `floor_error`.

    mean: as a share of the range, at `MEAN_LEVEL`. possible: the variance that is told, in squares of the range. No
    deviation is more than half of the range.
    """
    of_steps, half = _scaled(_deviation(own, sums, mean), 0.0, own.span), own.planned.column.floor_error / 2
    most = float(own.planned.column.range) / 2
    low, high = np.maximum(of_steps.lower - half, 0), np.minimum(of_steps.upper + half, most)
    return with_estimate(own.span * np.sqrt(possible), Interval(of_steps.estimate, low, high), 0, most)


def _scaled(interval: Interval, origin: float, span: float) -> Interval:
    return Interval(*(origin + span * x for x in (interval.estimate, interval.lower, interval.upper)))


def _deviation(own: Sums, sums: Floats, mean: Interval) -> Interval:
    """The standard deviation as a share of the range. mean: likewise, at `MEAN_LEVEL`.

    For the true mean m, Σ(v-m)² - s² n = 0 for the variance s², and for given m and s² the left side is linear in the
    sums, with noise of a known law. So s² lies among those for which it is no farther from 0 than the noise reaches,
    for some m of the mean's interval (each at its level, so both hold with 95 %). At another m the squares are larger
    by n times the square of the difference, which is next to nothing for a narrow interval: little is lost.
    """
    known = ~np.isnan(mean.lower)
    result = Interval(*(np.full(len(sums), np.nan) for _ in range(3)))
    if known.any():
        number, first, second = (sums[known] @ w for w in (own.number, own.first, own.second))
        tried = np.linspace(mean.lower[known], mean.upper[known], TRIED, axis=1)
        tried = np.concatenate([tried, mean.estimate[known, None]], axis=1)
        squares = second[:, None] - 2 * tried * first[:, None] + tried**2 * number[:, None]
        bottom = np.broadcast_to(number[:, None], tried.shape).ravel()
        widened = own.families(len(sums)).widened(known, own.planned.noise)[known]
        reach = np.repeat(widened, tried.shape[1])[:, None] * _reach_at(_reach_of_squares(own), tried.ravel())
        low, high = (
            _root(squares.ravel(), bottom, VARIANCES, side * reach).reshape(tried.shape) for side in (-1, 1)
        )
        # As in `Sums.ratio`: where the noise leads beyond an end, as far as it reaches there stays.
        beyond = (reach[:, [-1, 0]] / bottom[:, None]).reshape(*tried.shape, 2)
        low, high = np.minimum(low, VARIANCES[-1] - beyond[..., 0]), np.maximum(high, beyond[..., 1])
        low, high = np.maximum(low, 0), np.minimum(high, VARIANCES[-1])
        result.lower[known] = np.sqrt(low.min(axis=1))
        result.upper[known] = np.sqrt(high.max(axis=1))
    return result


def _reach_of_squares(own: Sums) -> Floats:
    """(means, variances) how far the noise of Σ(v-m)² - s² n reaches."""
    spread = [[own.second - 2 * m * own.first + (m * m - s) * own.number for s in VARIANCES] for m in MEANS]
    return BENDS * np.array([[own.half_width(weights, OTHER_LEVEL) for weights in row] for row in spread])


def _reach_at(table: Floats, means: Floats) -> Floats:
    """(n, variances) the table at means between its own."""
    places = np.clip(np.searchsorted(MEANS, means) - 1, 0, len(MEANS) - 2)
    part = ((means - MEANS[places]) / (MEANS[1] - MEANS[0]))[:, None]
    between: Floats = (1 - part) * table[places] + part * table[places + 1]
    return between
