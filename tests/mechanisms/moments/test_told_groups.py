"""Of the groups that are told, not only of all, 95 % of the intervals hold."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from mechanisms.accounting import Loss
from mechanisms.arrays import Flags, Integers
from mechanisms.domain import Categorical, Domain, Integer
from mechanisms.moments.estimates import Interval, Sums, by_groups
from mechanisms.moments.mechanism import exact_sums
from mechanisms.moments.picked import picked
from mechanisms.moments.plan import MomentsPlan
from mechanisms.moments.reported_groups import have_somebody
from mechanisms.noise import DiscreteGaussian, DiscreteLaplace, Noise, NoiseLaw
from tests.mechanisms.moments.measuring import BERNSTEIN, NOBODY, ONE, RHO, column, powers_of, repeated

GROUPS = 20_000


def held_of_told(interval: Interval, truth: float) -> tuple[float, int]:
    """The share of the intervals that are told, and how many are."""
    told = ~np.isnan(interval.lower)
    hits = (interval.lower <= truth + 1e-9) & (truth - 1e-9 <= interval.upper)
    return float(hits[told].mean()), int(told.sum())


@pytest.mark.parametrize("loss", [ONE, RHO], ids=["pure", "zcdp"])
@pytest.mark.parametrize("degree", [1, 2])
@pytest.mark.parametrize("values", [[0] * 14, [1000] * 16, [0] * 20 + [1000], [400] * 15], ids=str)
def test_of_tiny_groups_that_are_told_most_intervals_hold(values: list[int], degree: int, loss: Loss) -> None:
    """A tiny group's mean is told where noise makes it large: of those 33 of 100 intervals once were wrong.

    A true 95 % falls below the bound with a chance of 2e-4 (normal approximation, 3.5 standard errors).
    """
    plan = BERNSTEIN.plan(NOBODY, [column(0, 1000)], degree, loss, 20)
    told = repeated(plan, powers_of(np.array(values, dtype=np.int64), 1000), GROUPS)
    for interval, truth in ((told.mean, np.mean(values)), (told.deviation, np.std(values))):
        if interval is None:
            continue
        share, number = held_of_told(interval, float(truth))
        assert number > 0
        assert share >= 0.95 - 3.5 * (0.95 * 0.05 / number) ** 0.5


def test_where_all_groups_are_told_nothing_is_wider() -> None:
    plan = BERNSTEIN.plan(NOBODY, [column(0, 1000)], 2, ONE, 5000)
    powers = powers_of(np.arange(5000) % 1001, 1000)
    alone, many = (repeated(plan, powers, groups) for groups in (1, 50))
    widths = many.mean.upper - many.mean.lower
    assert widths == pytest.approx(float((alone.mean.upper - alone.mean.lower)[0]), rel=0.02)


def measured_groups(sizes: list[int], loss: Loss, seed: int) -> tuple[MomentsPlan, Integers]:
    """Of one column of groups of such sizes."""
    groups = Domain((Integer("g", lower=1, upper=len(sizes)),))
    plan = BERNSTEIN.plan(groups, [column(0, 1000)], 2, loss, max(sum(sizes), 1))
    powers = np.array([[[n, 400 * n, 160_000 * n, 0, 0, 0] for n in sizes]], dtype=object)
    noise = Noise(np.random.default_rng(seed).bytes)
    return plan, BERNSTEIN.measure(plan, exact_sums(plan, powers), noise).values


def told_of(sizes: list[int], loss: Loss, seed: int) -> Flags:
    """Which groups of such sizes have a mean."""
    told: Flags = ~np.isnan(by_groups(*measured_groups(sizes, loss, seed))[0].mean.lower)
    return told


@pytest.mark.parametrize("loss", [ONE, RHO], ids=["pure", "zcdp"])
@pytest.mark.parametrize("sizes", [[0] * 300, [0] * 30 + [500] * 3, [0] * 400 + [200] * 100], ids=len)
def test_hardly_any_of_the_groups_that_are_told_has_nobody(sizes: list[int], loss: Loss) -> None:
    """Of a thousand groups of nobody 25 were once told, each with a mean."""
    nobody = np.array(sizes) == 0
    shares = [
        told[nobody].sum() / max(told.sum(), 1) for told in (told_of(sizes, loss, s) for s in range(60))
    ]
    # At most .025 on average; each share is at most 1, and most are 0.
    assert np.mean(shares) <= 0.025 + 3.5 * np.std(shares) / len(shares) ** 0.5 + 0.01


@pytest.mark.parametrize(
    "law", [DiscreteLaplace(Fraction(10)), DiscreteGaussian(Fraction(100))], ids=["pure", "zcdp"]
)
def test_a_group_alone_is_told_as_it_was(law: NoiseLaw) -> None:
    near = have_somebody(np.array([3.1]), 3.0, law), have_somebody(np.array([2.9]), 3.0, law)
    assert near[0].all() and not near[1].any()


@pytest.mark.parametrize("loss", [ONE, RHO], ids=["pure", "zcdp"])
def test_of_one_group_readers_are_told_what_the_table_tells(loss: Loss) -> None:
    """A group of nobody was once “not determined” in the table and had a mean where a reader picked it."""
    sizes = [200] * 20 + [0] * 280
    plan, sums = measured_groups(sizes, loss, 3)
    [table] = by_groups(plan, sums)
    for group in range(len(sizes)):
        [(_number, _total, mean)] = picked(plan, sums, np.array([group]))
        assert np.array_equal(mean.lower, table.mean.lower[[group]], equal_nan=True)


@pytest.mark.parametrize("loss", [ONE, RHO], ids=["pure", "zcdp"])
def test_empty_groups_for_other_values_make_no_interval_wider(loss: Loss) -> None:
    groups = Domain((Categorical("sex", values=("f", "m")), Categorical("level", values=("a", "b", "c"))))
    plan = BERNSTEIN.plan(groups, [column(0, 1000)], 2, loss, 3000)
    declared = np.add.outer([0, 4], [0, 1, 2]).ravel()
    powers = np.zeros((1, groups.size, 6), dtype=object)
    powers[0, declared] = [500, 400 * 500, 160_000 * 500, 0, 0, 0]
    noise = Noise(np.random.default_rng(1).bytes)
    own = Sums.of(plan, plan.columns[0])
    [told] = by_groups(plan, BERNSTEIN.measure(plan, exact_sums(plan, powers), noise).values)
    assert np.flatnonzero(~np.isnan(told.mean.lower)).tolist() == declared.tolist()
    assert own.families(12).widened(~np.isnan(told.mean.lower), own.planned.noise)[declared] == pytest.approx(
        1
    )
